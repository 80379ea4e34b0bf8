// CenterCropPad: the middle of what is larger, zeros around what is smaller.
#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "graph/import/function_call.h"

namespace aoe::graph {
namespace {

/// Sizes that only a run can tell.
void center_crop_pad_to_computed_sizes(FunctionCall& call, Term x,
                                       const std::vector<std::int64_t>& axes) {
  const auto rank = static_cast<std::size_t>(call.rank(x));
  std::vector<std::int64_t> places(rank, 0);  // of each axis: in the sizes, which its own follow
  for (std::size_t axis = 0; axis < rank; ++axis)
    places[axis] = static_cast<std::int64_t>(axes.size() + axis);
  for (std::size_t i = 0; i < axes.size(); ++i)
    places[static_cast<std::size_t>(axes[i] < 0 ? axes[i] + std::ssize(places) : axes[i])] =
        static_cast<std::int64_t>(i);
  const Term own = call.op("Shape", {x}), zero = call.ints({0}), two = call.ints({2});
  const Term all = call.concat({call.cast(call.input(1), DataType::kInt64), own}, 0);
  const Term wanted = call.op("Gather", {all, call.ints(places)});
  const auto positive = [&](Term a) { return call.op("Max", {a, zero}); };
  const Term less = positive(own - wanted), more = positive(wanted - own);
  const Term begin = less / two, before = more / two;
  const Term cut = call.op("Slice", {x, begin, begin + call.op("Min", {own, wanted})});
  call.give(0, call.op("Pad", {cut, call.concat({before, more - before}, 0)}));
}

void expand_center_crop_pad(FunctionCall& call) {
  Term x = call.input(0);
  const std::int64_t rank = call.rank(x);
  std::vector<std::int64_t> axes(static_cast<std::size_t>(rank));
  std::iota(axes.begin(), axes.end(), std::int64_t{0});
  axes = call.attrs().get_ints("axes", axes);
  for (const std::int64_t axis : axes)
    if (axis < -rank || axis >= rank)
      throw Error(ExitCode::kModel,
                  "has axis " + std::to_string(axis) + " of " + std::to_string(rank));
  const bool is_known = call.known(call.input(1)) != nullptr &&
                        std::ranges::find(call.shape(x), kUnknownDim) == call.shape(x).end();
  if (!is_known) return center_crop_pad_to_computed_sizes(call, x, axes);
  const std::vector<std::int64_t> sizes = call.known_ints(call.input(1));
  if (sizes.size() != axes.size())
    throw Error(ExitCode::kModel, "has " + std::to_string(sizes.size()) + " sizes for " +
                                      std::to_string(axes.size()) + " axes");
  for (const std::int64_t size : sizes)
    if (size < 0) throw Error(ExitCode::kModel, "has the size " + std::to_string(size));
  std::vector<std::int64_t> pads(static_cast<std::size_t>(2 * rank), 0);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::int64_t axis = axes[i] < 0 ? axes[i] + rank : axes[i];
    const std::int64_t size = call.dim(x, axis), more = sizes[i] - size;
    if (more < 0) x = call.slice(x, axis, -more / 2, -more / 2 + sizes[i]);
    if (more > 0) {
      pads[static_cast<std::size_t>(axis)] = more / 2;
      pads[static_cast<std::size_t>(axis + rank)] = more - more / 2;
    }
  }
  const bool is_padded = std::ranges::any_of(pads, [](std::int64_t pad) { return pad != 0; });
  call.give(0, is_padded ? call.op("Pad", {x, call.ints(pads)}) : call.op("Identity", {x}));
}

}  // namespace

void register_center_crop_pad(FunctionRegistry& registry) {
  registry.add({"", "CenterCropPad", expand_center_crop_pad});
}

}  // namespace aoe::graph
