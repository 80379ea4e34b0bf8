// Gather, GatherElements, GatherND: elements chosen by a tensor of indices.
#include <algorithm>
#include <cstring>

#include "reference/elements/typed.h"
#include "reference/op.h"
#include "reference/slicing.h"
#include "reference/tensors/axes.h"
#include "reference/tensors/indices.h"
#include "reference/tensors/strided.h"

namespace aoe::reference {
namespace {

std::vector<TensorDesc> infer_gather(const InferContext& ctx) {
  const Shape& data = ctx.shape(0);
  const Shape& indices = ctx.shape(1);
  const std::size_t axis = normalize_axis(ctx.attrs.get_int("axis", 0), data.size());
  const auto at_axis = data.begin() + static_cast<std::ptrdiff_t>(axis);
  Shape out(data.begin(), at_axis);
  out.insert(out.end(), indices.begin(), indices.end());
  out.insert(out.end(), at_axis + 1, data.end());
  return {{.dtype = ctx.dtype(0), .shape = std::move(out)}};
}

void compute_gather(const OpContext& ctx) {
  const Tensor& data = ctx.inputs[0];
  const std::size_t axis = normalize_axis(ctx.attrs.get_int("axis", 0), data.desc.shape.size());
  const AxisView view = view_axis(data.desc.shape, axis);
  const std::vector<std::int64_t> indices = read_indices(ctx.inputs[1], view.dim);
  const std::size_t block_bytes =
      static_cast<std::size_t>(view.inner) * element_bytes(data.desc.dtype);
  char* out = ctx.outputs[0].as<char>();
  for (std::int64_t o = 0; o < view.outer; ++o) {
    for (const std::int64_t index : indices) {
      std::memcpy(out,
                  data.as<char>() + static_cast<std::size_t>(o * view.dim + index) * block_bytes,
                  block_bytes);
      out += block_bytes;
    }
  }
}

std::vector<TensorDesc> infer_gather_elements(const InferContext& ctx) {
  const std::size_t axis = normalize_axis(ctx.attrs.get_int("axis", 0), ctx.shape(0).size());
  check_element_indices(ctx.shape(0), ctx.shape(1), axis);
  return {{.dtype = ctx.dtype(0), .shape = ctx.shape(1)}};
}

void compute_gather_elements(const OpContext& ctx) {
  const Tensor& data = ctx.inputs[0];
  const std::size_t axis = normalize_axis(ctx.attrs.get_int("axis", 0), data.desc.shape.size());
  const std::vector<std::int64_t> indices = read_indices(ctx.inputs[1], data.desc.shape[axis]);
  visit_word(data.desc.dtype, [&]<typename Word>() {
    Word* out = ctx.outputs[0].as<Word>();
    for_each_element_index(
        data.desc.shape, ctx.inputs[1].desc.shape, axis, indices,
        [&](std::int64_t i, std::int64_t offset) { out[i] = data.as<Word>()[offset]; });
  });
}

std::size_t batch_dims(const Attrs& attrs, const Shape& data, const Shape& indices) {
  const std::int64_t dims = attrs.get_int("batch_dims", 0);
  if (dims < 0 || static_cast<std::size_t>(dims) >= std::min(data.size(), indices.size()))
    fail_model("batch_dims " + std::to_string(dims) + " for data " + to_string(data) +
               " and indices " + to_string(indices));
  return static_cast<std::size_t>(dims);
}

std::vector<TensorDesc> infer_gather_nd(const InferContext& ctx) {
  const Shape& data = ctx.shape(0);
  const Shape& indices = ctx.shape(1);
  const std::size_t batch = batch_dims(ctx.attrs, data, indices);
  check_same_shape(Shape(indices.begin(), indices.begin() + static_cast<std::ptrdiff_t>(batch)),
                   Shape(data.begin(), data.begin() + static_cast<std::ptrdiff_t>(batch)),
                   "the batch of the indices");
  const bool is_open = indices.back() == kUnknownDim;
  if (is_open && data.size() > batch + 1) throw Undetermined{};  // along one axis or several
  if (indices.back() == 0) fail_model("indices " + to_string(indices) + " choose along no axis");
  const std::size_t indexed = batch + (is_open ? 1 : static_cast<std::size_t>(indices.back()));
  if (indexed > data.size())
    fail_model("indices " + to_string(indices) + " reach deeper than data " + to_string(data));
  Shape out(indices.begin(), indices.end() - 1);
  out.insert(out.end(), data.begin() + static_cast<std::ptrdiff_t>(indexed), data.end());
  return {{.dtype = ctx.dtype(0), .shape = std::move(out)}};
}

void compute_gather_nd(const OpContext& ctx) {
  const Tensor& data = ctx.inputs[0];
  const Shape& indices = ctx.inputs[1].desc.shape;
  const std::size_t batch = batch_dims(ctx.attrs, data.desc.shape, indices);
  const std::int64_t batches = dim_product(indices, 0, batch);
  const Shape one_batch(data.desc.shape.begin() + static_cast<std::ptrdiff_t>(batch),
                        data.desc.shape.end());
  const BlockIndices blocks = read_block_indices(ctx.inputs[1], one_batch);
  const std::size_t element = element_bytes(data.desc.dtype);
  const std::size_t block_bytes = static_cast<std::size_t>(blocks.block_elements) * element;
  const std::size_t batch_bytes = static_cast<std::size_t>(element_count(one_batch)) * element;
  char* out = ctx.outputs[0].as<char>();
  if (batches == 0) return;
  const std::size_t per_batch = blocks.offsets.size() / static_cast<std::size_t>(batches);
  for (std::size_t i = 0; i < blocks.offsets.size(); ++i) {
    const char* from = data.as<char>() + i / per_batch * batch_bytes;
    std::memcpy(out, from + static_cast<std::size_t>(blocks.offsets[i]) * element, block_bytes);
    out += block_bytes;
  }
}

/// Slices of the data beside the axis, or of the indices.
bool gathered_apart(const Slicing& slicing) {
  const auto axis =
      static_cast<int>(normalize_axis(slicing.attrs.get_int("axis", 0), slicing.shape(0).size()));
  if (slicing.is_whole(0)) return slicing.output_axes[0] == axis + slicing.axes[1];
  return slicing.is_whole(1) && slicing.axes[0] != axis;
}

bool elements_gathered_apart(const Slicing& slicing) {
  const auto axis =
      static_cast<int>(normalize_axis(slicing.attrs.get_int("axis", 0), slicing.shape(0).size()));
  return slicing.axes[0] == slicing.axes[1] && slicing.axes[0] != axis;
}

/// Slices of the indices of whole data.
bool blocks_gathered_apart(const Slicing& slicing) {
  return slicing.is_whole(0) && slicing.attrs.get_int("batch_dims", 0) == 0 &&
         slicing.output_axes[0] == slicing.axes[1];
}

}  // namespace

void register_gather(OpRegistry& registry) {
  registry.add({.type = "GatherV2",
                .onnx_type = "Gather",
                .signature = {"a:1+ x", "axis=int"},
                .kind = OpKind::kMove,
                .infer = infer_gather,
                .compute = compute_gather,
                .min_inputs = 2,
                .slices = gathered_apart,
                .moved = 1,
                .first_input_may_be_constant = true});
  registry.add({.type = "GatherElements",
                .signature = {"a:1+ x", "axis=int"},
                .kind = OpKind::kMove,
                .infer = infer_gather_elements,
                .compute = compute_gather_elements,
                .min_inputs = 2,
                .slices = elements_gathered_apart,
                .moved = 1,
                .first_input_may_be_constant = true});
  registry.add({.type = "GatherNd",
                .onnx_type = "GatherND",
                .signature = {"a:1+ l:1+", "batch_dims=0.."},
                .kind = OpKind::kMove,
                .infer = infer_gather_nd,
                .compute = compute_gather_nd,
                .min_inputs = 2,
                .slices = blocks_gathered_apart,
                .moved = 1});
}

}  // namespace aoe::reference
