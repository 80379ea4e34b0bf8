// See block_moves.h: dense, and for images whose channels are neighbours.
#include "compiler/copy/block_moves.h"

#include <algorithm>
#include <string>

#include "compiler/emit/integer_math.h"
#include "reference/tensors/strided.h"

namespace aoe::compiler {
namespace {

using BlockMoves = Result<std::vector<CopyRegion>>;

/// Both as a copy over (n, c, h, block row, w, block column).
BlockMoves block_regions(const Task& task) {
  const bool to_space = task.op.type == "DepthToSpace";
  const std::int64_t b = task.op.attrs.get_int("blocksize", 0);
  const bool is_crd = to_space && task.op.attrs.get_string("mode", "DCR") == "CRD";
  const Shape& deep = to_space ? task.in(0).shape : task.out().shape;
  const Shape& spread = to_space ? task.out().shape : task.in(0).shape;
  const Shape s = reference::dense_strides(spread), d = reference::dense_strides(deep);
  const std::int64_t channels = deep[1] / (b * b);
  const std::int64_t column = (is_crd ? 1 : channels) * d[1];
  const Shape space = {s[0], s[1], b * s[2], s[2], b * s[3], s[3]};
  const Shape depth = {d[0], (is_crd ? b * b : 1) * d[1], d[2], b * column, d[3], column};
  const Shape extents = {deep[0], channels, deep[2], b, deep[3], b};
  CopyRegion region{.extents = extents, .from = depth, .to = space};
  if (!to_space) {  // the target's order: blocks before pixels
    const auto reorder = [](const Shape& x) { return Shape{x[0], x[3], x[5], x[1], x[2], x[4]}; };
    region = {.extents = reorder(extents), .from = reorder(space), .to = reorder(depth)};
  }
  return std::vector{region};
}

/// DepthToSpace of images whose channels are neighbours, in whole blocks of lanes where there are such.
BlockMoves spread_image_regions(const Task& task, Format format, int c0) {
  if (task.op.attrs.get_string("mode", "DCR") == "CRD")
    return Unexpected("the channels of a pixel are no neighbours");
  const std::int64_t b = task.op.attrs.get_int("blocksize", 0);
  const Shape& in = task.in(0).shape;
  const std::int64_t channels = task.out().shape[1], h = in[2], w = in[3];
  const bool is_blocked = format == Format::kNC1HWC0;
  if (is_blocked && channels % c0 != 0)
    return Unexpected(std::to_string(channels) + " channels end within a block");
  const std::int64_t lanes = is_blocked ? c0 : channels, groups = channels / lanes;
  const std::int64_t pixel =
      is_blocked ? lanes : b * b * channels;  // from one to the next in the input
  const std::int64_t group = is_blocked ? h * w * lanes : lanes;
  CopyRegion region{.extents = {in[0], groups, h, b, w, b, lanes}};
  region.from = {b * b * channels * h * w, group, w * pixel, b * groups * group, pixel,
                 groups * group,           1};
  region.to = {b * b * channels * h * w,
               b * b * group,
               b * b * w * lanes,
               b * w * lanes,
               b * lanes,
               lanes,
               1};
  return std::vector{region};
}

/// SpaceToDepth into images whose channels are neighbours: one region for each block of lanes.
BlockMoves deep_image_regions(const Task& task, Format to, int c0) {
  const std::int64_t b = task.op.attrs.get_int("blocksize", 0);
  const Shape& in = task.in(0).shape;
  const Shape& out = task.out().shape;
  const Shape from = reference::dense_strides(in);
  const std::int64_t channels = out[1], pixels = out[2] * out[3];
  const bool is_blocked = to == Format::kNC1HWC0;
  const std::int64_t pixel = is_blocked ? c0 : channels;
  std::vector<CopyRegion> regions;
  for (std::int64_t first = 0; first < channels; first += c0) {
    CopyRegion region{
        .extents = {out[0], out[2], out[3], std::min<std::int64_t>(c0, channels - first)},
        .from = {from[0], b * from[2], b * from[3], 0},
        .to = {(is_blocked ? round_up(channels, c0) : channels) * pixels, out[3] * pixel, pixel, 1},
        .to_offset = is_blocked ? first * pixels : first};
    for (std::int64_t c = first; c < first + region.extents.back(); ++c) {
      const std::int64_t row = c / in[1] / b, column = c / in[1] % b;
      region.last_from.push_back(c % in[1] * from[1] + row * from[2] + column * from[3]);
    }
    if (is_blocked) region.padded_last = c0;
    regions.push_back(std::move(region));
  }
  return regions;
}

}  // namespace

Result<std::vector<CopyRegion>> block_move_regions(const Task& task, const FormatChoice& format,
                                                   int c0) {
  const Format main = format.outputs[0];
  if (main == Format::kND) return block_regions(task);
  if (task.op.type == "SpaceToDepth" && format.inputs[0] == Format::kND)
    return deep_image_regions(task, main, c0);
  if (task.op.type == "DepthToSpace" && format.inputs[0] == main)
    return spread_image_regions(task, main, c0);
  return Unexpected(task.op.type + " moves in dense layout only");
}

}  // namespace aoe::compiler
