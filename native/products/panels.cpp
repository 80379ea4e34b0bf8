#include "native/products/panels.h"

#include <algorithm>
#include <type_traits>

#include "base/ceil_div.h"
#include "native/lines/transpose_block.h"
#include "native/products/dot_products.h"
#include "native/products/line_dots.h"
#include "native/wide.h"

namespace aoe::native {
namespace {

constexpr std::int64_t kColumns = Panels<float>::kColumns;
constexpr std::int64_t kDepth = 256;  ///< rows of a panel: the first-level cache keeps it
constexpr std::int64_t kRows = 64;    ///< of the left factor that meet a panel, in blocks of eight

constexpr std::int64_t kNarrow = 4;  ///< columns that are narrow

std::int64_t panels_of(std::int64_t columns) {
  return ceil_div(columns, kColumns);
}

constexpr std::int64_t kShort = 16;  ///< fewer rows of a narrow factor are less than two vectors

/// sums[r][j] += left[r][i] * columns[j][i], a number at a time: of kDepth, or of any depth where that is 0.
template <int kColumns, int kDepth, typename T>
AOE_WIDE void add_short_rows(Rows<const T> left, std::int64_t rows, std::int64_t any_depth,
                             const T* columns, Rows<T> sums) {
  const std::int64_t depth = kDepth > 0 ? kDepth : any_depth;
  for (std::int64_t r = 0; r < rows; ++r) {
    const T* const x = left.row(r);
    T* const to = sums.row(r);
    T dots[kColumns] = {};
    for (std::int64_t i = 0; i < depth; ++i)
      for (std::int64_t j = 0; j < kColumns; ++j) dots[j] += x[i] * columns[j * depth + i];
    for (std::int64_t j = 0; j < kColumns; ++j) to[j] += dots[j];
  }
}

/// Three and four factors are those of places.
template <int kColumns, typename T>
void add_short_rows(Rows<const T> left, std::int64_t rows, std::int64_t depth, const T* columns,
                    Rows<T> sums) {
  if (depth == 3) return add_short_rows<kColumns, 3>(left, rows, depth, columns, sums);
  if (depth == 4) return add_short_rows<kColumns, 4>(left, rows, depth, columns, sums);
  add_short_rows<kColumns, 0>(left, rows, depth, columns, sums);
}

/// to[j] += from[j].
template <typename T>
AOE_WIDE void add_to_row(const T* from, std::int64_t columns, T* to) {
  using Loose = typename Lanes<T>::Loose;
  std::int64_t j = 0;
  for (; j + Lanes<T>::kCount <= columns; j += Lanes<T>::kCount)
    *reinterpret_cast<Loose*>(to + j) += *reinterpret_cast<const Loose*>(from + j);
  for (; j < columns; ++j) to[j] += from[j];
}

/// Columns [begin, end) of rows [first, last), an element at a time.
template <typename T>
AOE_WIDE void pack_elements(const Matrix<T>& from, std::int64_t first, std::int64_t last,
                            std::int64_t begin, std::int64_t end, T* to) {
  for (std::int64_t j = begin; j < end; ++j)
    for (std::int64_t i = first; i < last; ++i)
      to[i * kColumns + j] = from.data[i * from.rows + j * from.columns];
}

/// to[i][j] = element (i, j) of `from`, in rows of kColumns; what it lacks of columns is zeros.
template <typename T>
AOE_WIDE void pack_panel(const Matrix<T>& from, std::int64_t rows, std::int64_t columns, T* to) {
  if (columns < kColumns) std::fill_n(to, rows * kColumns, T{0});
  if (from.columns == 1) {
    for (std::int64_t i = 0; i < rows; ++i)
      std::copy_n(from.data + i * from.rows, columns, to + i * kColumns);
    return;
  }
  constexpr std::int64_t kAtOnce = 16;  // of a column: a line of the cache
  for (std::int64_t i = 0; i < rows; i += kAtOnce) {
    const std::int64_t end = std::min(rows, i + kAtOnce);
    std::int64_t j = 0;
    if constexpr (std::is_same_v<T, float>) {
      if (from.rows == 1 && end == i + kAtOnce)
        for (; j + kFloats <= columns; j += kFloats)
          for (std::int64_t each = i; each < end; each += kFloats)
            transpose_block(from.data + each + j * from.columns, from.columns,
                            to + each * kColumns + j, kColumns);
    }
    pack_elements(from, i, end, j, columns, to);
  }
}

}  // namespace

/// All panels of the first kDepth rows, then those of the next.
template <typename T>
Panels<T>::Panels(const Matrix<T>& factor, std::int64_t depth, std::int64_t columns,
                  Threads& threads)
    : depth_(depth),
      columns_(columns),
      packed_(static_cast<std::size_t>(panels_of(columns) * depth * kColumns) * sizeof(T)) {
  if (is_narrow()) {
    T* const lines = packed_.template as<T>();
    if (has_lines())
      std::fill(lines + columns * depth, lines + LineDots::lines_of(columns) * depth, T{0});
    for (std::int64_t j = 0; j < columns; ++j)
      for (std::int64_t i = 0; i < depth; ++i) lines[j * depth + i] = *factor.from(i, j).data;
    return;
  }
  const std::int64_t panels = panels_of(columns);
  const double cost = static_cast<double>(depth * kColumns) / 4;
  threads.share(panels, cost, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = 0; i < depth; i += kDepth)
      for (std::int64_t panel = begin; panel < end; ++panel) {
        const std::int64_t rows = std::min(kDepth, depth - i), first = panel * kColumns;
        pack_panel(factor.from(i, first), rows, std::min(kColumns, columns - first),
                   packed_.template as<T>() + (i * panels + panel * rows) * kColumns);
      }
  });
}

template <typename T>
void Panels<T>::add_panel(Rows<const T> left, std::int64_t rows, std::int64_t depth, const T* panel,
                          Rows<T> sums, std::int64_t columns) const {
  constexpr std::int64_t kVector = kColumns / 2;
  constexpr std::int64_t kFew = 3;  // columns that take longer as a vector than as dot products
  const Rows<const T> right = {panel, kColumns};
  const std::int64_t whole = std::min(kColumns, columns / kVector * kVector);
  if (whole > 0) native::add_product<T>(left, rows, depth, right, sums, whole);
  const std::int64_t others = std::min(kColumns, columns) - whole;
  if (others == 0) return;
  if constexpr (std::is_floating_point_v<T>) {
    if (others <= kFew) {
      T turned[kFew * kDepth];
      for (std::int64_t j = 0; j < others; ++j)
        for (std::int64_t i = 0; i < depth; ++i)
          turned[j * kDepth + i] = panel[i * kColumns + whole + j];
      return add_dot_products<T>(left, rows, {turned, kDepth}, others, depth, sums.from(whole));
    }
  }
  T beyond[kRows * kVector];
  std::fill_n(beyond, rows * kVector, T{0});
  native::add_product<T>(left, rows, depth, right.from(whole), {beyond, kVector}, kVector);
  for (std::int64_t r = 0; r < rows; ++r)
    add_to_row(beyond + r * kVector, others, sums.row(r) + whole);
}

template <typename T>
bool Panels<T>::is_narrow() const {
  return (std::is_floating_point_v<T> && columns_ <= kNarrow) || has_lines();
}

template <typename T>
bool Panels<T>::has_lines() const {
  return std::is_same_v<T, float> && columns_ > 0 && columns_ <= LineDots::kMost &&
         depth_ >= kShort;
}

/// As a product of the columns with the rows of the left factor: of these there are many, whose sums come side by side.
template <typename T>
void Panels<T>::add_columns(Rows<const T> left, std::int64_t rows, std::int64_t depth,
                            Rows<T> sums) const {
  if constexpr (std::is_same_v<T, float>)
    if (has_lines())
      return LineDots::add(left, rows, depth, packed_.template as<T>(), depth_, sums, columns_);
  if constexpr (std::is_floating_point_v<T>) {
    if (depth_ < kShort && depth == depth_) {
      using Add = void (*)(Rows<const T>, std::int64_t, std::int64_t, const T*, Rows<T>);
      static constexpr Add kAdd[kNarrow] = {add_short_rows<1, T>, add_short_rows<2, T>,
                                            add_short_rows<3, T>, add_short_rows<4, T>};
      return kAdd[columns_ - 1](left, rows, depth_, packed_.template as<T>(), sums);
    }
    for (std::int64_t row = 0; row < rows; row += kRows) {
      const std::int64_t count = std::min(kRows, rows - row);
      T dots[kNarrow * kRows] = {};
      add_dot_products<T>({packed_.template as<T>(), depth_}, columns_,
                          {left.row(row), left.stride}, count, depth, {dots, kRows});
      for (std::int64_t j = 0; j < columns_; ++j)
        for (std::int64_t r = 0; r < count; ++r) sums.row(row + r)[j] += dots[j * kRows + r];
    }
  }
}

template <typename T>
std::int64_t Panels<T>::count() const {
  return panels_of(columns_);
}

template <typename T>
void Panels<T>::add_some(Rows<const T> left, std::int64_t rows, std::int64_t depth, Rows<T> sums,
                         std::int64_t first, std::int64_t last) const {
  if (is_narrow()) return add_columns(left, rows, depth, sums);
  const std::int64_t panels = panels_of(columns_);
  for (std::int64_t row = 0; row < rows; row += kRows)
    for (std::int64_t i = 0; i < depth; i += kDepth) {
      const std::int64_t length = std::min(kDepth, depth_ - i);  // of a panel
      for (std::int64_t panel = first; panel < last; ++panel)
        add_panel({left.data + row * left.stride + i, left.stride}, std::min(kRows, rows - row),
                  std::min(length, depth - i),
                  packed_.template as<T>() + (i * panels + panel * length) * kColumns,
                  {sums.data + row * sums.stride + panel * kColumns, sums.stride},
                  columns_ - panel * kColumns);
    }
}

template class Panels<float>;
template class Panels<double>;
template class Panels<std::int32_t>;
template class Panels<std::int64_t>;

}  // namespace aoe::native
