// NonMaxSuppression of float32: boxes of a class leave a heap, the best first, for as long as more are wanted. Batches and
// classes are apart from each other.
#include <algorithm>
#include <array>
#include <vector>

#include "native/kernel.h"
#include "native/lines/sort_key.h"
#include "native/wide.h"
#include "reference/windows/boxes.h"

namespace aoe::native {
namespace {

using reference::Box;
using Boxes = std::vector<std::int64_t>;

/// Those that were kept, coordinate by coordinate: one is compared with vectors of them.
class KeptBoxes {
 public:
  void add(const Box& box) {
    const auto put = [&](std::vector<double>& list, double value) {
      if (count_ % kBlock == 0) list.resize(list.size() + kBlock, 0);  // boxes of no size
      list[count_] = value;
    };
    put(y1_, box.y1), put(x1_, box.x1), put(y2_, box.y2), put(x2_, box.x2);
    put(area_, box.area());
    ++count_;
  }

  /// Whether any of them and the box have more than `threshold` of their union in common.
  bool overlap(const Box& box, double threshold) const {
    for (std::size_t first = 0; first < count_; first += kBlock)
      if (any_overlaps(first, std::min(kBlock, count_ - first), box, threshold)) return true;
    return false;
  }

 private:
  static constexpr std::size_t kBlock = 16;

  /// As reference::intersection_over_union(box, kept) has it.
  AOE_WIDE_EXACT bool any_overlaps(std::size_t first, std::size_t count, const Box& box,
                                   double threshold) const {
    const double *y1 = &y1_[first], *x1 = &x1_[first], *y2 = &y2_[first], *x2 = &x2_[first],
                 *area = &area_[first];
    const double own = box.area();
    double shares[kBlock];
    for (std::size_t i = 0; i < kBlock; ++i) {
      const double height = std::max(0.0, std::min(box.y2, y2[i]) - std::max(box.y1, y1[i]));
      const double width = std::max(0.0, std::min(box.x2, x2[i]) - std::max(box.x1, x1[i]));
      const double common = height * width, all = own + area[i] - common, share = common / all;
      shares[i] = all > 0 ? share : 0;
    }
    return std::any_of(shares, shares + count, [&](double share) { return share > threshold; });
  }

  std::size_t count_ = 0;
  std::vector<double> y1_, x1_, y2_, x2_, area_;
};

class NonMaxSuppression {
 public:
  explicit NonMaxSuppression(const Run& run)
      : shape_(run.shape(1)),
        corners_(run.inputs[0].as<float>()),
        scores_(run.inputs[1].as<float>()),
        limits_(reference::nms_limits(run.inputs)),
        is_center_point_(run.attrs.get_int("center_point_box", 0) != 0) {}

  void run(const Run& run) const {
    const std::int64_t lists = shape_[0] * shape_[1];
    std::vector<Boxes> selected(static_cast<std::size_t>(lists));
    run.threads.share(lists, static_cast<double>(shape_[2]) * 2,
                      [&](std::int64_t begin, std::int64_t end) {
                        for (std::int64_t list = begin; list < end; ++list)
                          selected[static_cast<std::size_t>(list)] = select(list);
                      });
    std::int64_t count = 0;
    for (const Boxes& list : selected) count += std::ssize(list);
    const Tensor output = run.make(0, {count, 3});
    if (output.data == nullptr) return;
    auto* to = output.as<std::int64_t>();
    for (std::int64_t list = 0; list < lists; ++list)
      for (const std::int64_t box : selected[static_cast<std::size_t>(list)]) {
        *to++ = list / shape_[1];
        *to++ = list % shape_[1];
        *to++ = box;
      }
  }

 private:
  /// Of a batch and class, the best first.
  Boxes select(std::int64_t list) const {
    using Entry = SortEntry<std::int32_t>;
    const auto is_worse = [](const Entry& a, const Entry& b) { return b < a; };
    const float* scores = scores_ + list * shape_[2];
    std::vector<Entry> heap;
    for (std::int64_t i = 0; i < shape_[2]; ++i) {
      const bool is_low = limits_.has_score_threshold && scores[i] <= limits_.score_threshold;
      if (!is_low) heap.push_back({~sort_key(scores[i]), i});
    }
    std::make_heap(heap.begin(), heap.end(), is_worse);
    const std::int64_t first_box = list / shape_[1] * shape_[2];
    Boxes kept;
    KeptBoxes kept_boxes;
    while (!heap.empty() && std::ssize(kept) < limits_.max_per_class) {
      const std::int64_t candidate = heap.front().place;
      std::pop_heap(heap.begin(), heap.end(), is_worse);
      heap.pop_back();
      const Box box = box_at(first_box + candidate);
      if (kept_boxes.overlap(box, limits_.iou_threshold)) continue;
      kept.push_back(candidate);
      kept_boxes.add(box);
    }
    return kept;
  }

  Box box_at(std::int64_t i) const {
    std::array<double, 4> numbers;
    std::copy_n(corners_ + 4 * i, numbers.size(), numbers.begin());
    return reference::make_box(numbers.data(), is_center_point_);
  }

  const Shape shape_;  ///< batches x classes x boxes
  const float *corners_, *scores_;
  const reference::NmsLimits limits_;
  const bool is_center_point_;
};

}  // namespace

void register_non_max_suppression(KernelRegistry& registry) {
  registry.add({.type = "NonMaxSuppressionV7",
                .supports = takes_floats(2),
                .run = [](const Run& run) { NonMaxSuppression(run).run(run); },
                .makes_shapes = true});
}

}  // namespace aoe::native
