// See boxes.h.
#include "reference/windows/boxes.h"

#include <algorithm>

#include "reference/tensors/widen.h"

namespace aoe::reference {

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

NmsLimits nms_limits(std::span<const Tensor> inputs) {
  constexpr std::size_t kMaxPerClass = 2, kIouThreshold = 3, kScoreThreshold = 4;
  const auto has = [&](std::size_t i) { return i < inputs.size() && inputs[i].is_present(); };
  return {.max_per_class = has(kMaxPerClass) ? to_int64(inputs[kMaxPerClass]) : 0,
          .iou_threshold = has(kIouThreshold) ? to_double(inputs[kIouThreshold]) : 0,
          .score_threshold = has(kScoreThreshold) ? to_double(inputs[kScoreThreshold]) : 0,
          .has_score_threshold = has(kScoreThreshold)};
}

}  // namespace aoe::reference
