// Writes rows of pooled outputs.
#include "compiler/conv/pool_nest.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <vector>

namespace aoe::compiler {
namespace {

using loopnest::broadcast;

/// Emits one row of outputs.
class RowEmitter {
 public:
  RowEmitter(Builder& builder, const PoolCut& cut, const RowsOf& rows, Int vector, Int row)
      : builder_(builder), cut_(cut), in_(rows.in), rows_(rows), vector_(vector), row_(row) {
    in_base_ = rows.n * in_.batch +
               (in_.c0 != 0 ? vector * in_.channel_block : vector * cut_.lanes * in_.channel);
    if (in_.c0 == 0 && cut_.channels % cut_.lanes != 0) {
      active_ = min(Int(cut_.lanes), Int(cut_.channels) - vector * cut_.lanes);
    }
  }

  void run() {
    const reference::WindowAxis& h = cut_.window.height();
    if (!cut_.is_written_out()) return all_columns(&RowEmitter::loop_over_rows);
    if (h.pad_begin == 0 && !sticks_out(h, h.input)) return all_columns(&RowEmitter::write_rows);
    const Int top = row_ * h.stride - h.pad_begin;
    builder_.if_(
        Int(0) <= top && top + (h.kernel - 1) * h.dilation < Int(h.input),
        [&] { all_columns(&RowEmitter::write_rows); },
        [&] { all_columns(&RowEmitter::loop_over_rows); });
  }

 private:
  /// Outputs that are computed together, and which taps of the window's columns they have.
  struct Block {
    Int first;
    std::int64_t count;
    TapRange taps;
  };
  /// Returns the maximum or sum of each output.
  using Fold = std::vector<Local> (RowEmitter::*)(const Block&);

  void all_columns(Fold fold) {
    const std::int64_t block = cut_.ow_block;
    const auto [first, last] = interior_columns(cut_.window.width());
    edge_columns(0, first, fold);
    const std::int64_t blocked = first + (last - first) / block * block;
    builder_.loop("ow", first, blocked, block, [&](Int o) { columns(o, block, fold); });
    if (blocked < last) columns(blocked, last - blocked, fold);
    edge_columns(last, cut_.window.width().output, fold);
  }

  /// One by one, but for those that lie in the padding as a whole, of which there may be any number.
  void edge_columns(std::int64_t begin, std::int64_t end, Fold fold) {
    const auto is_padding = [&](std::int64_t o) {
      const TapRange taps = taps_inside(cut_.window.width(), o);
      return taps.begin >= taps.end;
    };
    for (std::int64_t o = begin; o < end;) {
      if (!is_padding(o)) {
        columns(o++, 1, fold);
        continue;
      }
      const std::int64_t first = o;
      while (o < end && is_padding(o)) ++o;
      builder_.loop("padding", first, o, 1,
                    [&](Int column) { store(column, {}, builder_.local(nothing())); });
    }
  }

  /// `count` neighbouring outputs from column `first` on: an interior block, or a single one at a
  /// border.
  void columns(Int first, std::int64_t count, Fold fold) {
    const reference::WindowAxis& w = cut_.window.width();
    TapRange taps{0, w.kernel};
    if (first.constant() && count == 1) taps = taps_inside(w, *first.constant());
    const std::vector<Local> results = (this->*fold)({first, count, taps});
    for (std::int64_t i = 0; i < count; ++i)
      store(first + i, taps, results[static_cast<std::size_t>(i)]);
  }

  /// Any rows: those of the window that are inside, one after another.
  std::vector<Local> loop_over_rows(const Block& block) {
    const reference::WindowAxis& h = cut_.window.height();
    std::vector<Local> results;
    for (std::int64_t i = 0; i < block.count; ++i) results.push_back(builder_.local(nothing()));
    builder_.loop("kh", first_tap(h, above()), last_tap(h, above()), 1, [&](Int kh) {
      for (std::int64_t i = 0; i < block.count; ++i) {
        for (std::int64_t kw = block.taps.begin; kw < block.taps.end; ++kw) {
          const Local result = results[static_cast<std::size_t>(i)];
          builder_.assign(result, join(load(kh, block.first, column(i, kw)), builder_.get(result)));
        }
      }
    });
    return results;
  }

  /// Rows that are all inside: each column of inputs is folded once, for all windows that it belongs to.
  std::vector<Local> write_rows(const Block& block) {
    std::map<std::int64_t, Local> folded;  // by column
    const auto fold_column = [&](std::int64_t at) {
      if (folded.contains(at)) return;
      std::vector<Vec> values;
      for (std::int64_t kh = 0; kh < cut_.window.height().kernel; ++kh)
        values.push_back(load(kh, block.first, at));
      folded.emplace(at, builder_.local(join(values)));
    };
    std::vector<Local> results;
    for (std::int64_t i = 0; i < block.count; ++i) {
      std::vector<Vec> values;
      for (std::int64_t kw = block.taps.begin; kw < block.taps.end; ++kw) {
        fold_column(column(i, kw));
        values.push_back(builder_.get(folded.at(column(i, kw))));
      }
      results.push_back(builder_.local(join(values)));
    }
    return results;
  }

  /// The maximum or sum of no elements.
  Vec nothing() const { return splat(cut_.window.is_max ? kLowest : 0.0f, cut_.lanes); }
  Vec join(const Vec& x, const Vec& before) const {
    return cut_.window.is_max ? max(x, before) : before + x;
  }
  Vec join(const std::vector<Vec>& values) const {
    Vec result = values[0];
    std::size_t next = 1;
    for (; cut_.window.is_max && next + 1 < values.size(); next += 2)
      result = max(result, values[next], values[next + 1]);
    for (; next < values.size(); ++next) result = join(values[next], result);
    return result;
  }

  /// Of tap `kw` of output `i` of a block, counted from the first output's first one.
  std::int64_t column(std::int64_t i, std::int64_t kw) const {
    const reference::WindowAxis& w = cut_.window.width();
    return i * w.stride + kw * w.dilation;
  }
  Vec load(Int kh, Int first, std::int64_t column) const {
    const reference::WindowAxis &h = cut_.window.height(), &w = cut_.window.width();
    const Int row = in_base_ + in_.row_offset(kh * h.dilation - above());
    return builder_.load(*rows_.buffers.inputs[0],
                         row + (first * w.stride - w.pad_begin + column) * in_.pixel, cut_.lanes,
                         active_);
  }

  /// Window rows above the input.
  Int above() const {
    return Int(cut_.window.height().pad_begin) - row_ * cut_.window.height().stride;
  }

  void store(Int column, const TapRange& taps, Local sum) {
    Vec value = builder_.get(sum);
    if (!cut_.window.is_max) value = value * broadcast(factor(column, taps), cut_.lanes);
    rows_.store.store(builder_, rows_.buffers, {rows_.n, vector_, row_, column}, value);
  }

  /// 1 / number of elements that the average is taken of.
  Vec factor(Int column, const TapRange& taps) {
    const reference::WindowAxis &h = cut_.window.height(), &w = cut_.window.width();
    std::int64_t columns = taps.end - taps.begin;
    Int rows = last_tap(h, above()) - first_tap(h, above());
    if (cut_.window.counts_padding) {
      // Interior windows lie inside anyway; only ceil_mode reaches beyond the padding.
      columns = column.constant() ? w.padded_taps(*column.constant()) : w.kernel;
      rows = last_padded_tap(h, above());
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
  const PoolCut& cut_;
  const ImageLayout& in_;
  const RowsOf& rows_;
  Int vector_, row_, in_base_ = 0;
  std::optional<Int> active_;
};

}  // namespace

std::int64_t PoolCut::block_columns() const {
  const reference::WindowAxis& w = window.width();
  return (ow_block - 1) * std::min(w.stride, w.reach()) + w.reach();
}

bool PoolCut::is_written_out() const {
  constexpr std::int64_t kMostLoads = 64;
  return window.height().kernel * block_columns() <= kMostLoads;
}

std::int64_t PoolCut::body_loads() const {
  return is_written_out() ? window.height().kernel * block_columns()
                          : ow_block * window.width().kernel;
}

double PoolCut::core_cycles() const {
  constexpr double kBlockStart = 4;  // bounds of the window's rows, start values
  // Measured on a Zen 5 core: 3x3 maxima of stride 1, which take 8 operations and 3 loads, in 5 cycles.
  constexpr double kOperationsPerCycle = 1.6, kLoadsPerCycle = 2;
  const double each = window.is_max ? (is_written_out() ? 2 : 3) : 1;
  const auto height = static_cast<double>(window.height().kernel);
  const auto width = static_cast<double>(window.width().kernel);
  const double columns = is_written_out()
                             ? static_cast<double>(block_columns()) / static_cast<double>(ow_block)
                             : width;
  const double operations = each * (columns * (height - 1) + width - 1);
  return static_cast<double>(vectors() * window.window.output_elements()) *
         (std::max(operations / kOperationsPerCycle, columns * height / kLoadsPerCycle) +
          kBlockStart / static_cast<double>(ow_block));
}

void write_pool_row(Builder& builder, const PoolCut& cut, const RowsOf& rows, Int vector, Int row) {
  RowEmitter(builder, cut, rows, vector, row).run();
}

void write_pool_rows(Builder& builder, const PoolCut& cut, const RowsOf& rows) {
  builder.loop("vector", 0, cut.vectors(), 1, [&](Int vector) {
    builder.loop("row", rows.begin, rows.end, 1,
                 [&](Int row) { write_pool_row(builder, cut, rows, vector, row); });
  });
}

}  // namespace aoe::compiler
