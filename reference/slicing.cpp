// What follows from kinds of operators, and what several of them answer. Tested by tests/compiler/slicing_test.cpp.
#include "reference/slicing.h"

#include <algorithm>

#include "reference/tensors/axes.h"

namespace aoe::reference {
namespace {

std::size_t from_last(const Shape& shape, int axis) {
  return shape.size() - static_cast<std::size_t>(axis);
}

std::vector<bool> only(std::size_t axis, std::size_t rank) {
  std::vector<bool> flags(rank, false);
  flags[axis] = true;
  return flags;
}

}  // namespace

bool Slicing::are_whole(std::size_t first) const {
  for (std::size_t i = first; i < inputs.size(); ++i)
    if (!is_whole(i)) return false;
  return true;
}

bool Slicing::stretches(std::size_t i, std::size_t from_last) const {
  const Shape& dims = shape(i);
  return dims.size() < from_last || dims[dims.size() - from_last] == 1;
}

bool can_be_sliced(const OpCall& call, const Slicing& slicing) {
  const OpDef* def = call.body ? nullptr : ops().find(call.type);
  if (def == nullptr || !def->is_deterministic || def->kind == OpKind::kControl) return false;
  if (def->slices) return def->slices(slicing);
  if (def->kind == OpKind::kElementwise) return elements_apart(slicing);
  // Places of maxima count from the first image.
  return def->is_per_image && slicing.outputs.size() == 1 && images_apart(slicing);
}

bool images_apart(const Slicing& slicing) {
  return slicing.axes[0] == 0 && slicing.are_whole(1) &&
         std::ranges::all_of(slicing.output_axes,
                             [](int axis) { return axis == 0 || axis == kWhole; });
}

bool all_apart(const Slicing& slicing) {
  return slicing.axes[0] != kWhole && slicing.are_whole(1);
}

SlicesFn apart_but_for(std::function<std::vector<bool>(const Slicing&)> mixed) {
  return [mixed = std::move(mixed)](const Slicing& slicing) {
    if (!all_apart(slicing)) return false;
    const std::vector<bool> flags = mixed(slicing);
    return !flags.empty() && !flags[static_cast<std::size_t>(slicing.axes[0])];
  };
}

SlicesFn apart_but_for_axis(std::int64_t axis_by_default) {
  return apart_but_for([axis_by_default](const Slicing& slicing) {
    const std::size_t rank = slicing.shape(0).size();
    return only(normalize_axis(slicing.attrs.get_int("axis", axis_by_default), rank), rank);
  });
}

bool same_elements(const Slicing& slicing) {
  if (!all_apart(slicing)) return false;
  const Shape &in = slicing.shape(0), &out = slicing.outputs[0].shape;
  const auto from = static_cast<std::size_t>(slicing.axes[0]),
             to = static_cast<std::size_t>(slicing.output_axes[0]);
  return dim_product(in, 0, from) == dim_product(out, 0, to) &&
         dim_product(in, from + 1, in.size()) == dim_product(out, to + 1, out.size());
}

bool elements_apart(const Slicing& slicing) {
  const std::size_t place = from_last(slicing.outputs[0].shape, slicing.output_axes[0]);
  for (std::size_t i = 0; i < slicing.inputs.size(); ++i) {
    if (!slicing.has_input(i)) continue;
    if (slicing.axes[i] == kWhole ? !slicing.stretches(i, place)
                                  : from_last(slicing.shape(i), slicing.axes[i]) != place)
      return false;
  }
  return true;
}

}  // namespace aoe::reference
