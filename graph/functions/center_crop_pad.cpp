// CenterCropPad: the middle of what is larger, zeros around what is smaller.
#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "graph/function_call.h"

namespace aoe::graph {
namespace {

void expand(FunctionCall& call) {
  Term x = call.input(0);
  const std::int64_t rank = call.rank(x);
  std::vector<std::int64_t> axes(static_cast<std::size_t>(rank));
  std::iota(axes.begin(), axes.end(), std::int64_t{0});
  axes = call.attrs().get_ints("axes", axes);
  const std::vector<std::int64_t> sizes = call.known_ints(call.input(1));
  if (sizes.size() != axes.size())
    throw Error(ExitCode::kModel, "has " + std::to_string(sizes.size()) + " sizes for " +
                                      std::to_string(axes.size()) + " axes");
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
  registry.add({"", "CenterCropPad", expand});
}

}  // namespace aoe::graph
