// Products of float32 matrices whose sizes are known when the model runs; where compilers know them, generated code is faster.
// Both factors are copied: rows of the left one, and panels of columns of the right one, once for all of its rows.
#include <algorithm>
#include <vector>

#include "native/kernel.h"
#include "native/product.h"
#include "reference/broadcast.h"
#include "reference/matrix.h"
#include "reference/strided.h"

namespace aoe::native {
namespace {

constexpr std::int64_t kColumns = 16;  ///< of a panel
constexpr std::int64_t kRows =
    64;  ///< of the left factor that meet all panels, one after the other

/// Element (row, column) of a matrix lies at row * rows + column * columns.
struct Matrix {
  const float* data;
  std::int64_t rows, columns;
};

/// What is added to the products: element (row, column) of it as of a Matrix; nothing where data is null.
struct Product {
  std::int64_t m, k, n;
  Matrix a, b, bias;
  float alpha = 1, beta = 1;
  float* c;  ///< m x n
};

std::int64_t panels_of(std::int64_t columns) {
  return (columns + kColumns - 1) / kColumns;
}

/// k rows of kColumns columns from `first` on, zeros beyond the last.
void pack_panel(const Product& p, std::int64_t first, float* to) {
  const std::int64_t count = std::min(kColumns, p.n - first);
  for (std::int64_t i = 0; i < p.k; ++i, to += kColumns) {
    const float* from = p.b.data + i * p.b.rows + first * p.b.columns;
    for (std::int64_t j = 0; j < count; ++j) to[j] = from[j * p.b.columns];
    std::fill(to + count, to + kColumns, 0.0f);
  }
}

/// Room for the rows of one part.
struct Room {
  explicit Room(const Product& p)
      : left(static_cast<std::size_t>(kRows * p.k)),
        sums(static_cast<std::size_t>(kRows * kColumns)) {}
  std::vector<float> left, sums;
};

void store(const Product& p, std::int64_t first_row, std::int64_t rows, std::int64_t first,
           const float* sums) {
  const std::int64_t count = std::min(kColumns, p.n - first);
  for (std::int64_t r = 0; r < rows; ++r, sums += kColumns) {
    float* to = p.c + (first_row + r) * p.n + first;
    if (p.bias.data == nullptr) {
      for (std::int64_t j = 0; j < count; ++j) to[j] = p.alpha * sums[j];
      continue;
    }
    const float* bias = p.bias.data + (first_row + r) * p.bias.rows + first * p.bias.columns;
    for (std::int64_t j = 0; j < count; ++j)
      to[j] = p.alpha * sums[j] + p.beta * bias[j * p.bias.columns];
  }
}

void multiply_rows(const Product& p, std::int64_t first_row, std::int64_t rows, const float* packed,
                   Room& room) {
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t i = 0; i < p.k; ++i)
      room.left[static_cast<std::size_t>(r * p.k + i)] =
          p.a.data[(first_row + r) * p.a.rows + i * p.a.columns];
  for (std::int64_t panel = 0; panel < panels_of(p.n); ++panel) {
    std::fill_n(room.sums.data(), rows * kColumns, 0.0f);
    add_product(room.left.data(), rows, p.k, {packed + panel * p.k * kColumns, kColumns},
                {room.sums.data(), kColumns}, kColumns);
    store(p, first_row, rows, panel * kColumns, room.sums.data());
  }
}

void multiply(const Product& p, Threads& threads, std::vector<float>& packed) {
  if (p.m == 0 || p.n == 0) return;
  const std::int64_t panels = panels_of(p.n);
  packed.resize(static_cast<std::size_t>(panels * p.k * kColumns));
  threads.share(panels, static_cast<double>(p.k * kColumns),
                [&](std::int64_t begin, std::int64_t end) {
                  for (std::int64_t panel = begin; panel < end; ++panel)
                    pack_panel(p, panel * kColumns, packed.data() + panel * p.k * kColumns);
                });
  const double cost = static_cast<double>(p.k * p.n) / 20;  // of a row
  threads.share(p.m, cost, [&](std::int64_t begin, std::int64_t end) {
    Room room(p);
    for (std::int64_t row = begin; row < end; row += kRows)
      multiply_rows(p, row, std::min(kRows, end - row), packed.data(), room);
  });
}

void run_matmul(const Run& run) {
  if (run.output(0).data == nullptr) return;
  const reference::MatMulShape s = reference::matmul_shape(run.shape(0), run.shape(1));
  const Shape a_batch(s.a.begin(), s.a.end() - 2), b_batch(s.b.begin(), s.b.end() - 2);
  const std::array strides = {reference::broadcast_strides(a_batch, s.batch),
                              reference::broadcast_strides(b_batch, s.batch)};
  std::vector<float> packed;
  float* c = run.output(0).as<float>();
  // A stack whose right factor is one matrix is one product of all rows.
  const bool is_one =
      element_count(b_batch) == 1 && element_count(a_batch) == element_count(s.batch);
  const auto multiply_at = [&](std::int64_t a, std::int64_t b, std::int64_t m) {
    multiply({.m = m,
              .k = s.k,
              .n = s.n,
              .a = {run.inputs[0].as<float>() + a * s.m * s.k, s.k, 1},
              .b = {run.inputs[1].as<float>() + b * s.k * s.n, s.n, 1},
              .bias = {},
              .c = c},
             run.threads, packed);
    c += m * s.n;
  };
  if (is_one) return multiply_at(0, 0, element_count(s.batch) * s.m);
  reference::for_each_row(
      s.batch, strides, [&](const auto& offsets, const auto& steps, std::int64_t count) {
        for (std::int64_t i = 0; i < count; ++i)
          multiply_at(offsets[0] + i * steps[0], offsets[1] + i * steps[1], s.m);
      });
}

Matrix factor(const Run& run, std::size_t i, const char* transpose) {
  const float* data = run.inputs[i].as<float>();
  const std::int64_t columns = run.shape(i)[1];
  return run.attrs.get_int(transpose, 0) != 0 ? Matrix{data, 1, columns} : Matrix{data, columns, 1};
}

void run_gemm(const Run& run) {
  if (run.output(0).data == nullptr) return;
  const Shape& y = run.output(0).desc.shape;
  Product product{.m = y[0],
                  .k = run.shape(0)[run.attrs.get_int("transA", 0) != 0 ? 0 : 1],
                  .n = y[1],
                  .a = factor(run, 0, "transA"),
                  .b = factor(run, 1, "transB"),
                  .bias = {},
                  .alpha = run.attrs.get_float("alpha", 1),
                  .beta = run.attrs.get_float("beta", 1),
                  .c = run.output(0).as<float>()};
  if (run.has_input(2)) {
    const Shape strides = reference::broadcast_strides(run.shape(2), y);
    product.bias = {run.inputs[2].as<float>(), strides[0], strides[1]};
  }
  std::vector<float> packed;
  multiply(product, run.threads, packed);
}

}  // namespace

void register_matmul(KernelRegistry& registry) {
  registry.add({.type = "MatMulV2",
                .supports = takes_floats(2),
                .run = run_matmul,
                .is_for_open_sizes = always});
  registry.add(
      {.type = "Gemm", .supports = takes_floats(3), .run = run_gemm, .is_for_open_sizes = always});
}

}  // namespace aoe::native
