#include "runtime/slice_shares.h"

#include <algorithm>

namespace aoe::runtime {
namespace {

/// Where shares of many slices begin: at lines of the cache, for elements that are slices.
constexpr std::int64_t kShareStep = 16, kManySteps = 64;

class Pieces {
 public:
  Pieces(std::span<const std::int64_t> lengths, double piece_cost)
      : lengths_(lengths), piece_cost_(piece_cost) {}

  struct Choice {
    double cost = 0;
    std::vector<SlicePiece> pieces = {};
  };

  /// As many of length number `length` as are full, and for the rest one that is not or shorter ones.
  Choice best(std::size_t length, std::int64_t first, std::int64_t slices) const {
    constexpr double kCopied = 1.1;  // what a piece that is not full reads and makes
    const double each = piece_cost_ + static_cast<double>(lengths_[length]);
    Choice choice;
    for (; slices >= lengths_[length]; slices -= lengths_[length]) {
      choice.cost += each;
      choice.pieces.push_back({length, first, lengths_[length]});
      first += lengths_[length];
    }
    if (slices == 0) return choice;
    Choice rest{piece_cost_ + kCopied * static_cast<double>(lengths_[length]),
                {{length, first, slices}}};
    if (length + 1 < lengths_.size())
      if (Choice shorter = best(length + 1, first, slices); shorter.cost < rest.cost)
        rest = std::move(shorter);
    choice.cost += rest.cost;
    choice.pieces.insert(choice.pieces.end(), rest.pieces.begin(), rest.pieces.end());
    return choice;
  }

 private:
  const std::span<const std::int64_t> lengths_;
  const double piece_cost_;
};

}  // namespace

SliceShares slice_shares(std::span<const std::int64_t> lengths, std::int64_t slices, int threads,
                         const PieceCosts& costs) {
  const auto short_enough = std::ranges::find_if(
      lengths, [&](std::int64_t length) { return length <= costs.longest_piece; });
  SliceShares all;
  if (short_enough == lengths.end()) return all;
  const Pieces pieces(lengths, costs.piece);
  const std::int64_t step = slices >= kManySteps * kShareStep * threads ? kShareStep : 1;
  std::int64_t begin = 0;
  for (int i = 1; i <= threads && begin < slices; ++i) {
    const std::int64_t even = (slices * i + threads - 1) / threads;
    const std::int64_t end = std::min(slices, (even + step - 1) / step * step);
    if (end == begin) continue;
    Pieces::Choice share =
        pieces.best(static_cast<std::size_t>(short_enough - lengths.begin()), begin, end - begin);
    all.cost = std::max(all.cost, costs.share + share.cost);
    all.shares.push_back(std::move(share.pieces));
    begin = end;
  }
  return all;
}

}  // namespace aoe::runtime
