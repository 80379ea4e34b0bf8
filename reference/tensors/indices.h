// Tensors of indices, as the Gather and Scatter operators take them: checked, with negative ones made positive.
#pragma once

#include <cstdint>
#include <vector>

#include "base/tensor.h"
#include "reference/tensors/strided.h"

namespace aoe::reference {

/// All in [0, dim); Error(kModel) when one is outside [-dim, dim).
std::vector<std::int64_t> read_indices(const Tensor& tensor, std::int64_t dim);

/// size_bytes(), or Error(kModel) for types that have no plain elements (strings).
std::size_t element_bytes(DataType dtype);

/// Indices of whole blocks: the last dimension of the tensor holds the leading coordinates in `shape`.
struct BlockIndices {
  std::vector<std::int64_t>
      offsets;  ///< of each block's first element in a dense tensor of `shape`
  std::int64_t block_elements = 1;
};
BlockIndices read_block_indices(const Tensor& tensor, const Shape& shape);

/// Visits the elements of an index tensor one for one: f(i, offset), where `offset` is that of element i's own position
/// in data, with the coordinate along `axis` replaced by indices[i].
template <typename F>
void for_each_element_index(const Shape& data, const Shape& shape, std::size_t axis,
                            const std::vector<std::int64_t>& indices, F&& f) {
  Strides own = dense_strides(data);
  const std::int64_t axis_stride = own[axis];
  own[axis] = 0;
  for_each_row<2>(
      shape, {own, dense_strides(shape)}, [&](auto offsets, auto steps, std::int64_t count) {
        for (std::int64_t k = 0; k < count; ++k) {
          const std::int64_t i = offsets[1] + k * steps[1];
          f(i, offsets[0] + k * steps[0] + indices[static_cast<std::size_t>(i)] * axis_stride);
        }
      });
}

/// Throws Error(kModel) unless `indices` has data's rank and, beside `axis`, at most its dimensions.
void check_element_indices(const Shape& data, const Shape& indices, std::size_t axis);

}  // namespace aoe::reference
