// Reading and checking tensors of indices.
#include "reference/tensors/indices.h"

#include "reference/elements/typed.h"
#include "reference/tensors/axes.h"

namespace aoe::reference {
namespace {

std::int64_t checked(std::int64_t index, std::int64_t dim) {
  if (index < -dim || index >= dim)
    fail_model("index " + std::to_string(index) + " is outside a dimension of " +
               std::to_string(dim));
  return index < 0 ? index + dim : index;
}

}  // namespace

std::vector<std::int64_t> read_indices(const Tensor& tensor, std::int64_t dim) {
  std::vector<std::int64_t> indices = read_ints(tensor);
  for (std::int64_t& index : indices) index = checked(index, dim);
  return indices;
}

std::size_t element_bytes(DataType dtype) {
  const std::size_t bytes = size_bytes(dtype);
  if (bytes == 0) fail_model("element type " + std::string(name(dtype)) + " is not supported");
  return bytes;
}

BlockIndices read_block_indices(const Tensor& tensor, const Shape& shape) {
  const std::vector<std::int64_t> coordinates = read_ints(tensor);
  const auto depth = static_cast<std::size_t>(tensor.desc.shape.back());
  const Strides strides = dense_strides(shape);
  BlockIndices blocks{.offsets = {}, .block_elements = dim_product(shape, depth, shape.size())};
  const Shape leading(tensor.desc.shape.begin(), tensor.desc.shape.end() - 1);
  blocks.offsets.assign(static_cast<std::size_t>(element_count(leading)), 0);
  for (std::size_t i = 0; i < blocks.offsets.size(); ++i) {
    for (std::size_t d = 0; d < depth; ++d)
      blocks.offsets[i] += checked(coordinates[i * depth + d], shape[d]) * strides[d];
  }
  return blocks;
}

void check_element_indices(const Shape& data, const Shape& indices, std::size_t axis) {
  bool fits = data.size() == indices.size();
  for (std::size_t d = 0; fits && d < data.size(); ++d) {
    fits = d == axis || data[d] == kUnknownDim || indices[d] <= data[d];
  }
  if (!fits)
    fail_model("indices " + to_string(indices) + " do not fit into data " + to_string(data));
}

}  // namespace aoe::reference
