// Scatter, ScatterElements, ScatterND of all element types. Each thread writes places of its own, in the order of the updates:
// of several for one element the last one stays, and sums are those of the reference.
#include "reference/tensors/scatter.h"

#include <algorithm>
#include <cstring>

#include "native/kernel.h"
#include "native/sampling/indices.h"
#include "native/scratch.h"
#include "reference/elements/typed.h"
#include "reference/tensors/axes.h"
#include "reference/tensors/indices.h"

namespace aoe::native {
namespace {

void copy_part(const Tensor& from, const Tensor& to, std::int64_t begin, std::int64_t end) {
  const std::size_t bytes = reference::element_bytes(from.desc.dtype);
  std::memcpy(to.as<char>() + static_cast<std::size_t>(begin) * bytes,
              from.as<char>() + static_cast<std::size_t>(begin) * bytes,
              static_cast<std::size_t>(end - begin) * bytes);
}

void copy_all(const Tensor& from, const Tensor& to, Threads& threads) {
  const double cost = static_cast<double>(reference::element_bytes(from.desc.dtype)) / 8;
  threads.share(from.elements(), cost,
                [&](std::int64_t begin, std::int64_t end) { copy_part(from, to, begin, end); });
}

/// The longest dimension of the indices but the axis: what differs there is written to different places. The axis when all
/// others are of one element.
std::size_t shared_dimension(const Shape& indices, std::size_t axis) {
  std::size_t longest = axis;
  for (std::size_t d = 0; d < indices.size(); ++d)
    if (d != axis && indices[d] > (longest == axis ? 1 : indices[longest])) longest = d;
  return longest;
}

/// A part of the indices along one dimension.
struct Slab {
  std::size_t dimension;
  std::int64_t begin, end;
};

/// A row of updates, each at its place.
template <typename T, typename Combine>
AOE_WIDE_EXACT void scatter_row(T* row, std::int64_t step, const std::int64_t* indices,
                                const T* updates, std::int64_t from, std::int64_t along,
                                std::int64_t count, const Combine& combine) {
  for (std::int64_t k = 0; k < count; ++k) {
    T& element = row[k * step + indices[k * from] * along];
    element = combine(element, updates[k * from]);
  }
}

template <typename T, typename Combine>
void scatter_slab(const Tensor& out, const Shape& shape, std::size_t axis,
                  const std::int64_t* indices, const T* updates, const Slab& slab,
                  const Combine& combine) {
  reference::Strides to = reference::dense_strides(out.desc.shape);
  const reference::Strides from = reference::dense_strides(shape);
  const std::int64_t along = to[axis];
  to[axis] = 0;
  Shape part = shape;
  part[slab.dimension] = slab.end - slab.begin;
  const std::int64_t first = slab.begin * from[slab.dimension];
  T* const base = out.as<T>() + slab.begin * to[slab.dimension];
  reference::for_each_row<2>(part, {to, from},
                             [&](const auto& offsets, const auto& steps, std::int64_t count) {
                               const std::int64_t at = first + offsets[1];
                               scatter_row(base + offsets[0], steps[0], indices + at, updates + at,
                                           steps[1], along, count, combine);
                             });
}

void run_scatter_elements(const Run& run) {
  const Tensor& out = run.output(0);
  if (out.data == nullptr) return;
  const Shape& shape = run.shape(1);
  const std::size_t axis =
      reference::normalize_axis(run.attrs.get_int("axis", 0), out.desc.shape.size());
  const CheckedIndices indices(run.inputs[1], out.desc.shape[axis]);
  copy_all(run.inputs[0], out, run.threads);
  const std::int64_t count = run.inputs[1].elements();
  if (count == 0) return;
  const std::size_t shared = shared_dimension(shape, axis);
  const std::int64_t extent = shared == axis ? 1 : shape[shared];
  const double cost = 2 * static_cast<double>(count) / static_cast<double>(extent);
  reference::visit_type<reference::AllTypes>(out.desc.dtype, [&]<typename T>() {
    const T* updates = run.inputs[2].as<T>();
    reference::with_reduction<T>(run.attrs, [&](auto combine) {
      run.threads.share(extent, cost, [&](std::int64_t begin, std::int64_t end) {
        const Slab slab = {shared, begin, shared == axis ? shape[axis] : end};
        scatter_slab(out, shape, axis, indices.data(), updates, slab, combine);
      });
    });
  });
}

/// Where the blocks begin that coordinates choose.
Scratch block_offsets(const Tensor& indices, const Shape& shape, std::int64_t count) {
  const auto depth = static_cast<std::size_t>(indices.desc.shape.back());
  const reference::Strides strides = reference::dense_strides(shape);
  Scratch memory(static_cast<std::size_t>(count) * sizeof(std::int64_t));
  auto* offsets = memory.as<std::int64_t>();
  std::fill_n(offsets, count, 0);
  bool is_outside = false;
  for (std::size_t d = 0; d < depth; ++d) {
    const std::int64_t* at = indices.as<std::int64_t>() + d;
    const std::int64_t dim = shape[d], stride = strides[d];
    for (std::int64_t i = 0; i < count; ++i, at += depth) {
      const std::int64_t coordinate = *at + (*at < 0 ? dim : 0);
      is_outside |= (coordinate < 0) | (coordinate >= dim);
      offsets[i] += coordinate * stride;
    }
  }
  if (is_outside) reference::read_block_indices(indices, shape);  // names the one that is
  return memory;
}

/// Updates of blocks in [low, high) of the elements.
template <typename T, typename Combine>
void scatter_blocks(const T* update, const std::int64_t* offsets, std::int64_t updates,
                    std::int64_t size, std::int64_t low, std::int64_t high, T* out,
                    const Combine& combine) {
  for (std::int64_t i = 0; i < updates; ++i) {
    const std::int64_t offset = offsets[i];
    if (offset < low || offset >= high) continue;
    const T* from = update + i * size;
    for (std::int64_t k = 0; k < size; ++k) out[offset + k] = combine(out[offset + k], from[k]);
  }
}

/// Of the blocks of the data each thread has a range: it copies them, and then looks for their updates. Short blocks are not worth
/// looking for: one thread takes all that there are.
void run_scatter_nd(const Run& run) {
  const Tensor& out = run.output(0);
  if (out.data == nullptr) return;
  const Shape &shape = out.desc.shape, &chosen = run.shape(1);
  const std::int64_t updates = reference::dim_product(chosen, 0, chosen.size() - 1);
  const Scratch memory = block_offsets(run.inputs[1], shape, updates);
  if (out.elements() == 0) return;
  const auto* offsets = memory.as<std::int64_t>();
  const std::int64_t size = reference::dim_product(shape, static_cast<std::size_t>(chosen.back()),
                                                   shape.size()),
                     count = out.elements() / size;
  constexpr std::int64_t kShortBlock = 8;
  const bool is_short = size < kShortBlock;
  if (is_short) copy_all(run.inputs[0], out, run.threads);
  const double cost =
      static_cast<double>(size) * (0.5 + static_cast<double>(updates) / static_cast<double>(count));
  reference::visit_type<reference::AllTypes>(out.desc.dtype, [&]<typename T>() {
    const T* update = run.inputs[2].as<T>();
    T* const y = out.as<T>();
    reference::with_reduction<T>(run.attrs, [&](auto combine) {
      if (is_short)
        return scatter_blocks(update, offsets, updates, size, 0, out.elements(), y, combine);
      run.threads.share(count, cost, [&](std::int64_t begin, std::int64_t end) {
        copy_part(run.inputs[0], out, begin * size, end * size);
        scatter_blocks(update, offsets, updates, size, begin * size, end * size, y, combine);
      });
    });
  });
}

}  // namespace

void register_scatter(KernelRegistry& registry) {
  for (const char* type : {"Scatter", "ScatterElements"})
    registry.add({.type = type, .supports = takes_all, .run = run_scatter_elements});
  registry.add({.type = "ScatterNdUpdate", .supports = takes_all, .run = run_scatter_nd});
}

}  // namespace aoe::native
