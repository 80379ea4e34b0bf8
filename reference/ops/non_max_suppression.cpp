// NonMaxSuppression: per batch and class the best-scored boxes, without those that overlap a better one too much.
#include <algorithm>
#include <array>
#include <numeric>

#include "reference/fail.h"
#include "reference/op.h"
#include "reference/widen.h"

namespace aoe::reference {
namespace {

enum Input : std::size_t { kBoxes, kScores, kMaxPerClass, kIouThreshold, kScoreThreshold };

struct Box {
  double y1 = 0, x1 = 0, y2 = 0, x2 = 0;  ///< y1 <= y2, x1 <= x2
  double area() const { return (y2 - y1) * (x2 - x1); }
};

/// Two corners in any order, or centre and size.
Box make_box(const double* v, bool is_center_point) {
  if (is_center_point) {
    return {v[1] - v[3] / 2, v[0] - v[2] / 2, v[1] + v[3] / 2, v[0] + v[2] / 2};
  }
  return {std::min(v[0], v[2]), std::min(v[1], v[3]), std::max(v[0], v[2]), std::max(v[1], v[3])};
}

double intersection_over_union(const Box& a, const Box& b) {
  const double height = std::max(0.0, std::min(a.y2, b.y2) - std::max(a.y1, b.y1));
  const double width = std::max(0.0, std::min(a.x2, b.x2) - std::max(a.x1, b.x1));
  const double common = height * width;
  const double all = a.area() + b.area() - common;
  return all > 0 ? common / all : 0;
}

struct Limits {
  std::int64_t max_per_class = 0;
  double iou_threshold = 0;
  double score_threshold = 0;
  bool has_score_threshold = false;
};

/// Indices of the boxes that stay, best first; equal scores in the order of the boxes.
std::vector<std::int64_t> select(const std::vector<Box>& boxes, const double* scores,
                                 const Limits& limits) {
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
  const Shape& shape = inputs[kScores].desc.shape;  // batches x classes x boxes
  const auto has = [&](std::size_t i) { return i < inputs.size() && inputs[i].is_present(); };
  const Limits limits{
      .max_per_class = has(kMaxPerClass) ? to_int64(inputs[kMaxPerClass]) : 0,
      .iou_threshold = has(kIouThreshold) ? to_double(inputs[kIouThreshold]) : 0,
      .score_threshold = has(kScoreThreshold) ? to_double(inputs[kScoreThreshold]) : 0,
      .has_score_threshold = has(kScoreThreshold)};
  const bool is_center_point = attrs.get_int("center_point_box", 0) != 0;
  const auto corners = to_doubles(inputs[kBoxes]);
  const auto scores = to_doubles(inputs[kScores]);
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
  const Shape &boxes = context.shape(kBoxes), &scores = context.shape(kScores);
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
                .kind = OpKind::kSearch,
                .infer = infer_nms,
                .compute = compute_nms,
                .work = &CostContext::pairs,
                .first_parameter = 0,
                .min_inputs = 2,
                .infers_from_values = true});
}

}  // namespace aoe::reference
