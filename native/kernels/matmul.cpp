// Products of matrices whose sizes are known when the model runs; where compilers know them, generated code is faster.
// The right factor is packed in panels of columns, once for all rows; where there are few rows, it is read where it lies.
#include <algorithm>
#include <memory>
#include <vector>

#include "base/ceil_div.h"
#include "base/memory.h"
#include "native/by_type.h"
#include "native/kernel.h"
#include "native/products/dot_products.h"
#include "native/products/matrix_stack.h"
#include "native/products/panels.h"
#include "native/products/product.h"
#include "native/products/small_products.h"
#include "native/wide.h"
#include "reference/products/matrix.h"
#include "reference/tensors/broadcast.h"
#include "reference/tensors/strided.h"

namespace aoe::native {
namespace {

constexpr std::int64_t kRows = 64;    ///< of the left factor that a thread takes at a time
constexpr std::int64_t kFewRows = 5;  ///< for which nothing is packed
constexpr double kProductsPerNs = 30;

/// What is added to the products: element (row, column) of it as of a Matrix; nothing where data is null.
template <typename T>
struct Product {
  std::int64_t m, k, n;
  Matrix<T> a, b, bias;
  T alpha = 1, beta = 1;
  T* c;                                          ///< m x n
  std::shared_ptr<const Panels<T>> packed = {};  ///< b, where it is kept from run to run
};

/// The panels of a right factor that is a constant. Of many rows nobody sees that it is packed in each run, and one reads it where it
/// lies. Where memory does not hold it twice, it is packed in each run as well.
template <typename T>
void keep_panels(const Run& run, Product<T>& p) {
  constexpr std::int64_t kManyRows = 1024;
  constexpr std::int64_t kMostElements = std::int64_t{1} << 24;
  if (run.kept(1) == nullptr || p.m <= 1 || p.m >= kManyRows ||
      run.inputs[1].elements() > kMostElements)
    return;
  try {
    p.packed = run.made_of(1, [&] { return Panels<T>(p.b, p.k, p.n, run.threads); });
  } catch (const OutOfMemory&) {
    p.packed.reset();
  }
}

/// The left factor's rows as they lie, or copied where their elements are apart.
template <typename T>
Rows<const T> left_rows(const Matrix<T>& a, std::int64_t rows, std::int64_t length,
                        std::vector<T>& copy) {
  if (a.columns == 1) return {a.data, a.rows};
  copy.resize(static_cast<std::size_t>(rows * length));
  for (std::int64_t i = 0; i < length; ++i)
    for (std::int64_t r = 0; r < rows; ++r)
      copy[static_cast<std::size_t>(r * length + i)] = a.data[r * a.rows + i * a.columns];
  return {copy.data(), length};
}

/// row = alpha * row + beta * bias.
template <typename T>
AOE_WIDE void scale_row(T alpha, T beta, const T* bias, std::int64_t step, std::int64_t count,
                        T* __restrict row) {
  if (bias == nullptr) {
    for (std::int64_t j = 0; j < count; ++j) row[j] *= alpha;
    return;
  }
  if (step == 0) {
    const T added = beta * *bias;
    for (std::int64_t j = 0; j < count; ++j) row[j] = alpha * row[j] + added;
    return;
  }
  for (std::int64_t j = 0; j < count; ++j) row[j] = alpha * row[j] + beta * bias[j];
}

/// Columns [first, first + count) of rows [row, row + rows) of the result.
template <typename T>
void finish(const Product<T>& p, std::int64_t row, std::int64_t rows, std::int64_t first,
            std::int64_t count) {
  if (p.alpha == 1 && p.bias.data == nullptr) return;
  for (std::int64_t r = row; r < row + rows; ++r) {
    const T* bias = p.bias.data == nullptr ? nullptr : p.bias.from(r, first).data;
    scale_row(p.alpha, p.beta, bias, p.bias.columns, count, p.c + r * p.n + first);
  }
}

template <typename T>
void multiply_rows(const Product<T>& p, std::int64_t row, std::int64_t rows, const Panels<T>& right,
                   std::vector<T>& copy) {
  T* to = p.c + row * p.n;
  std::fill_n(to, rows * p.n, T{0});
  right.add_product(left_rows(p.a.from(row, 0), rows, p.k, copy), rows, {to, p.n});
  finish(p, row, rows, 0, p.n);
}

/// Columns [first, first + count) of a product of few rows.
template <typename T>
void multiply_columns(const Product<T>& p, Rows<const T> left, std::int64_t first,
                      std::int64_t count) {
  T* to = p.c + first;
  for (std::int64_t r = 0; r < p.m; ++r) std::fill_n(to + r * p.n, count, T{0});
  const Matrix<T> b = p.b.from(0, first);
  if (b.columns == 1) {
    add_product<T>(left, p.m, p.k, {b.data, b.rows}, {to, p.n}, count);
  } else if constexpr (std::is_floating_point_v<T>) {  // as Gemm alone has them
    add_dot_products<T>(left, p.m, {b.data, b.columns}, count, p.k, {to, p.n});
  }
  finish(p, 0, p.m, first, count);
}

template <typename T>
void multiply_few(const Product<T>& p, Threads& threads) {
  constexpr std::int64_t kBlock = 128;  // columns: eight long vectors
  std::vector<T> copy;
  const Rows<const T> left = left_rows(p.a, p.m, p.k, copy);
  const double cost = static_cast<double>(p.m * p.k * kBlock) / kProductsPerNs;
  threads.share(ceil_div(p.n, kBlock), cost, [&](std::int64_t begin, std::int64_t end) {
    multiply_columns(p, left, begin * kBlock, std::min(p.n, end * kBlock) - begin * kBlock);
  });
}

/// Few rows and a factor that is packed: threads share the panels.
template <typename T>
void multiply_few_by_panels(const Product<T>& p, Threads& threads) {
  constexpr std::int64_t kColumns = Panels<T>::kColumns;
  std::vector<T> copy;
  const Rows<const T> left = left_rows(p.a, p.m, p.k, copy);
  const double cost = static_cast<double>(p.m * p.k * kColumns) / kProductsPerNs;
  threads.share(p.packed->count(), cost, [&](std::int64_t begin, std::int64_t end) {
    const std::int64_t first = begin * kColumns, count = std::min(p.n, end * kColumns) - first;
    for (std::int64_t r = 0; r < p.m; ++r) std::fill_n(p.c + r * p.n + first, count, T{0});
    p.packed->add_panels(left, p.m, {p.c, p.n}, begin, end);
    finish(p, 0, p.m, first, count);
  });
}

/// Rows of a left factor that comes from memory and meets few columns: blocks of several short rows are read, which no prefetcher follows, so
/// they are asked for ahead, in order.
template <typename T>
class Stream {
 public:
  explicit Stream(const Product<T>& p) : p_(p), row_bytes_(p.k * std::int64_t{sizeof(T)}) {
    const bool is_stream = p.a.columns == 1 && p.a.rows == p.k && p.n <= kMostColumns &&
                           row_bytes_ <= kMostBytes && p.m * row_bytes_ > kNear;
    if (is_stream)
      rows_ = std::clamp<std::int64_t>(kAtOnce / row_bytes_ / kBlock * kBlock, kBlock, kRows);
  }

  /// So many are multiplied at a time.
  std::int64_t rows() const { return rows_ > 0 ? rows_ : kRows; }

  void ask_behind(std::int64_t row) const {
    if (rows_ == 0) return;
    const std::int64_t first = std::min(p_.m, row + 2 * rows_), end = std::min(p_.m, first + rows_);
    const char* const from = reinterpret_cast<const char*>(p_.a.from(first, 0).data);
    for (std::int64_t i = 0; i < (end - first) * row_bytes_; i += 64) __builtin_prefetch(from + i);
  }

 private:
  static constexpr std::int64_t kMostColumns = 64, kMostBytes = 1024, kNear = 1 << 20,
                                kAtOnce = 4096, kBlock = 8;

  const Product<T>& p_;
  const std::int64_t row_bytes_;
  std::int64_t rows_ = 0;
};

template <typename T>
void multiply(const Product<T>& p, Threads& threads) {
  if (p.m == 0 || p.n == 0) return;
  if (p.m <= kFewRows)
    return p.packed ? multiply_few_by_panels(p, threads) : multiply_few(p, threads);
  const auto right =
      p.packed ? p.packed : std::make_shared<const Panels<T>>(p.b, p.k, p.n, threads);
  const double cost = static_cast<double>(p.k * p.n) / kProductsPerNs;  // of a row
  const Stream<T> stream(p);
  threads.share(p.m, cost, [&](std::int64_t begin, std::int64_t end) {
    std::vector<T> copy;
    for (std::int64_t row = begin; row < end; row += stream.rows()) {
      stream.ask_behind(row);
      multiply_rows(p, row, std::min(stream.rows(), end - row), *right, copy);
    }
  });
}

/// Several of one size: threads share them where none is large.
template <typename T>
void multiply_all(const std::vector<Product<T>>& products, Threads& threads) {
  if (products.empty()) return;
  const Product<T>& one = products.front();
  const double cost = static_cast<double>(one.m * one.k * one.n) / kProductsPerNs;
  constexpr double kLargeNs = 1e6;
  if (products.size() == 1 || cost > kLargeNs) {
    for (const Product<T>& each : products) multiply(each, threads);
    return;
  }
  threads.share(std::ssize(products), cost, [&](std::int64_t begin, std::int64_t end) {
    OneThread alone;
    for (std::int64_t i = begin; i < end; ++i)
      multiply(products[static_cast<std::size_t>(i)], alone);
  });
}

/// More than one matrix.
bool is_stack(const Shape& shape) {
  return std::any_of(shape.begin(), shape.end() - 2, [](std::int64_t dim) { return dim > 1; });
}

/// Of float or double.
template <typename T>
void run_small(const Run& run, const reference::MatMulShape& s, const SmallProducts& products) {
  std::vector<SmallProducts::Pair> pairs;
  for_each_product(s, [&](std::int64_t a, std::int64_t b, std::int64_t) {
    pairs.push_back({a, b});
  });
  const auto elements = [&](std::size_t i) {
    return std::span(run.inputs[i].template as<const T>(),
                     static_cast<std::size_t>(run.inputs[i].elements()));
  };
  const double cost = 5 + static_cast<double>(s.m * s.k) / 2;
  run.threads.share(std::ssize(pairs), cost, [&](std::int64_t begin, std::int64_t end) {
    products.multiply<T>(elements(0), elements(1),
                         std::span(pairs).subspan(static_cast<std::size_t>(begin),
                                                  static_cast<std::size_t>(end - begin)),
                         run.output(0).template as<T>() + begin * s.m * s.n);
  });
}

template <typename T>
void run_matmul(const Run& run) {
  if (run.output(0).data == nullptr) return;
  const reference::MatMulShape s = reference::matmul_shape(run.shape(0), run.shape(1));
  if constexpr (std::is_floating_point_v<T>)
    if (const SmallProducts small{s.m, s.k, s.n}; small.are_small() && is_stack(s.b))
      return run_small<T>(run, s, small);
  std::vector<Product<T>> products;
  T* c = run.output(0).template as<T>();
  for_each_product(s, [&](std::int64_t a, std::int64_t b, std::int64_t m) {
    products.push_back({.m = m,
                        .k = s.k,
                        .n = s.n,
                        .a = {run.inputs[0].template as<T>() + a * s.m * s.k, s.k, 1},
                        .b = {run.inputs[1].template as<T>() + b * s.k * s.n, s.n, 1},
                        .bias = {},
                        .c = c});
    c += m * s.n;
  });
  if (products.size() == 1) keep_panels(run, products[0]);
  multiply_all<T>(products, run.threads);
}

template <typename T>
Matrix<T> factor(const Run& run, std::size_t i, const char* transpose) {
  const T* data = run.inputs[i].template as<T>();
  const std::int64_t columns = run.shape(i)[1];
  return run.attrs.get_int(transpose, 0) != 0 ? Matrix<T>{data, 1, columns}
                                              : Matrix<T>{data, columns, 1};
}

template <typename T>
void run_gemm(const Run& run) {
  if (run.output(0).data == nullptr) return;
  const Shape& y = run.output(0).desc.shape;
  Product<T> product{.m = y[0],
                     .k = run.shape(0)[run.attrs.get_int("transA", 0) != 0 ? 0 : 1],
                     .n = y[1],
                     .a = factor<T>(run, 0, "transA"),
                     .b = factor<T>(run, 1, "transB"),
                     .bias = {},
                     .alpha = run.attrs.get_float("alpha", 1),
                     .beta = run.attrs.get_float("beta", 1),
                     .c = run.output(0).template as<T>()};
  if (run.has_input(2)) {
    const Shape strides = reference::broadcast_strides(run.shape(2), y);
    product.bias = {run.inputs[2].template as<T>(), strides[0], strides[1]};
  }
  keep_panels(run, product);
  multiply_all<T>({product}, run.threads);
}

}  // namespace

void register_matmul(KernelRegistry& registry) {
  using Types = reference::TypeList<float, double>;
  using Integers = reference::TypeList<std::int32_t, std::uint32_t, std::int64_t, std::uint64_t>;
  registry.add({.type = "MatMulV2",
                .supports = [](const Question& question) -> Result<void> {
                  if (takes_types(question, Integers{})) return {};
                  return takes_one_float_type(question);
                },
                .run = by_type<reference::Join<Types, Integers>>([]<typename T>(const Run& run) {
                  // Without a sign and with one they are the same bits.
                  if constexpr (std::is_integral_v<T>)
                    run_matmul<std::make_signed_t<T>>(run);
                  else
                    run_matmul<T>(run);
                }),
                .is_for_open_sizes = always});
  registry.add({.type = "Gemm",
                .supports = takes_one_float_type,
                .run = by_type<Types>([]<typename T>(const Run& run) { run_gemm<T>(run); }),
                .is_for_open_sizes = always});
}

}  // namespace aoe::native
