#include "runtime/slice_parts.h"

#include <utility>

namespace aoe::runtime {
namespace {

struct SliceChoice {
  double cost = 0;
  std::vector<SliceTurn> turns = {};
};

class SliceChoices {
 public:
  SliceChoices(std::span<const std::int64_t> lengths, std::int64_t slices, double part_cost,
               bool is_in_place)
      : lengths_(lengths), slices_(slices), part_cost_(part_cost), is_in_place_(is_in_place) {}

  /// For `left` slices, of the lengths from number `first` on: as many of that as are full, and for the rest one more or shorter ones.
  SliceChoice best(std::size_t first, std::int64_t left) const {
    const std::int64_t length = lengths_[first], full = left / length, rest = left % length;
    if (rest == 0) return parts(first, full);
    SliceChoice longer = parts(first, full + 1);
    if (first + 1 == lengths_.size()) return longer;
    SliceChoice all = parts(first, full);
    const SliceChoice shorter = best(first + 1, rest);
    all.cost += shorter.cost;
    all.turns.insert(all.turns.end(), shorter.turns.begin(), shorter.turns.end());
    return longer.cost <= all.cost && !(is_in_place_ && length > slices_) ? longer : all;
  }

 private:
  SliceChoice parts(std::size_t length, std::int64_t times) const {
    constexpr double kCopied = 1.25;
    if (times == 0) return {};
    const auto slices = static_cast<double>(lengths_[length]);
    const double each = part_cost_ + (lengths_[length] > slices_ ? kCopied : 1) * slices;
    return {static_cast<double>(times) * each, {{length, times}}};
  }

  const std::span<const std::int64_t> lengths_;
  const std::int64_t slices_;
  const double part_cost_;
  const bool is_in_place_;
};

}  // namespace

SliceParts slice_parts(std::span<const std::int64_t> lengths, std::int64_t slices, double part_cost,
                       bool is_in_place) {
  SliceChoice best = SliceChoices(lengths, slices, part_cost, is_in_place).best(0, slices);
  return {std::move(best.turns), best.cost};
}

}  // namespace aoe::runtime
