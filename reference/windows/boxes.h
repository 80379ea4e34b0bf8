// Boxes of NonMaxSuppression, and what its inputs say about them.
#pragma once

#include <cstdint>
#include <span>

#include "base/tensor.h"

namespace aoe::reference {

struct Box {
  double y1 = 0, x1 = 0, y2 = 0, x2 = 0;  ///< y1 <= y2, x1 <= x2
  double area() const { return (y2 - y1) * (x2 - x1); }
};

/// Of four numbers: two corners in any order, or centre and size.
Box make_box(const double* v, bool is_center_point);

double intersection_over_union(const Box& a, const Box& b);

struct NmsLimits {
  std::int64_t max_per_class = 0;
  double iou_threshold = 0;
  double score_threshold = 0;
  bool has_score_threshold = false;
};
/// From the inputs behind boxes and scores.
NmsLimits nms_limits(std::span<const Tensor> inputs);

}  // namespace aoe::reference
