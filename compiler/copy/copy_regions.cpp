// See copy_regions.h: one function per operator.
#include "compiler/copy/copy_regions.h"

#include <algorithm>
#include <numeric>

#include "compiler/copy/block_moves.h"
#include "compiler/emit/broadcast_layout.h"
#include "compiler/emit/integer_math.h"
#include "reference/elements/typed.h"
#include "reference/tensors/axes.h"
#include "reference/tensors/pad.h"
#include "reference/tensors/slice_ranges.h"
#include "reference/tensors/strided.h"

namespace aoe::compiler {
namespace {

using Regions = Result<std::vector<CopyRegion>>;

/// Where logical dimension `d` of an image stands among those of iteration_extents().
std::size_t stored_dimension(std::size_t d, Format format) {
  constexpr std::size_t kNhwc[] = {0, 3, 1, 2};
  constexpr std::size_t kBlocked[] = {0, 1, 2, 3};
  if (format == Format::kNHWC) return kNhwc[d];
  return format == Format::kNC1HWC0 ? kBlocked[d] : d;
}

/// Cuts of the channel dimension that fall between blocks.
bool is_block_cut(std::int64_t channel, std::int64_t channels, int c0) {
  return channel % c0 == 0 || channel == channels;
}

// ---- Transpose, Expand, Tile: one region each ----

Regions transpose_regions(const Task& task) {
  const Shape& in = task.in(0).shape;
  Shape reversed(in.size());
  std::iota(reversed.rbegin(), reversed.rend(), 0);
  const Shape perm = task.op.attrs.get_ints("perm", reversed);
  const Shape strides = reference::dense_strides(in);
  CopyRegion region{
      .extents = task.out().shape, .from = {}, .to = reference::dense_strides(task.out().shape)};
  for (const std::int64_t d : perm) region.from.push_back(strides[static_cast<std::size_t>(d)]);
  return std::vector{region};
}

Regions expand_regions(const Task& task) {
  const Shape& out = task.out().shape;
  return std::vector<CopyRegion>{
      {.extents = out,
       .from = operand_strides(task.in(0).shape, Format::kND, out, Format::kND, 0),
       .to = reference::dense_strides(out)}};
}

/// Each dimension d as the pair (repeats, d): reading does not move along the first of them.
Regions tile_regions(const Task& task) {
  const Shape& in = task.in(0).shape;
  if (!task.inputs[1].constant) return Unexpected("repeats are not constant");
  const auto repeats = reference::read_ints(task.inputs[1].tensor());
  const Shape from = reference::dense_strides(in), to = reference::dense_strides(task.out().shape);
  CopyRegion region;
  for (std::size_t d = 0; d < in.size(); ++d) {
    region.extents.insert(region.extents.end(), {repeats[d], in[d]});
    region.from.insert(region.from.end(), {0, from[d]});
    region.to.insert(region.to.end(), {in[d] * to[d], to[d]});
  }
  if (in.empty()) region = {.extents = {1}, .from = {1}, .to = {1}};
  return std::vector{region};
}

// ---- TransData ----

/// Strides of (n, block of channels, channel in the block, pixel).
struct BlockStrides {
  std::int64_t n, block, channel, pixel;
};

BlockStrides block_strides(Format format, std::int64_t channels, std::int64_t pixels, int c0) {
  switch (format) {
    case Format::kNHWC:
      return {channels * pixels, c0, 1, channels};
    case Format::kNC1HWC0:
      return {round_up(channels, c0) * pixels, c0 * pixels, 1, c0};
    default:
      return {channels * pixels, c0 * pixels, pixels, 1};
  }
}

Regions trans_data_regions(const Task& task, const FormatChoice& format, int c0) {
  const Shape& shape = task.in(0).shape;
  const std::int64_t n = shape[0], channels = shape[1];
  const std::int64_t pixels = reference::dim_product(shape, 2, shape.size());
  const BlockStrides in = block_strides(format.inputs[0], channels, pixels, c0);
  const BlockStrides out = block_strides(format.outputs[0], channels, pixels, c0);
  const bool is_target_dense =
      format.outputs[0] == Format::kND || format.outputs[0] == Format::kNCHW;
  const std::int64_t blocks = channels / c0, rest = channels % c0;
  std::vector<CopyRegion> regions;
  const auto add = [&](std::int64_t first_block, std::int64_t block_count, std::int64_t count) {
    CopyRegion region;
    region.from_offset = first_block * in.block;
    region.to_offset = first_block * out.block;
    if (is_target_dense) {
      region.extents = {n, block_count, count, pixels};
      region.from = {in.n, in.block, in.channel, in.pixel};
      region.to = {out.n, out.block, out.channel, out.pixel};
    } else if (format.outputs[0] == Format::kNHWC) {
      region.extents = {n, pixels, block_count, count};
      region.from = {in.n, in.pixel, in.block, in.channel};
      region.to = {out.n, out.pixel, out.block, out.channel};
    } else {
      region.extents = {n, block_count, pixels, count};
      region.from = {in.n, in.block, in.pixel, in.channel};
      region.to = {out.n, out.block, out.pixel, out.channel};
      if (count < c0) region.padded_last = c0;
    }
    regions.push_back(region);
  };
  if (blocks > 0) add(0, blocks, c0);
  if (rest > 0) add(blocks, 1, rest);
  return regions;
}

// ---- ConcatV2 and SplitV ----

/// The parts stand one behind the other along `axis` of the whole.
Regions part_regions(const Task& task, Format main, int c0, bool is_concat) {
  const Shape& whole_shape = is_concat ? task.out().shape : task.in(0).shape;
  const std::size_t axis =
      reference::normalize_axis(task.op.attrs.get_int("axis", 0), whole_shape.size());
  const Shape whole = reference::dense_strides(iteration_extents(whole_shape, main, c0));
  const std::size_t stored_axis = stored_dimension(axis, main);
  const bool cuts_blocks = main == Format::kNC1HWC0 && axis == 1;
  const std::size_t parts = is_concat ? task.inputs.size() : task.outputs.size();
  std::vector<CopyRegion> regions;
  std::int64_t start = 0;
  for (std::size_t i = 0; i < parts; ++i) {
    const Shape& shape = is_concat ? task.in(i).shape : task.outputs[i].shape;
    if (cuts_blocks && !is_block_cut(start, whole_shape[1], c0)) {
      return Unexpected("part " + std::to_string(i) + " begins at channel " +
                        std::to_string(start) + ", inside a block of " + std::to_string(c0));
    }
    const Shape extents = iteration_extents(shape, main, c0);
    const Shape part = reference::dense_strides(extents);
    const std::int64_t offset = (cuts_blocks ? start / c0 : start) * whole[stored_axis];
    CopyRegion region{
        .extents = extents, .from = part, .to = whole, .to_offset = offset, .input = i};
    if (!is_concat) {
      region = {.extents = extents, .from = whole, .to = part, .from_offset = offset, .output = i};
    }
    if (element_count(extents) > 0) regions.push_back(region);
    start += shape[axis];
  }
  return regions;
}

// ---- Slice ----

Regions slice_regions(const Task& task, Format main, int c0) {
  const auto ranges = reference::slice_ranges(task.op.attrs, task.op.version, task.tensors());
  if (!ranges) return Unexpected("bounds are not constant");
  const Shape in_shape = iteration_extents(task.in(0).shape, main, c0);
  const Shape extents = iteration_extents(task.out().shape, main, c0);
  CopyRegion region{.extents = extents,
                    .from = reference::dense_strides(in_shape),
                    .to = reference::dense_strides(extents)};
  for (std::size_t d = 0; d < ranges->size(); ++d) {
    reference::SliceRange range = (*ranges)[d];
    if (main == Format::kNC1HWC0 && d == 1) {
      const bool is_aligned = range.step == 1 && range.start % c0 == 0 &&
                              is_block_cut(range.start + range.count, task.in(0).shape[1], c0);
      if (!is_aligned) return Unexpected("the slice cuts blocks of channels");
      range.start /= c0;
    }
    const std::size_t stored = stored_dimension(d, main);
    region.from_offset += range.start * region.from[stored];
    // A step may be anything where there is nothing to step to.
    if (extents[stored] > 1) region.from[stored] *= range.step;
  }
  return std::vector{region};
}

// ---- PadV3 ----

Result<float> pad_value(const Task& task) {
  if (task.op.version < 11) return task.op.attrs.get_float("value", 0);
  if (!task.has_input(2)) return 0.0f;
  if (!task.inputs[2].constant) return Unexpected("the padding value is not constant");
  return task.inputs[2].constant->view().as<float>()[0];
}

/// What lies inside along each dimension, and around it one slab before and one behind per
/// dimension: disjoint, since the slabs of dimension d keep to the inside of all dimensions before
/// d.
Regions pad_regions(const Task& task, Format main, int c0) {
  if (task.op.attrs.get_string("mode", "constant") != "constant")
    return Unexpected("pads with elements of the tensor");
  const auto borders = reference::pad_borders(task.op.attrs, task.op.version, task.tensors());
  if (!borders) return Unexpected("pads are not constant");
  const Result<float> value = pad_value(task);
  if (!value) return Unexpected(value.error());
  const Shape& logical = task.out().shape;
  if (main == Format::kNC1HWC0) {
    const reference::PadBorder channel = (*borders)[1];
    if (channel.before != 0 || channel.after != 0) return Unexpected("pads channels");
    if (*value != 0 && logical[1] % c0 != 0) return Unexpected("would fill padding lanes");
  }
  const Shape in = iteration_extents(task.in(0).shape, main, c0);
  const Shape out = iteration_extents(logical, main, c0);
  const Shape to = reference::dense_strides(out), from = reference::dense_strides(in);
  std::vector<reference::PadBorder> stored(out.size());
  for (std::size_t d = 0; d < borders->size(); ++d)
    stored[stored_dimension(d, main)] = (*borders)[d];

  CopyRegion inside{.extents = out, .from = from, .to = to};
  std::vector<CopyRegion> regions;
  const auto add = [&](CopyRegion region) {
    if (element_count(region.extents) > 0) regions.push_back(std::move(region));
  };
  for (std::size_t d = 0; d < out.size(); ++d) {
    // Negative borders cut off: then the inside begins inside of the input.
    const std::int64_t begin = std::max<std::int64_t>(stored[d].before, 0);
    const std::int64_t end = std::max(begin, out[d] - std::max<std::int64_t>(stored[d].after, 0));
    for (const auto& [first, last] :
         {std::pair{std::int64_t{0}, std::min(begin, out[d])}, {end, out[d]}}) {
      CopyRegion slab = inside;
      slab.fill = *value;
      slab.extents[d] = last - first;
      slab.to_offset = inside.to_offset + first * to[d];
      add(slab);
    }
    inside.extents[d] = std::max<std::int64_t>(0, end - begin);
    inside.to_offset += begin * to[d];
    inside.from_offset += std::max<std::int64_t>(-stored[d].before, 0) * from[d];
  }
  add(inside);
  return regions;
}

}  // namespace

Regions copy_regions(const Task& task, const FormatChoice& format, int c0) {
  const std::string& type = task.op.type;
  const Format main = format.outputs[0];
  if (type == "TransData") return trans_data_regions(task, format, c0);
  if (type == "ConcatV2") return part_regions(task, main, c0, true);
  if (type == "SplitV") return part_regions(task, main, c0, false);
  if (type == "Slice") return slice_regions(task, main, c0);
  if (type == "PadV3") return pad_regions(task, main, c0);
  if (type == "DepthToSpace" || type == "SpaceToDepth") return block_move_regions(task, format, c0);
  if (main != Format::kND) return Unexpected(type + " moves in dense layout only");
  if (type == "Transpose") return transpose_regions(task);
  if (type == "Expand") return expand_regions(task);
  if (type == "Tile") return tile_regions(task);
  return Unexpected(type + " does not only move elements");
}

}  // namespace aoe::compiler
