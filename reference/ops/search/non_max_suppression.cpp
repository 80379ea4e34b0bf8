// NonMaxSuppression: per batch and class the best-scored boxes, without those that overlap a better one too much.
#include <algorithm>
#include <array>
#include <numeric>

#include "reference/fail.h"
#include "reference/op.h"
#include "reference/tensors/widen.h"
#include "reference/windows/boxes.h"

namespace aoe::reference {
namespace {

enum BoxInput : std::size_t { kBoxes, kBoxScores };

/// Indices of the boxes that stay, best first; equal scores in the order of the boxes.
std::vector<std::int64_t> select(const std::vector<Box>& boxes, const double* scores,
                                 const NmsLimits& limits) {
  std::vector<std::int64_t> order(boxes.size());
  std::iota(order.begin(), order.end(), std::int64_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::int64_t a, std::int64_t b) { return scores[a] > scores[b]; });
  std::vector<std::int64_t> kept;
  for (std::int64_t candidate : order) {
    if (std::ssize(kept) >= limits.max_per_class) break;
    if (limits.has_score_threshold && scores[candidate] <= limits.score_threshold) break;
    const Box& box = boxes[static_cast<std::size_t>(candidate)];
    const bool overlaps = std::any_of(kept.begin(), kept.end(), [&](std::int64_t other) {
      return intersection_over_union(box, boxes[static_cast<std::size_t>(other)]) >
             limits.iou_threshold;
    });
    if (!overlaps) kept.push_back(candidate);
  }
  return kept;
}

/// {batch, class, box} of everything selected, flattened.
std::vector<std::int64_t> select_all(const Attrs& attrs, std::span<const Tensor> inputs) {
  const Shape& shape = inputs[kBoxScores].desc.shape;  // batches x classes x boxes
  const NmsLimits limits = nms_limits(inputs);
  const bool is_center_point = attrs.get_int("center_point_box", 0) != 0;
  const auto corners = to_doubles(inputs[kBoxes]);
  const auto scores = to_doubles(inputs[kBoxScores]);
  std::vector<std::int64_t> selected;
  for (std::int64_t b = 0; b < shape[0]; ++b) {
    std::vector<Box> boxes;
    for (std::int64_t i = 0; i < shape[2]; ++i) {
      boxes.push_back(make_box(corners.data() + (b * shape[2] + i) * 4, is_center_point));
    }
    for (std::int64_t c = 0; c < shape[1]; ++c) {
      for (std::int64_t box :
           select(boxes, scores.data() + (b * shape[1] + c) * shape[2], limits)) {
        selected.insert(selected.end(), {b, c, box});
      }
    }
  }
  return selected;
}

std::vector<TensorDesc> infer_nms(const InferContext& context) {
  const Shape &boxes = context.shape(kBoxes), &scores = context.shape(kBoxScores);
  const bool fits =
      boxes.size() == 3 && scores.size() == 3 && (boxes[2] == 4 || boxes[2] == kUnknownDim) &&
      (boxes[0] == scores[0] || boxes[0] == kUnknownDim || scores[0] == kUnknownDim) &&
      (boxes[1] == scores[2] || boxes[1] == kUnknownDim || scores[2] == kUnknownDim);
  if (!fits) fail_model("boxes " + to_string(boxes) + " with scores " + to_string(scores));
  std::int64_t count = kUnknownDim;
  const bool is_known =
      std::all_of(context.inputs.begin(), context.inputs.end(),
                  [](const Tensor& t) { return !t.is_present() || t.data != nullptr; });
  if (is_known) count = std::ssize(select_all(context.attrs, context.inputs)) / 3;
  return {{.dtype = DataType::kInt64, .shape = {count, 3}}};
}

void compute_nms(const OpContext& context) {
  from_int64s(select_all(context.attrs, context.inputs), context.outputs[0]);
}

}  // namespace

void register_non_max_suppression(OpRegistry& registry) {
  registry.add({.type = "NonMaxSuppressionV7",
                .onnx_type = "NonMaxSuppression",
                .versions = {10},
                .signature = {"s:3 s:3 l?:0-1 s?:0-1 s?:0-1", "center_point_box=0..1"},
                .kind = OpKind::kSearch,
                .infer = infer_nms,
                .compute = compute_nms,
                .work = &CostContext::pairs,
                .first_parameter = 0,
                .min_inputs = 2,
                .infers_from_values = true});
}

}  // namespace aoe::reference
