// Writes rows of pooled outputs.
#include "compiler/conv/pool_nest.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <vector>

namespace aoe::compiler {
namespace {

using loopnest::broadcast;
using loopnest::Builder;
using loopnest::Int;
using loopnest::Local;
using loopnest::splat;
using loopnest::Vec;

/// Emits one row of outputs.
class RowEmitter {
 public:
  RowEmitter(Builder& builder, const PoolPlan& plan, const RowsOf& rows, Int vector, Int row)
      : builder_(builder), plan_(plan), in_(rows.in), rows_(rows), vector_(vector), row_(row) {
    in_base_ = rows.n * in_.batch +
               (in_.c0 != 0 ? vector * in_.channel_block : vector * plan_.lanes * in_.channel);
    if (in_.c0 == 0 && plan_.channels % plan_.lanes != 0) {
      active_ = min(Int(plan_.lanes), Int(plan_.channels) - vector * plan_.lanes);
    }
  }

  void run() {
    const std::int64_t block = plan_.ow_block;
    const auto [first, last] = interior_columns(plan_.window.width());
    for (std::int64_t o = 0; o < first; ++o) columns(o, 1);
    const std::int64_t blocked = first + (last - first) / block * block;
    builder_.loop("ow", first, blocked, block, [&](Int o) { columns(o, block); });
    if (blocked < last) columns(blocked, last - blocked);
    for (std::int64_t o = last; o < plan_.window.width().output; ++o) columns(o, 1);
  }

 private:
  /// `count` neighbouring outputs from column `first` on: an interior block, or a single one at a
  /// border.
  void columns(Int first, std::int64_t count) {
    const reference::WindowAxis &h = plan_.window.height(), &w = plan_.window.width();
    TapRange taps{0, w.kernel};
    if (first.constant() && count == 1) taps = taps_inside(w, *first.constant());
    std::vector<Local> sums;
    for (std::int64_t i = 0; i < count; ++i) {
      sums.push_back(builder_.local(splat(plan_.window.is_max ? kLowest : 0.0f, plan_.lanes)));
    }
    const Int above = Int(h.pad_begin) - row_ * h.stride;  // window rows above the input
    builder_.loop("kh", first_tap(h, above), last_tap(h, above), 1, [&](Int kh) {
      const Int row = in_base_ + in_.row_offset(kh * h.dilation - above);
      for (std::int64_t i = 0; i < count; ++i) {
        for (std::int64_t kw = taps.begin; kw < taps.end; ++kw) {
          const Int column = (first + i) * w.stride - w.pad_begin + kw * w.dilation;
          const Vec x = builder_.load(*rows_.buffers.inputs[0], row + column * in_.pixel,
                                      plan_.lanes, active_);
          const Local sum = sums[static_cast<std::size_t>(i)];
          const Vec before = builder_.get(sum);
          builder_.assign(sum, plan_.window.is_max ? max(x, before) : before + x);
        }
      }
    });
    for (std::int64_t i = 0; i < count; ++i)
      store(first + i, above, taps, sums[static_cast<std::size_t>(i)]);
  }

  void store(Int column, Int above, const TapRange& taps, Local sum) {
    Vec value = builder_.get(sum);
    if (!plan_.window.is_max) value = value * broadcast(factor(column, above, taps), plan_.lanes);
    rows_.store.store(builder_, rows_.buffers, {rows_.n, vector_, row_, column}, value);
  }

  /// 1 / number of elements that the average is taken of.
  Vec factor(Int column, Int above, const TapRange& taps) {
    const reference::WindowAxis &h = plan_.window.height(), &w = plan_.window.width();
    std::int64_t columns = taps.end - taps.begin;
    Int rows = last_tap(h, above) - first_tap(h, above);
    if (plan_.window.counts_padding) {
      // Interior windows lie inside anyway; only ceil_mode reaches beyond the padding.
      columns = column.constant() ? padded_taps(w, *column.constant()) : w.kernel;
      rows = last_padded_tap(h, above);
    }
    if (rows.constant()) {
      return splat(1.0f / static_cast<float>(std::max<std::int64_t>(1, *rows.constant() * columns)),
                   1);
    }
    return splat(1.0f, 1) / to_float(max(rows * columns, Int(1)));
  }

  /// First tap at or below the input's first row, and one behind the last: bounds of the loop over
  /// the window's rows.
  static Int first_tap(const reference::WindowAxis& h, Int above) {
    if (h.pad_begin == 0) return 0;
    return (max(above, 0) + (h.dilation - 1)) / h.dilation;
  }
  static Int last_tap(const reference::WindowAxis& h, Int above) {
    if (!sticks_out(h, h.input)) return h.kernel;
    return min(Int(h.kernel), (max(above + h.input, 0) + (h.dilation - 1)) / h.dilation);
  }
  static Int last_padded_tap(const reference::WindowAxis& h, Int above) {
    if (!sticks_out(h, h.input + h.pad_end)) return h.kernel;
    return min(Int(h.kernel),
               (max(above + h.input + h.pad_end, 0) + (h.dilation - 1)) / h.dilation);
  }
  /// Does the last window reach behind `end`?
  static bool sticks_out(const reference::WindowAxis& h, std::int64_t end) {
    return h.tap(h.output - 1, h.kernel - 1) >= end;
  }

  static constexpr float kLowest = -std::numeric_limits<float>::infinity();

  Builder& builder_;
  const PoolPlan& plan_;
  const ImageLayout& in_;
  const RowsOf& rows_;
  Int vector_, row_, in_base_ = 0;
  std::optional<Int> active_;
};

}  // namespace

double PoolPlan::core_cycles() const {
  constexpr double kBlockStart = 4;  // bounds of the window's rows, start values
  return static_cast<double>(vectors() * window.window.output_elements()) *
         (static_cast<double>(window.window.kernel_elements()) +
          kBlockStart / static_cast<double>(ow_block));
}

void write_pool_row(Builder& builder, const PoolPlan& plan, const RowsOf& rows, Int vector,
                    Int row) {
  RowEmitter(builder, plan, rows, vector, row).run();
}

void write_pool_rows(Builder& builder, const PoolPlan& plan, const RowsOf& rows) {
  builder.loop("vector", 0, plan.vectors(), 1, [&](Int vector) {
    builder.loop("row", rows.begin, rows.end, 1,
                 [&](Int row) { write_pool_row(builder, plan, rows, vector, row); });
  });
}

}  // namespace aoe::compiler
