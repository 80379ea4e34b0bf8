// Pad: a border of a constant, or made of the tensor itself; negative pads cut off.
#include "reference/tensors/pad.h"

#include <algorithm>
#include <cstring>

#include "base/size.h"
#include "reference/elements/typed.h"
#include "reference/op.h"
#include "reference/slicing.h"
#include "reference/tensors/axes.h"
#include "reference/tensors/strided.h"

namespace aoe::reference {
namespace {

std::vector<std::size_t> padded_axes(int version, std::span<const Tensor> inputs,
                                     std::size_t rank) {
  std::vector<std::size_t> axes;
  if (version >= 11 && inputs.size() > 3 && inputs[3].is_present()) {
    for (const std::int64_t axis : read_ints(inputs[3])) axes.push_back(normalize_axis(axis, rank));
  } else {
    for (std::size_t d = 0; d < rank; ++d) axes.push_back(d);
  }
  return axes;
}

}  // namespace

std::optional<std::vector<PadBorder>> pad_borders(const Attrs& attrs, int version,
                                                  std::span<const Tensor> inputs) {
  const std::size_t rank = inputs[0].desc.shape.size();
  std::vector<std::int64_t> pads = attrs.get_ints("pads");
  if (version >= 11) {
    if (inputs.size() < 2 || !inputs[1].is_present()) fail_model("input 'pads' is missing");
    if (inputs[1].data == nullptr) return std::nullopt;
    if (inputs.size() > 3 && inputs[3].is_present() && inputs[3].data == nullptr)
      return std::nullopt;
    pads = read_ints(inputs[1]);
  }
  const std::vector<std::size_t> axes = padded_axes(version, inputs, rank);
  if (pads.size() != 2 * axes.size())
    fail_model(std::to_string(pads.size()) + " pads for " + std::to_string(axes.size()) +
               " dimensions");
  std::vector<PadBorder> borders(rank);
  for (std::size_t i = 0; i < axes.size(); ++i) borders[axes[i]] = {pads[i], pads[axes.size() + i]};
  return borders;
}

namespace {

std::vector<TensorDesc> infer_pad(const InferContext& ctx) {
  if (ctx.version >= 11 && ctx.has_input(2) && is_static(ctx.shape(2)) &&
      element_count(ctx.shape(2)) != 1)
    fail_model("the constant is " + to_string(ctx.inputs[2].desc) + ", needs one element");
  Shape out = ctx.shape(0);
  const std::string mode = ctx.attrs.get_string("mode", "constant");
  const auto borders = pad_borders(ctx.attrs, ctx.version, ctx.inputs);
  for (std::size_t d = 0; d < out.size(); ++d) {
    if (!borders) {
      out[d] = kUnknownDim;
    } else if (out[d] != kUnknownDim) {
      out[d] = checked_sum(out[d], checked_sum((*borders)[d].before, (*borders)[d].after));
      if (out[d] < 0)
        fail_model("pads cut more off dimension " + std::to_string(d) + " than it has");
      if (ctx.shape(0)[d] == 0 && out[d] > 0 && mode != "constant")
        fail_model("mode '" + mode + "' has nothing to fill an empty dimension with");
    }
  }
  return {{.dtype = ctx.dtype(0), .shape = std::move(out)}};
}

std::int64_t modulo(std::int64_t a, std::int64_t b) {
  return (a % b + b) % b;
}

/// The index in a dimension of `dim` elements that stands at `position`, which may lie outside of it.
std::int64_t source_index(const std::string& mode, std::int64_t position, std::int64_t dim) {
  if (position >= 0 && position < dim) return position;
  if (mode == "constant") return kOutside;
  if (mode == "edge") return std::clamp<std::int64_t>(position, 0, dim - 1);
  if (mode == "wrap") return modulo(position, dim);
  if (mode != "reflect") fail_model("mode '" + mode + "' is unknown");
  if (dim == 1) return 0;
  const std::int64_t there_and_back = modulo(position, 2 * (dim - 1));
  return std::min(there_and_back, 2 * (dim - 1) - there_and_back);
}

/// The bytes of the element that pads.
std::uint64_t padding_word(const OpContext& ctx) {
  std::uint64_t bytes = 0;
  if (ctx.version >= 11) {
    if (!ctx.has_input(2)) return 0;
    if (ctx.inputs[2].desc.dtype != ctx.inputs[0].desc.dtype || ctx.inputs[2].elements() != 1)
      fail_model("the constant is " + to_string(ctx.inputs[2].desc));
    std::memcpy(&bytes, ctx.inputs[2].data, size_bytes(ctx.inputs[2].desc.dtype));
  } else {
    visit_type<AllTypes>(ctx.inputs[0].desc.dtype, [&]<typename T>() {
      const T value = convert<T>(ctx.attrs.get_float("value", 0));
      std::memcpy(&bytes, &value, sizeof value);
    });
  }
  return bytes;
}

void compute_pad(const OpContext& ctx) {
  const Shape& out = ctx.outputs[0].desc.shape;
  if (out.empty()) return copy_dense(ctx.inputs[0], ctx.outputs[0]);
  const PadSource source = pad_source(ctx);
  const Strides strides = dense_strides(ctx.inputs[0].desc.shape);
  const std::size_t last = out.size() - 1;
  const std::int64_t rows = dim_product(out, 0, last);
  visit_word(ctx.inputs[0].desc.dtype, [&]<typename Word>() {
    const auto padding = static_cast<Word>(source.padding);
    const Word* x = ctx.inputs[0].as<Word>();
    Word* y = ctx.outputs[0].as<Word>();
    for (std::int64_t row = 0; row < rows; ++row, y += out[last]) {
      std::int64_t start = 0;
      bool is_outside = false;
      std::int64_t rest = row;
      for (std::size_t d = last; d-- > 0; rest /= out[d]) {
        const std::int64_t place = source.places[d][static_cast<std::size_t>(rest % out[d])];
        is_outside |= place == kOutside;
        start += place * strides[d];
      }
      const std::vector<std::int64_t>& places = source.places[last];
      for (std::size_t i = 0; i < places.size(); ++i)
        y[i] = is_outside || places[i] == kOutside ? padding : x[start + places[i]];
    }
  });
}

std::vector<bool> padded_sides(const Slicing& slicing) {
  const auto borders = pad_borders(slicing.attrs, slicing.version, slicing.inputs);
  std::vector<bool> flags;
  if (borders)
    for (const PadBorder& border : *borders)
      flags.push_back(border.before != 0 || border.after != 0);
  return flags;
}

}  // namespace

PadSource pad_source(const OpContext& ctx) {
  const Shape &in = ctx.inputs[0].desc.shape, &out = ctx.outputs[0].desc.shape;
  const auto borders = *pad_borders(ctx.attrs, ctx.version, ctx.inputs);
  const std::string mode = ctx.attrs.get_string("mode", "constant");
  PadSource source{.places = PlaceTables(in.size()), .padding = padding_word(ctx)};
  for (std::size_t d = 0; d < in.size(); ++d)
    for (std::int64_t i = 0; i < out[d]; ++i)
      source.places[d].push_back(source_index(mode, i - borders[d].before, in[d]));
  return source;
}

/// Where each element comes from is looked up first.
double lookup_steps(const CostContext& cost) {
  constexpr double kOfElement = 8;
  return kOfElement * cost.output_elements();
}

void register_pad(OpRegistry& registry) {
  registry.add({.type = "PadV3",
                .onnx_type = "Pad",
                .versions = {1, 11},
                .signature = {"a1 l?@11:1 a1?@11:0-1 x?@11:1",
                              "mode=constant|reflect|edge|wrap pads=ints value=float"},
                .kind = OpKind::kMove,
                .infer = infer_pad,
                .compute = compute_pad,
                .work = lookup_steps,
                .slices = apart_but_for(padded_sides)});
}

}  // namespace aoe::reference
