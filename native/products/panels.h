// Panels: the right factor of a product, packed once for many rows of the left one.
#pragma once

#include <cstdint>

#include "native/products/product.h"
#include "native/scratch.h"
#include "native/threads.h"

namespace aoe::native {

/// Element (row, column) of a matrix lies at row * rows + column * columns.
template <typename T>
struct Matrix {
  const T* data;
  std::int64_t rows, columns;

  Matrix from(std::int64_t row, std::int64_t column) const {
    return {data + row * rows + column * columns, rows, columns};
  }
};

/// Of float, double, and integers as add_product() takes.
template <typename T>
class Panels {
 public:
  /// Of `depth` rows and `columns` columns; either they or the rows lie without gaps.
  Panels(const Matrix<T>& factor, std::int64_t depth, std::int64_t columns, Threads& threads);

  /// sums[r][j] += the sum over i of left[r][i] * factor[i][j], for `rows` rows.
  void add_product(Rows<const T> left, std::int64_t rows, Rows<T> sums) const {
    add_panels(left, rows, sums, 0, count());
  }
  /// The same of columns from kColumns * first to kColumns * last.
  void add_panels(Rows<const T> left, std::int64_t rows, Rows<T> sums, std::int64_t first,
                  std::int64_t last) const {
    add_some(left, rows, depth_, sums, first, last);
  }
  /// The same of all columns, but of the first `depth` rows alone.
  void add_rows(Rows<const T> left, std::int64_t rows, std::int64_t depth, Rows<T> sums) const {
    add_some(left, rows, depth, sums, 0, count());
  }
  static constexpr std::int64_t kColumns = 32;  ///< of a panel
  std::int64_t count() const;

 private:
  /// So few columns that panels would be empty for the most part: they lie as rows, for dot products.
  bool is_narrow() const;
  bool has_lines() const;  ///< of LineDots
  void add_some(Rows<const T> left, std::int64_t rows, std::int64_t depth, Rows<T> sums,
                std::int64_t first, std::int64_t last) const;
  void add_columns(Rows<const T> left, std::int64_t rows, std::int64_t depth, Rows<T> sums) const;
  void add_panel(Rows<const T> left, std::int64_t rows, std::int64_t depth, const T* panel,
                 Rows<T> sums, std::int64_t columns) const;

  std::int64_t depth_, columns_;
  Scratch packed_;
};

}  // namespace aoe::native
