// See attention_tensors.h.
#include "reference/products/attention_tensors.h"

#include <algorithm>
#include <numeric>

#include "base/size.h"
#include "reference/fail.h"
#include "reference/products/matrix.h"
#include "reference/tensors/strided.h"

namespace aoe::reference {
namespace {

constexpr int kNoAxis = -1;
constexpr std::array kAxes = {"query_axes", "key_axes", "value_axes", "mask_axes"};

/// Each axis of a tensor of `rank` once, and with `may_lack` those of size 1 in between.
std::vector<int> axes_of(const Attrs& attrs, const std::string& name, std::size_t rank,
                         bool may_lack) {
  std::vector<int> axes(rank);
  std::iota(axes.begin(), axes.end(), 0);
  if (!attrs.has(name)) return axes;
  std::vector<int> seen;
  std::vector<int> given;
  for (const std::int64_t axis : attrs.get_ints(name)) {
    const bool is_axis = axis >= 0 && axis < std::ssize(axes);
    if (!is_axis && (axis != kNoAxis || !may_lack))
      fail_model("attribute '" + name + "' has axis " + std::to_string(axis) + " of " +
                 std::to_string(rank));
    given.push_back(static_cast<int>(axis));
    if (is_axis) seen.push_back(static_cast<int>(axis));
  }
  std::ranges::sort(seen);
  if (seen != axes) fail_model("attribute '" + name + "' does not have each axis once");
  return given;
}

Shape turned(const Shape& shape, const std::vector<int>& axes, std::int64_t without = 1) {
  Shape result;
  for (const int axis : axes)
    result.push_back(axis == kNoAxis ? without : shape[static_cast<std::size_t>(axis)]);
  return result;
}

AttentionTensors tensors_of(const Attrs& attrs, std::vector<Shape> shapes) {
  constexpr std::size_t kFactors = 3, kMatrix = 2;
  AttentionTensors t{.has_mask = shapes.size() > kFactors};
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    t.axes[i] = axes_of(attrs, kAxes[i], shapes[i].size(), true);
    t.inputs[i] = std::move(shapes[i]);
    if (i < kFactors && t.axes[i].size() < kMatrix)
      fail_model("input " + std::to_string(i) + " of shape " + to_string(t.inputs[i]) +
                 " is no matrix");
  }
  t.repeats = attrs.get_int("repeats", 1);
  if (t.repeats < 1) fail_model("attribute 'repeats' is " + std::to_string(t.repeats));
  for (const std::size_t i : {std::size_t{1}, std::size_t{2}})
    if (t.repeats > 1 && t.axes[i].size() <= kMatrix)
      fail_model("input " + std::to_string(i) + " has no heads to repeat");
  t.scores = matmul_shape(t.factor(0), t.factor(1)).output;
  if (t.has_mask) t.scores = broadcast_shapes(t.scores, t.factor(kAttentionMask));
  t.result = matmul_shape(t.scores, t.factor(2)).output;
  t.output_axes = axes_of(attrs, "output_axes", t.result.size(), false);
  t.output = turned(t.result, t.output_axes);
  return t;
}

template <typename Inputs>
AttentionTensors tensors_of_inputs(const Attrs& attrs, const Inputs& inputs) {
  std::vector<Shape> shapes;
  for (std::size_t i = 0; i < std::min<std::size_t>(inputs.size(), kAxes.size()); ++i) {
    const TensorDesc* desc;
    if constexpr (requires { inputs[i].desc; })
      desc = &inputs[i].desc;
    else
      desc = &inputs[i];
    if (desc->dtype != DataType::kUndefined) shapes.push_back(desc->shape);
  }
  return tensors_of(attrs, std::move(shapes));
}

/// Keys and values are.
bool is_repeated(std::size_t input) {
  return input == 1 || input == 2;
}

/// The last axis of the batches becomes two: heads of keys, and those that read each of them.
void split_heads(MatrixView& view, std::int64_t repeats, bool is_repeated) {
  if (repeats == 1) return;
  std::int64_t& stride = view.batch.back();
  const std::int64_t own = stride;
  if (!is_repeated) stride *= repeats;
  view.batch.push_back(is_repeated ? 0 : own);
}

/// How input `i` is read as if its batches were those of the result; its last two axes are rows and columns.
MatrixView view_of(const AttentionTensors& t, std::size_t i, std::size_t batch_rank) {
  const Shape factor = turned(t.inputs[i], t.axes[i]);
  Strides strides = turned(dense_strides(t.inputs[i]), t.axes[i], 0);
  for (std::size_t d = 0; d < factor.size(); ++d)
    if (factor[d] == 1) strides[d] = 0;
  const std::size_t rank = batch_rank + 2;
  strides.insert(strides.begin(), rank - std::min(rank, strides.size()), 0);
  MatrixView view{.batch = {strides.begin(), strides.end() - 2}};
  view.row = strides[rank - 2];
  view.column = strides.back();
  split_heads(view, t.repeats, is_repeated(i));
  return view;
}

MatrixView output_view(const AttentionTensors& t) {
  const Strides dense = dense_strides(t.output);
  Strides strides(dense.size());
  for (std::size_t d = 0; d < dense.size(); ++d)
    strides[static_cast<std::size_t>(t.output_axes[d])] = dense[d];
  MatrixView view{.batch = {strides.begin(), strides.end() - 2}};
  view.row = strides.end()[-2];
  view.column = strides.back();
  split_heads(view, t.repeats, false);
  return view;
}

}  // namespace

Shape AttentionTensors::factor(std::size_t i) const {
  Shape shape = turned(inputs[i], axes[i]);
  if (repeats > 1 && is_repeated(i))
    if (std::int64_t& heads = shape.end()[-3]; heads != kUnknownDim)
      heads = checked_product(heads, repeats);
  return shape;
}

AttentionTensors attention_tensors(const Attrs& attrs, std::span<const Tensor> inputs) {
  return tensors_of_inputs(attrs, inputs);
}
AttentionTensors attention_tensors(const Attrs& attrs, std::span<const TensorDesc> inputs) {
  return tensors_of_inputs(attrs, inputs);
}

AttentionShape attention_shape(const Attrs& attrs, const AttentionTensors& t) {
  AttentionShape s{.batch = {t.result.begin(), t.result.end() - 2},
                   .queries = t.result.end()[-2],
                   .keys = t.scores.back(),
                   .depth = t.factor(0).back(),
                   .value_depth = t.result.back()};
  const std::size_t batch_rank = s.batch.size();
  s.query = view_of(t, 0, batch_rank);
  s.key = view_of(t, 1, batch_rank);
  std::swap(s.key.row, s.key.column);  // the factor has a column for each key
  s.value = view_of(t, 2, batch_rank);
  if (t.has_mask) s.mask = view_of(t, kAttentionMask, batch_rank);
  s.output = output_view(t);
  s.output_shape = t.output;
  set_score_attributes(attrs, s);
  if (t.repeats > 1) {
    s.batch.back() /= t.repeats;
    s.batch.push_back(t.repeats);
  }
  return s;
}

}  // namespace aoe::reference
