// What works along an axis, in blocks of neighbouring columns that stay in the level-1 cache.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/ceil_div.h"
#include "reference/tensors/axes.h"

namespace aoe::native {

/// Of `count` columns: their first element, which is that of column `inner` of `outer`. Rows are AxisView::inner apart.
struct AxisBlock {
  std::int64_t outer, inner, count, at;
};

class AxisBlocks {
 public:
  AxisBlocks(const reference::AxisView& view, std::int64_t most_columns)
      : view_(view),
        columns_(std::min(view.inner, most_columns)),
        per_outer_(ceil_div(view.inner, most_columns)) {}

  std::int64_t count() const { return view_.outer * per_outer_; }
  std::int64_t columns() const { return columns_; }  ///< of a block, or fewer in the last
  double elements() const { return static_cast<double>(view_.dim * columns_); }  ///< of a block

  AxisBlock block(std::int64_t i) const {
    const std::int64_t outer = i / per_outer_, inner = i % per_outer_ * columns_;
    return {outer, inner, std::min(columns_, view_.inner - inner),
            outer * view_.dim * view_.inner + inner};
  }

 private:
  const reference::AxisView view_;
  const std::int64_t columns_, per_outer_;
};

}  // namespace aoe::native
