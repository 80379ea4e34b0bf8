// MatrixInverse and Det: Gaussian elimination with row pivoting in float64, step for step that of the reference. Columns of an
// inverse are solved in strips, whose sums stay in registers.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <utility>
#include <vector>

#include "native/by_type.h"
#include "native/kernel.h"
#include "native/wide.h"

namespace aoe::native {
namespace {

constexpr double kStepNs = 0.1;  ///< of a product that is added

/// A square matrix as factors: below the diagonal what was taken of rows above, the rest what became of it.
struct Factors {
  std::vector<double> a;           ///< n x n
  std::vector<std::int64_t> rows;  ///< where each row came from
  std::int64_t n;
  bool is_odd = false;  ///< number of rows that were exchanged
};

AOE_WIDE_EXACT void take_away(double* __restrict row, const double* __restrict from, double factor,
                              std::int64_t count) {
  for (std::int64_t j = 0; j < count; ++j) row[j] -= factor * from[j];
}

void exchange_rows(Factors& f, std::int64_t k, std::int64_t pivot) {
  std::swap_ranges(&f.a[static_cast<std::size_t>(k * f.n)],
                   &f.a[static_cast<std::size_t>(k * f.n)] + f.n,
                   &f.a[static_cast<std::size_t>(pivot * f.n)]);
  std::swap(f.rows[static_cast<std::size_t>(k)], f.rows[static_cast<std::size_t>(pivot)]);
  f.is_odd = !f.is_odd;
}

void factorise(Factors& f) {
  double* a = f.a.data();
  const std::int64_t n = f.n;
  std::iota(f.rows.begin(), f.rows.end(), 0);
  f.is_odd = false;
  for (std::int64_t k = 0; k < n; ++k) {
    std::int64_t pivot = k;
    for (std::int64_t i = k + 1; i < n; ++i)
      if (std::abs(a[i * n + k]) > std::abs(a[pivot * n + k])) pivot = i;
    if (pivot != k) exchange_rows(f, k, pivot);
    const double diagonal = a[k * n + k];
    for (std::int64_t i = k + 1; i < n; ++i) {
      const double factor = diagonal == 0 ? 0 : a[i * n + k] / diagonal;
      a[i * n + k] = factor;
      if (diagonal == 0) continue;
      take_away(a + i * n + k + 1, a + k * n + k + 1, factor, n - k - 1);
    }
  }
}

/// A vector; lives in functions that are AOE_WIDE. Numbers in memory are not aligned as it is: they are copied.
using Doubles = double __attribute__((vector_size(32)));
constexpr int kDoubles = 4;

/// Of x, `Rows` rows from `row` on less the rows [begin, end), each times its number in their `factors`, which lie `n`
/// apart. Rows of x are V vectors.
template <int V, int Rows>
AOE_WIDE_EXACT void subtract_rows(const double* factors, std::int64_t n, double* x,
                                  std::int64_t row, std::int64_t begin, std::int64_t end) {
  constexpr std::int64_t kWidth = V * kDoubles;
  Doubles sums[Rows][V];
  double* const rows = x + row * kWidth;
  for (int r = 0; r < Rows; ++r)
    for (int v = 0; v < V; ++v)
      std::memcpy(&sums[r][v], rows + r * kWidth + v * kDoubles, sizeof sums[r][v]);
  for (std::int64_t i = begin; i < end; ++i)
    for (int v = 0; v < V; ++v) {
      Doubles from;
      std::memcpy(&from, x + i * kWidth + v * kDoubles, sizeof from);
      for (int r = 0; r < Rows; ++r) sums[r][v] -= factors[r * n + i] * from;
    }
  for (int r = 0; r < Rows; ++r)
    for (int v = 0; v < V; ++v)
      std::memcpy(rows + r * kWidth + v * kDoubles, &sums[r][v], sizeof sums[r][v]);
}

template <int V>
void divide_row(double* x, std::int64_t row, double diagonal) {
  for (std::int64_t j = 0; j < V * kDoubles; ++j) x[row * V * kDoubles + j] /= diagonal;
}

/// Columns from `first` on of the inverse: rows of V vectors.
template <int V>
void solve_strip(const Factors& f, std::int64_t first, std::vector<double>& x) {
  constexpr std::int64_t kWidth = V * kDoubles;
  const std::int64_t n = f.n;
  const double* a = f.a.data();
  std::ranges::fill(x, 0.0);
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int64_t column = f.rows[static_cast<std::size_t>(i)] - first;
    if (column >= 0 && column < kWidth) x[static_cast<std::size_t>(i * kWidth + column)] = 1;
  }
  for (std::int64_t i = 0; i < n; i += 2) {
    if (i + 1 == n) {
      subtract_rows<V, 1>(a + i * n, n, x.data(), i, 0, i);
      break;
    }
    subtract_rows<V, 2>(a + i * n, n, x.data(), i, 0, i);
    subtract_rows<V, 1>(a + (i + 1) * n, n, x.data(), i + 1, i, i + 1);
  }
  std::int64_t k = n;
  if (n % 2 == 1) {
    --k;
    divide_row<V>(x.data(), k, a[k * n + k]);
  }
  for (k -= 2; k >= 0; k -= 2) {
    subtract_rows<V, 2>(a + k * n, n, x.data(), k, k + 2, n);
    divide_row<V>(x.data(), k + 1, a[(k + 1) * n + k + 1]);
    subtract_rows<V, 1>(a + k * n, n, x.data(), k, k + 1, k + 2);
    divide_row<V>(x.data(), k, a[k * n + k]);
  }
}

Factors factors_for(std::int64_t n) {
  const auto size = static_cast<std::size_t>(n);
  return {.a = std::vector<double>(size * size), .rows = std::vector<std::int64_t>(size), .n = n};
}

template <typename T>
void factors_of(const T* x, Factors& f) {
  std::transform(x, x + f.n * f.n, f.a.begin(),
                 [](T value) { return reference::convert<double>(value); });
  factorise(f);
}

double cube(std::int64_t n) {
  return static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(n);
}

std::int64_t count_matrices(const Run& run) {
  const Shape& shape = run.shape(0);
  return element_count(Shape(shape.begin(), shape.end() - 2));
}

/// y = strips [begin, end) of the inverse.
template <int V, typename T>
void solve_strips(const Factors& f, std::int64_t begin, std::int64_t end, T* y) {
  constexpr std::int64_t kWidth = V * kDoubles;
  std::vector<double> strip(static_cast<std::size_t>(f.n * kWidth));
  for (std::int64_t s = begin; s < end; ++s) {
    const std::int64_t first = s * kWidth, columns = std::min(kWidth, f.n - first);
    solve_strip<V>(f, first, strip);
    for (std::int64_t i = 0; i < f.n; ++i)
      for (std::int64_t j = 0; j < columns; ++j)
        y[i * f.n + first + j] =
            reference::convert<T>(strip[static_cast<std::size_t>(i * kWidth + j)]);
  }
}

/// Threads share the matrices, or the strips of a single one.
template <int V, typename T>
void invert_by(const Run& run, std::int64_t n, std::int64_t count) {
  const T* x = run.inputs[0].as<T>();
  T* y = run.output(0).as<T>();
  const std::int64_t strips = (n + V * kDoubles - 1) / (V * kDoubles);
  const double cost = kStepNs * cube(n);
  if (count == 1) {
    Factors f = factors_for(n);
    factors_of(x, f);
    return run.threads.share(
        strips, cost / static_cast<double>(strips),
        [&](std::int64_t begin, std::int64_t end) { solve_strips<V>(f, begin, end, y); });
  }
  run.threads.share(count, cost, [&](std::int64_t begin, std::int64_t end) {
    Factors f = factors_for(n);
    for (std::int64_t i = begin; i < end; ++i) {
      factors_of(x + i * n * n, f);
      solve_strips<V>(f, 0, strips, y + i * n * n);
    }
  });
}

template <typename T>
void invert(const Run& run) {
  const std::int64_t n = run.shape(0).back(), count = count_matrices(run);
  if (run.output(0).data == nullptr || n == 0 || count == 0) return;
  if (n <= kDoubles) return invert_by<1, T>(run, n, count);
  invert_by<4, T>(run, n, count);
}

double determinant(const Factors& f) {
  double result = 1;
  for (std::int64_t k = 0; k < f.n; ++k) {
    const double diagonal = f.a[static_cast<std::size_t>(k * f.n + k)];
    if (diagonal == 0) return 0;
    result *= diagonal;
  }
  return f.is_odd ? -result : result;
}

template <typename T>
void find_determinants(const Run& run) {
  if (run.output(0).data == nullptr) return;
  const std::int64_t n = run.shape(0).back();
  const T* x = run.inputs[0].as<T>();
  T* y = run.output(0).as<T>();
  const double cost = kStepNs * cube(n) / 3;
  run.threads.share(count_matrices(run), cost, [&](std::int64_t begin, std::int64_t end) {
    Factors f = factors_for(n);
    for (std::int64_t i = begin; i < end; ++i) {
      factors_of(x + i * n * n, f);
      y[i] = reference::convert<T>(determinant(f));
    }
  });
}

}  // namespace

void register_inverse(KernelRegistry& registry) {
  registry.add(
      {.type = "MatrixInverse",
       .supports = takes_all,
       .run = by_type<reference::FloatTypes>([]<typename T>(const Run& run) { invert<T>(run); })});
  registry.add({.type = "Det",
                .supports = takes_all,
                .run = by_type<reference::FloatTypes>(
                    []<typename T>(const Run& run) { find_determinants<T>(run); })});
}

}  // namespace aoe::native
