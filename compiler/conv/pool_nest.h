// The loop nest of poolings with the channels in vector lanes. Columns whose windows stick out to the left or right are
// written out one by one with their own range of taps; those between them run in blocks, which fold each column of inputs
// once for all windows that share it. Rows that stick out shorten a loop over the window's rows.
#pragma once

#include <cstdint>

#include "base/ceil_div.h"
#include "compiler/conv/pool_window.h"
#include "compiler/conv/rows_of.h"

namespace aoe::compiler {

struct PoolCut {
  PoolWindow window;
  std::int64_t channels = 0;
  int lanes = 0;
  std::int64_t ow_block = 1;  ///< neighbouring outputs computed together

  std::int64_t vectors() const { return ceil_div(channels, lanes); }
  /// Columns of inputs that a block of outputs reads.
  std::int64_t block_columns() const;
  /// Windows whose rows lie inside the input are written out, where that is not too long.
  bool is_written_out() const;
  std::int64_t body_loads() const;  ///< that the code of a block spells out
  double core_cycles() const;       ///< of all rows, from cached inputs
};

/// Writes the code of one row of outputs of one vector of channels; the rows of `rows` do not matter.
void write_pool_row(loopnest::Builder& builder, const PoolCut& cut, const RowsOf& rows,
                    loopnest::Int vector, loopnest::Int row);

/// Writes the code of some rows, all channels.
void write_pool_rows(loopnest::Builder& builder, const PoolCut& cut, const RowsOf& rows);

}  // namespace aoe::compiler
