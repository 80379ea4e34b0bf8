#include "native/panels.h"

#include <algorithm>

#include "native/wide.h"

namespace aoe::native {
namespace {

constexpr std::int64_t kColumns = 32;  ///< of a panel
constexpr std::int64_t kDepth = 256;   ///< rows of a panel: the first-level cache keeps it
constexpr std::int64_t kRows = 64;     ///< of the left factor that meet a panel, in blocks of eight

std::int64_t panels_of(std::int64_t columns) {
  return (columns + kColumns - 1) / kColumns;
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
  for (std::int64_t i = 0; i < rows; i += kAtOnce)
    for (std::int64_t j = 0; j < columns; ++j) {
      const std::int64_t end = std::min(rows, i + kAtOnce);
      for (std::int64_t each = i; each < end; ++each)
        to[each * kColumns + j] = from.data[each * from.rows + j * from.columns];
    }
}

}  // namespace

/// All panels of the first kDepth rows, then those of the next.
template <typename T>
Panels<T>::Panels(const Matrix<T>& factor, std::int64_t depth, std::int64_t columns,
                  Threads& threads)
    : depth_(depth), columns_(columns) {
  const std::int64_t panels = panels_of(columns);
  packed_ =
      std::make_unique_for_overwrite<T[]>(static_cast<std::size_t>(panels * depth * kColumns));
  const double cost = static_cast<double>(depth * kColumns) / 4;
  threads.share(panels, cost, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = 0; i < depth; i += kDepth)
      for (std::int64_t panel = begin; panel < end; ++panel) {
        const std::int64_t rows = std::min(kDepth, depth - i), first = panel * kColumns;
        pack_panel(factor.from(i, first), rows, std::min(kColumns, columns - first),
                   packed_.get() + (i * panels + panel * rows) * kColumns);
      }
  });
}

template <typename T>
void Panels<T>::add_panel(Rows<const T> left, std::int64_t rows, std::int64_t depth, const T* panel,
                          Rows<T> sums, std::int64_t columns) const {
  const Rows<const T> right = {panel, kColumns};
  if (columns >= kColumns) return native::add_product<T>(left, rows, depth, right, sums, kColumns);
  T beyond[kRows * kColumns] = {};
  native::add_product<T>(left, rows, depth, right, {beyond, kColumns}, kColumns);
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t j = 0; j < columns; ++j)
      sums.data[r * sums.stride + j] += beyond[r * kColumns + j];
}

template <typename T>
void Panels<T>::add_product(Rows<const T> left, std::int64_t rows, Rows<T> sums) const {
  const std::int64_t panels = panels_of(columns_);
  for (std::int64_t row = 0; row < rows; row += kRows)
    for (std::int64_t i = 0; i < depth_; i += kDepth) {
      const std::int64_t depth = std::min(kDepth, depth_ - i);
      for (std::int64_t panel = 0; panel < panels; ++panel)
        add_panel({left.data + row * left.stride + i, left.stride}, std::min(kRows, rows - row),
                  depth, packed_.get() + (i * panels + panel * depth) * kColumns,
                  {sums.data + row * sums.stride + panel * kColumns, sums.stride},
                  columns_ - panel * kColumns);
    }
}

template class Panels<float>;
template class Panels<double>;

}  // namespace aoe::native
