// PixelLoop: the output of a convolution in blocks, each some vectors of channels by some rows and columns of pixels, and how
// parallel iterations deal these out.
#pragma once

#include <cstdint>
#include <functional>

#include "compiler/loopnest/loopnest.h"

namespace aoe::compiler {

struct PixelBlock {
  loopnest::Int n, vector, row, column;  ///< of the first output
  std::int64_t vectors, rows, columns;
};

struct PixelLoop {
  std::int64_t batch = 1, vectors = 1, rows = 1, columns = 1;  ///< of the output
  bool is_flat = false;  ///< the pixels of an image are one row, and a tile cuts that
  std::int64_t block_vectors = 1, block_rows = 1, block_columns = 1;
  std::int64_t tile = 1;          ///< row blocks (flat: blocks of columns) of a parallel iteration
  bool are_pixels_outer = false;  ///< channels vary fastest between parallel iterations

  std::int64_t vector_blocks() const;
  /// That tiles are of: row blocks, or of a flat row blocks of columns.
  std::int64_t blocks() const;
  std::int64_t tiles() const;
  std::int64_t parallel_extent() const { return batch * vector_blocks() * tiles(); }

  /// Emits the blocks of one parallel iteration; `before`, if there is one, ahead of blocks of another shape than those before.
  using Visit = std::function<void(const PixelBlock&)>;
  void write(loopnest::Builder& builder, loopnest::Int iteration, const Visit& visit,
             const Visit& before = {}) const;

  /// sum(vectors, rows, columns) over all blocks.
  double sum_of(const std::function<double(std::int64_t vectors, std::int64_t rows,
                                           std::int64_t columns)>& cost) const;

 private:
  void write_tile(loopnest::Builder& builder, const PixelBlock& first, loopnest::Int tile,
                  const Visit& visit, const Visit& before) const;
};

}  // namespace aoe::compiler
