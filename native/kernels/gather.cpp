// Gather, GatherElements, GatherND of all element types.
#include <algorithm>
#include <cstring>
#include <limits>

#include "native/kernel.h"
#include "native/wide.h"
#include "reference/elements/typed.h"
#include "reference/tensors/axes.h"
#include "reference/tensors/indices.h"

namespace aoe::native {
namespace {

/// Block i of the output is a copy of the bytes behind from(i).
template <typename From>
void copy_blocks(Threads& threads, std::int64_t count, std::size_t block_bytes, char* to,
                 const From& from) {
  threads.share(
      count, 4 + static_cast<double>(block_bytes) / 16, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i)
          std::memcpy(to + static_cast<std::size_t>(i) * block_bytes, from(i), block_bytes);
      });
}

void run_gather(const Run& run) {
  const Tensor &data = run.inputs[0], &y = run.output(0);
  if (y.data == nullptr || y.elements() == 0) return;
  const std::size_t axis =
      reference::normalize_axis(run.attrs.get_int("axis", 0), run.shape(0).size());
  const reference::AxisView view = reference::view_axis(run.shape(0), axis);
  const std::vector<std::int64_t> indices = reference::read_indices(run.inputs[1], view.dim);
  const std::int64_t count = std::ssize(indices);
  if (view.inner == 1)
    return reference::visit_word(y.desc.dtype, [&]<typename Word>() {
      run.threads.share(view.outer, static_cast<double>(count),
                        [&](std::int64_t begin, std::int64_t end) {
                          Word* to = y.as<Word>() + begin * count;
                          for (std::int64_t o = begin; o < end; ++o)
                            for (const std::int64_t index : indices)
                              *to++ = data.as<Word>()[o * view.dim + index];
                        });
    });
  const std::size_t bytes =
      static_cast<std::size_t>(view.inner) * reference::element_bytes(data.desc.dtype);
  copy_blocks(run.threads, view.outer * count, bytes, y.as<char>(), [&](std::int64_t i) {
    const std::int64_t row = i / count * view.dim + indices[static_cast<std::size_t>(i % count)];
    return data.as<char>() + static_cast<std::size_t>(row) * bytes;
  });
}

template <typename Index>
AOE_WIDE bool all_inside(const Index* indices, std::int64_t count, Index dim) {
  bool is_outside = false;
  for (std::int64_t i = 0; i < count; ++i) is_outside |= (indices[i] < -dim) | (indices[i] >= dim);
  return !is_outside;
}

/// Row after row of `length` indices; `step` from one element of the data to the next, `along` from one index to the next.
template <typename Word, typename Index>
void gather_row(const Word* from, const Index* indices, std::int64_t length, std::int64_t step,
                std::int64_t along, std::int64_t dim, Word* to) {
  if (step == 0 && along == 1) {  // of the last axis
    for (std::int64_t i = 0; i < length; ++i) to[i] = from[indices[i] + (indices[i] < 0 ? dim : 0)];
    return;
  }
  for (std::int64_t i = 0; i < length; ++i)
    to[i] = from[i * step + (indices[i] + (indices[i] < 0 ? dim : 0)) * along];
}

/// Rows of the indices along their last axis.
template <typename Index>
void gather_elements(const Run& run) {
  const Tensor &data = run.inputs[0], &y = run.output(0);
  const Shape& shape = run.shape(1);
  const std::size_t axis = reference::normalize_axis(run.attrs.get_int("axis", 0), shape.size());
  const std::int64_t dim = run.shape(0)[axis];
  const Index* const indices = run.inputs[1].as<Index>();
  // Of an axis too long for its indices none is outside.
  const auto most = std::min<std::int64_t>(dim, std::numeric_limits<Index>::max());
  if (!all_inside(indices, y.elements(), static_cast<Index>(most)))
    reference::read_indices(run.inputs[1], dim);  // names the one that is
  reference::Strides strides = reference::dense_strides(run.shape(0));
  const std::int64_t along = strides[axis];
  strides[axis] = 0;
  const std::int64_t length = shape.back(), step = strides.back();
  reference::visit_word(y.desc.dtype, [&]<typename Word>() {
    run.threads.share(y.elements() / length, static_cast<double>(length),
                      [&](std::int64_t begin, std::int64_t end) {
                        for (std::int64_t row = begin; row < end; ++row) {
                          const Word* from = data.as<Word>();
                          std::int64_t rest = row;
                          for (std::size_t d = shape.size() - 1; d-- > 0; rest /= shape[d])
                            from += rest % shape[d] * strides[d];
                          gather_row(from, indices + row * length, length, step, along, dim,
                                     y.as<Word>() + row * length);
                        }
                      });
  });
}

void run_gather_elements(const Run& run) {
  if (run.output(0).data == nullptr || run.output(0).elements() == 0) return;
  reference::visit_type<reference::IndexTypes>(
      run.inputs[1].desc.dtype, [&]<typename Index>() { gather_elements<Index>(run); });
}

void run_gather_nd(const Run& run) {
  const Tensor &data = run.inputs[0], &y = run.output(0);
  if (y.data == nullptr || y.elements() == 0) return;
  const auto batch = static_cast<std::ptrdiff_t>(run.attrs.get_int("batch_dims", 0));
  const Shape one_batch(run.shape(0).begin() + batch, run.shape(0).end());
  const reference::BlockIndices blocks = reference::read_block_indices(run.inputs[1], one_batch);
  const std::size_t element = reference::element_bytes(data.desc.dtype);
  const std::int64_t batches =
      reference::dim_product(run.shape(1), 0, static_cast<std::size_t>(batch));
  const std::int64_t per_batch = std::ssize(blocks.offsets) / batches;
  copy_blocks(run.threads, std::ssize(blocks.offsets),
              static_cast<std::size_t>(blocks.block_elements) * element, y.as<char>(),
              [&](std::int64_t i) {
                const std::int64_t from = i / per_batch * element_count(one_batch) +
                                          blocks.offsets[static_cast<std::size_t>(i)];
                return data.as<char>() + static_cast<std::size_t>(from) * element;
              });
}

}  // namespace

void register_gather(KernelRegistry& registry) {
  registry.add({.type = "GatherV2",
                .supports = takes_all,
                .run = run_gather,
                .is_for_open_sizes = is_float32});
  registry.add({.type = "GatherElements",
                .supports = takes_all,
                .run = run_gather_elements,
                .is_for_open_sizes = is_float32});
  registry.add({.type = "GatherNd", .supports = takes_all, .run = run_gather_nd});
}

}  // namespace aoe::native
