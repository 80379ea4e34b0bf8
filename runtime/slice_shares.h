// How slices are shared out among threads, each of which carries whole parts out (whole_parts.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace aoe::runtime {

/// What parts cost that one thread carries out, in how many slices' time of that thread.
struct PieceCosts {
  double piece = 0;  ///< of each
  double share = 0;  ///< of the first of a thread: it reads the weights
  std::int64_t longest_piece =
      0;  ///< slices, of which a core's own cache holds what passes; 0: parts are shared inside
};

/// One part, with as many slices or fewer.
struct SlicePiece {
  std::size_t length = 0;  ///< its number among the lengths
  std::int64_t first = 0, count = 0;
  bool operator==(const SlicePiece&) const = default;
};

struct SliceShares {
  std::vector<std::vector<SlicePiece>>
      shares;       ///< one for each thread, or for fewer; in order and apart
  double cost = 0;  ///< slices' time of the longest
};

/// Contiguous and about equal, of `lengths`, the longest first. No shares where all lengths are longer than pieces may be.
SliceShares slice_shares(std::span<const std::int64_t> lengths, std::int64_t slices, int threads,
                         const PieceCosts& costs);

}  // namespace aoe::runtime
