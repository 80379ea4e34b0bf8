// MatMulInteger and QuantMatMul whose sizes are known when the model runs, and of zero points that generated code does not take.
#include <algorithm>
#include <vector>

#include "base/ceil_div.h"
#include "native/kernel.h"
#include "native/products/byte_product.h"
#include "native/products/matrix_stack.h"
#include "native/wide.h"
#include "reference/products/matrix.h"
#include "reference/tensors/axes.h"
#include "reference/tensors/quantize.h"

namespace aoe::native {
namespace {

constexpr std::int64_t kColumns = QuadPanel::kColumns;
constexpr std::int64_t kTileRows = 4 * QuadPanel::kMostRows;  ///< for which a thread packs a panel
constexpr double kProductsPerNs = 100;

/// What the sums of a column become: themselves, or real numbers.
struct ColumnEnding {
  std::vector<Quad> bias;          ///< one for each column
  std::vector<float> multipliers;  ///< the same; none of MatMulInteger
};

/// to[j] = (sums[j] + bias[j]) * multipliers[j].
AOE_WIDE void make_real(const std::int32_t* sums, const Quad* bias, const float* multipliers,
                        std::int64_t columns, float* __restrict to) {
  for (std::int64_t j = 0; j < columns; ++j)
    to[j] = static_cast<float>(static_cast<std::int32_t>(static_cast<Quad>(sums[j]) + bias[j])) *
            multipliers[j];
}

/// All products of two stacks of matrices. Y: std::int32_t, or float where there are multipliers.
template <typename Y>
class ByteProducts {
 public:
  /// `zeros`: the input that the left factor's zero points are; the right one's stand behind them.
  ByteProducts(const Run& run, const reference::MatMulShape& shape, std::size_t zeros,
               ColumnEnding ending = {})
      : m_(shape.m),
        k_(shape.k),
        n_(shape.n),
        is_turned_(run.attrs.get_int("transB", 0) != 0),
        a_(byte_factor(run, 0, zeros, true)),
        b_(byte_factor(run, 1, zeros + 1, false)),
        left_(a_, reference::dim_product(run.shape(0), 0, run.shape(0).size() - 1), k_,
              run.threads),
        ending_(std::move(ending)),
        y_(run.output(0).as<Y>()) {
    if (run.kept(1) == nullptr || k_ == 0) return;
    const std::int64_t matrices = run.inputs[1].elements() / (k_ * n_);
    packed_ = run.made_of(1, [&] { return pack_all(matrices * panels_, run.threads); });
  }

  /// Of matrix `a` of the left factor and the `rows` / m behind it with matrix `b` of the right one.
  void add(std::int64_t a, std::int64_t b, std::int64_t rows) {
    for (std::int64_t row = 0; row < rows; row += kTileRows)
      for (std::int64_t column = 0; column < n_; column += kColumns)
        tiles_.push_back({.left_row = a * m_ + row,
                          .rows = std::min(kTileRows, rows - row),
                          .panel = b * panels_ + column / kColumns,
                          .column = column,
                          .y = y_ + row * n_ + column});
    y_ += rows * n_;
  }

  void run(Threads& threads) const {
    if (tiles_.empty()) return;
    const double cost = static_cast<double>(tiles_[0].rows * kColumns * k_) / kProductsPerNs;
    threads.share(std::ssize(tiles_), cost, [&](std::int64_t begin, std::int64_t end) {
      QuadPanel own(packed_ ? 0 : k_);
      std::int64_t last = -1;
      for (std::int64_t i = begin; i < end; ++i) {
        const Tile& tile = tiles_[static_cast<std::size_t>(i)];
        if (!packed_ && tile.panel != last) pack(tile.panel, own);
        last = tile.panel;
        const QuadPanel& panel = packed_ ? (*packed_)[static_cast<std::size_t>(tile.panel)] : own;
        for (std::int64_t row = 0; row < tile.rows; row += QuadPanel::kMostRows)
          multiply(tile, row, std::min(QuadPanel::kMostRows, tile.rows - row), panel);
      }
    });
  }

 private:
  struct Tile {
    std::int64_t left_row, rows;
    std::int64_t panel, column;
    Y* y;
  };

  std::vector<QuadPanel> pack_all(std::int64_t count, Threads& threads) const {
    std::vector<QuadPanel> all = QuadPanel::many(count, k_);
    threads.share(count, static_cast<double>(k_), [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) pack(i, all[static_cast<std::size_t>(i)]);
    });
    return all;
  }

  /// Panel `number` of all matrices of the right factor.
  void pack(std::int64_t number, QuadPanel& panel) const {
    const std::int64_t column = number % panels_ * kColumns,
                       columns = std::min(kColumns, n_ - column);
    const std::uint8_t* const right =
        b_.data + number / panels_ * k_ * n_ + column * (is_turned_ ? k_ : 1);
    if (is_turned_) return panel.pack_turned(right, b_.flipped, k_, columns);
    panel.pack(b_.flipped, [&](std::int64_t i, std::uint8_t* copy) -> const std::uint8_t* {
      const std::uint8_t* row = right + i * n_;
      if (columns == kColumns) return row;
      std::fill(std::copy_n(row, columns, copy), copy + kColumns, b_.flipped);
      return copy;
    });
  }

  void multiply(const Tile& tile, std::int64_t row, std::int64_t rows,
                const QuadPanel& panel) const {
    const std::int64_t columns = std::min(kColumns, n_ - tile.column);
    Quad products[QuadPanel::kMostRows * kColumns], right_zeros[kColumns];
    panel.multiply(left_, tile.left_row + row, rows, columns, products);
    for (std::int64_t j = 0; j < columns; ++j) right_zeros[j] = b_.zero(tile.column + j);
    for (std::int64_t r = 0; r < rows; ++r) {
      const std::int64_t left_row = tile.left_row + row + r;
      const Quad zero = a_.zero(left_row % m_);
      std::int32_t sums[kColumns];
      take_off_zeros(products + r * kColumns, zero, panel.sums(),
                     left_.sum(left_row) - zero * static_cast<Quad>(k_), right_zeros, columns,
                     sums);
      finish(sums, tile.column, columns, tile.y + (row + r) * n_);
    }
  }

  void finish(const std::int32_t* sums, std::int64_t first, std::int64_t columns, Y* to) const {
    if constexpr (std::is_same_v<Y, float>)
      make_real(sums, ending_.bias.data() + first, ending_.multipliers.data() + first, columns, to);
    else
      std::copy_n(sums, columns, to);
  }

  const std::int64_t m_, k_, n_;
  const std::int64_t panels_ = ceil_div(n_, kColumns);  ///< of a matrix
  const bool is_turned_;                                ///< the right factor lies in columns
  const ByteFactor a_, b_;
  const QuadRows left_;
  std::shared_ptr<const std::vector<QuadPanel>> packed_;  ///< all panels, where they are kept
  const ColumnEnding ending_;
  Y* y_;
  std::vector<Tile> tiles_;
};

template <typename Y>
void multiply_all(const Run& run, const reference::MatMulShape& s, std::size_t zeros,
                  ColumnEnding ending) {
  ByteProducts<Y> products(run, s, zeros, std::move(ending));
  for_each_product(
      s, [&](std::int64_t a, std::int64_t b, std::int64_t rows) { products.add(a, b, rows); });
  products.run(run.threads);
}

void run_matmul_integer(const Run& run) {
  const Tensor& y = run.output(0);
  if (y.data == nullptr || y.elements() == 0) return;
  const reference::MatMulShape s = reference::matmul_shape(run.shape(0), run.shape(1));
  multiply_all<std::int32_t>(run, s, 2, {});
}

void run_quant_matmul(const Run& run) {
  const Tensor& y = run.output(0);
  if (y.data == nullptr || y.elements() == 0) return;
  Shape b = run.shape(1);
  if (run.attrs.get_int("transB", 0) != 0) std::swap(b[0], b[1]);
  const reference::MatMulShape s = reference::matmul_shape(run.shape(0), b);
  const std::vector<double> bias = reference::quant_parameter(run.inputs, 2, 0),
                            multipliers = reference::quant_parameter(run.inputs, 5, 1);
  ColumnEnding ending;
  for (std::int64_t j = 0; j < s.n; ++j) {
    ending.bias.push_back(
        static_cast<Quad>(static_cast<std::int32_t>(reference::parameter_at(bias, j))));
    ending.multipliers.push_back(static_cast<float>(reference::parameter_at(multipliers, j)));
  }
  multiply_all<float>(run, s, 3, std::move(ending));
}

bool is_one_value(const Question& question, std::size_t i) {
  return !question.has_input(i) || element_count(question.inputs[i].shape) == 1;
}

/// One zero point for all, or for each row of the left factor and each column of the right one.
Result<void> supports_bytes(const Question& question) {
  if (auto taken = takes_byte_factors(question); !taken) return taken;
  for (std::size_t i = 2; i < 4; ++i) {
    if (is_one_value(question, i)) continue;
    const std::size_t rank = question.inputs[i].shape.size();
    if (rank > 1 || question.inputs[i - 2].shape.size() < 2)
      return Unexpected("zero points of more than one axis, or of a vector");
  }
  return {};
}

/// With one zero point for the left factor, as passes write it.
Result<void> supports_quantised(const Question& question) {
  if (auto taken = takes_byte_factors(question); !taken) return taken;
  if (!is_one_value(question, 3)) return Unexpected("several zero points");
  return {};
}

bool has_one_zero_point(const Question& question) {
  return is_one_value(question, 2) && is_one_value(question, 3);
}

}  // namespace

void register_matmul_integer(KernelRegistry& registry) {
  registry.add({.type = "MatMulInteger",
                .supports = supports_bytes,
                .run = run_matmul_integer,
                .is_for_open_sizes = has_one_zero_point});
  registry.add({.type = "QuantMatMul",
                .supports = supports_quantised,
                .run = run_quant_matmul,
                .is_for_open_sizes = always});
}

}  // namespace aoe::native
