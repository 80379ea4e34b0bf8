// TileBlock: sums of products in the tiles of a Soc with amx, up to 32 rows by 32 columns of them: what RegisterBlock is to vectors. A step
// of the sum brings a tile of rows of the one factor and a tile of columns of the other, of words that are pairs or quads.
//
// Rows are dealt to one or two tiles, columns to as many as there are vectors; with two of each, four tiles loaded make four products,
// and both take 64 cycles.
#pragma once

#include <cstdint>
#include <functional>

#include "compiler/loopnest/loopnest.h"

namespace aoe::compiler {

class TileBlock {
 public:
  static constexpr std::int64_t kTileRows = 16, kLanes = 16;
  static constexpr std::int64_t kMostRows = 2 * kTileRows, kMostVectors = 2;

  /// `row_tiles` of 1 or 2 hold `rows`; a step sums up `words` of up to 16.
  TileBlock(std::int64_t rows, std::int64_t row_tiles, std::int64_t vectors, std::int64_t words);
  /// Rows in as few tiles as hold them.
  TileBlock(std::int64_t rows, std::int64_t vectors, std::int64_t words)
      : TileBlock(rows, rows > kTileRows ? 2 : 1, vectors, words) {}

  /// Of pixels: two rows of outputs are a tile each, a long one is halved.
  static TileBlock of_pixels(std::int64_t rows, std::int64_t columns, std::int64_t vectors,
                             std::int64_t words);
  /// The most words of a step that divide `run` neighbouring ones.
  static std::int64_t words_of(std::int64_t run);

  /// Before the first block of this shape.
  void set_shapes(loopnest::Builder& builder) const;
  void clear(loopnest::Builder& builder) const;

  /// Where a tile's rows lie, `stride` elements apart; and how many elements further those lie that are fetched into L1 meanwhile, 0 for
  /// none. (A load of a tile waits for each line that L1 lacks.)
  struct Rows {
    loopnest::Buffer buffer;
    loopnest::Int index;
    std::int64_t stride, ahead = 0;
  };
  /// Of the rows of the left factor from number `first` on, or of a vector of columns.
  using Place = std::function<Rows(std::int64_t first)>;
  void step(loopnest::Builder& builder, const Place& rows, const Place& vector) const;

  /// The sums as rows of kMostVectors * kLanes words.
  void store(loopnest::Builder& builder, loopnest::Buffer sums) const;
  static constexpr std::int64_t kSumsStride = kMostVectors * kLanes;
  static constexpr std::int64_t kSums = kMostRows * kSumsStride;

  /// Of a step, from factors in L1.
  double step_cycles() const;
  /// What products reach of that where factors come from L2, fetched ahead (Emerald Rapids, whose neighbours change it by a factor of two).
  static constexpr double kEfficiency = 0.5;

 private:
  std::int64_t first_row(std::int64_t part) const { return part * first_rows_; }
  std::int64_t rows_of(std::int64_t part) const {
    return part == 0 ? first_rows_ : rows_ - first_rows_;
  }
  static int sum_tile(std::int64_t part, std::int64_t vector) {
    return static_cast<int>(part * kMostVectors + vector);
  }

  std::int64_t rows_, row_tiles_, vectors_, words_, first_rows_;
};

}  // namespace aoe::compiler
