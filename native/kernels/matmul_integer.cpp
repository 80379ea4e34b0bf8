// MatMulInteger whose sizes are known when the model runs, and of zero points that generated code does not take. Bytes are moved so
// that the left factor's have no sign and the right one's have: then each step of a sum is four products. What the zero points,
// moved with them, take off is added up beside the products.
#include <algorithm>
#include <array>
#include <vector>

#include "native/kernel.h"
#include "native/matrix_stack.h"
#include "native/product.h"
#include "native/wide.h"
#include "reference/matrix.h"
#include "reference/quantize.h"

namespace aoe::native {
namespace {

constexpr std::int64_t kColumns = 32;  ///< of a panel of the right factor
constexpr std::int64_t kDepth = 192;   ///< quads of a panel that the first-level cache keeps
constexpr std::int64_t kRows = 60;     ///< that meet them, in blocks of six
constexpr std::int64_t kTileRows = 4 * kRows;  ///< for which a thread packs a panel
constexpr double kProductsPerNs = 100;

std::int64_t quads_of(std::int64_t bytes) {
  return (bytes + 3) / 4;
}

/// to[i] = from[i] with the bits `flipped` the other way. Returns the sum of what it wrote.
AOE_WIDE Quad flip(const std::uint8_t* from, std::uint8_t flipped, std::int64_t count,
                   std::uint8_t* __restrict to) {
  Quad sum = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const auto byte = static_cast<std::uint8_t>(from[i] ^ flipped);
    sum += byte;
    to[i] = byte;
  }
  return sum;
}

constexpr std::int64_t kBytes = 16;
using Bytes __attribute__((vector_size(kBytes))) = std::uint8_t;
using Words __attribute__((vector_size(kBytes))) = std::uint16_t;
using LooseBytes __attribute__((vector_size(kBytes), aligned(1), may_alias)) = std::uint8_t;
using LooseWords __attribute__((vector_size(kBytes), aligned(alignof(Quad)), may_alias)) =
    std::uint16_t;

Words low_pairs(Bytes a, Bytes b) {
  return reinterpret_cast<Words>(
      __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23));
}
Words high_pairs(Bytes a, Bytes b) {
  return reinterpret_cast<Words>(
      __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31));
}
void store_quads(Words first, Words second, Quad* to) {
  auto* words = reinterpret_cast<LooseWords*>(to);
  words[0] = __builtin_shufflevector(first, second, 0, 8, 1, 9, 2, 10, 3, 11);
  words[1] = __builtin_shufflevector(first, second, 4, 12, 5, 13, 6, 14, 7, 15);
}

/// to[j] = bytes j of four rows, with the bits `flipped` the other way.
void interleave(const std::array<const std::uint8_t*, 4>& rows, std::uint8_t flipped, Quad* to) {
  for (std::int64_t j = 0; j < kColumns; j += kBytes) {
    Bytes row[4];
    for (std::size_t i = 0; i < 4; ++i)
      row[i] = *reinterpret_cast<const LooseBytes*>(rows[i] + j) ^ flipped;
    store_quads(low_pairs(row[0], row[1]), low_pairs(row[2], row[3]), to + j);
    store_quads(high_pairs(row[0], row[1]), high_pairs(row[2], row[3]), to + j + kBytes / 2);
  }
}

/// What zero points take off a row of products: (a - za) * (b - zb) over all steps is the products less za * b, zb * a and, as both
/// took it off, more za * zb. `row`: the sum of a less that of za.
AOE_WIDE void take_off(const Quad* products, Quad left_zero, const Quad* right_sums, Quad row,
                       const Quad* right_zeros, std::int64_t columns, std::int32_t* __restrict to) {
  for (std::int64_t j = 0; j < columns; ++j)
    to[j] =
        static_cast<std::int32_t>(products[j] - left_zero * right_sums[j] - row * right_zeros[j]);
}

/// A factor's bytes, and what makes them unsigned ones of the left or signed ones of the right: the zero points move as they do.
/// Numbers wrap.
struct Factor {
  const std::uint8_t* data;
  std::uint8_t flipped;
  std::vector<Quad> zeros;  ///< one, or one for each row or column
  Quad zero(std::int64_t i) const {
    return zeros.size() == 1 ? zeros[0] : zeros[static_cast<std::size_t>(i)];
  }
};

Factor factor_of(const Run& run, std::size_t i) {
  const bool is_signed = run.inputs[i].desc.dtype == DataType::kInt8, is_left = i == 0;
  const bool moves = is_signed == is_left;
  Factor factor{run.inputs[i].as<std::uint8_t>(), static_cast<std::uint8_t>(moves ? 0x80 : 0), {}};
  const std::int32_t moved = !moves ? 0 : is_left ? 128 : -128;
  for (const double zero : reference::quant_parameter(run.inputs, i + 2, 0))
    factor.zeros.push_back(static_cast<Quad>(static_cast<std::int32_t>(zero) + moved));
  return factor;
}

/// The left factor of all products: rows of whole quads, and the sum of each.
class LeftRows {
 public:
  LeftRows(const Factor& factor, std::int64_t rows, std::int64_t length, Threads& threads)
      : quads_(quads_of(length)),
        packed_(static_cast<std::size_t>(rows * quads_)),
        sums_(static_cast<std::size_t>(rows)) {
    threads.share(rows, static_cast<double>(length) / 16,
                  [&](std::int64_t begin, std::int64_t end) {
                    for (std::int64_t r = begin; r < end; ++r)
                      sums_[static_cast<std::size_t>(r)] =
                          flip(factor.data + r * length, factor.flipped, length,
                               reinterpret_cast<std::uint8_t*>(packed_.data() + r * quads_));
                  });
  }

  Rows<const Quad> from(std::int64_t row, std::int64_t quad) const {
    return {packed_.data() + row * quads_ + quad, quads_};
  }
  Quad sum(std::int64_t row) const { return sums_[static_cast<std::size_t>(row)]; }

 private:
  std::int64_t quads_;
  std::vector<Quad> packed_;
  std::vector<Quad> sums_;
};

/// kColumns columns of the right factor, and their sums.
class Panel {
 public:
  explicit Panel(std::int64_t length)
      : length_(length),
        quads_(quads_of(length)),
        packed_(static_cast<std::size_t>(quads_ * kColumns)) {}

  /// From `columns` columns of rows of `stride` bytes; those behind them are zeros.
  void pack(const std::uint8_t* from, std::uint8_t flipped, std::int64_t stride,
            std::int64_t columns) {
    for (std::int64_t quad = 0; quad < quads_; ++quad) {
      const std::int64_t rows = std::min<std::int64_t>(4, length_ - quad * 4);
      std::array<const std::uint8_t*, 4> read;
      std::uint8_t copies[4][kColumns];
      for (std::int64_t i = 0; i < 4; ++i) {
        const std::uint8_t* row = i < rows ? from + (quad * 4 + i) * stride : nullptr;
        read[i] = row;
        if (row != nullptr && columns == kColumns) continue;
        std::fill_n(copies[i], kColumns, flipped);  // zeros when they are flipped
        if (row != nullptr) std::copy_n(row, columns, copies[i]);
        read[i] = copies[i];
      }
      interleave(read, flipped, packed_.data() + quad * kColumns);
    }
    const std::vector<Quad> ones(static_cast<std::size_t>(quads_), 0x01010101u);
    std::fill_n(sums_, kColumns, Quad{0});
    add_product<Quad>({ones.data(), quads_}, 1, quads_, {packed_.data(), kColumns},
                      {sums_, kColumns}, kColumns);
  }

  Rows<const Quad> from(std::int64_t quad) const {
    return {packed_.data() + quad * kColumns, kColumns};
  }
  std::int64_t quads() const { return quads_; }
  const Quad* sums() const { return sums_; }

 private:
  std::int64_t length_, quads_;
  std::vector<Quad> packed_;
  Quad sums_[kColumns];
};

/// All products of two stacks of matrices.
class Products {
 public:
  Products(const Run& run, const reference::MatMulShape& shape)
      : m_(shape.m),
        k_(shape.k),
        n_(shape.n),
        a_(factor_of(run, 0)),
        b_(factor_of(run, 1)),
        left_(a_, element_count(run.shape(0)) / std::max<std::int64_t>(k_, 1), k_, run.threads),
        y_(run.output(0).as<std::int32_t>()) {}

  /// Of matrix `a` of the left factor and the `rows` / m behind it with matrix `b` of the right one.
  void add(std::int64_t a, std::int64_t b, std::int64_t rows) {
    for (std::int64_t row = 0; row < rows; row += kTileRows)
      for (std::int64_t column = 0; column < n_; column += kColumns)
        tiles_.push_back({.left_row = a * m_ + row,
                          .rows = std::min(kTileRows, rows - row),
                          .right = b_.data + b * k_ * n_ + column,
                          .column = column,
                          .y = y_ + row * n_ + column});
    y_ += rows * n_;
  }

  void run(Threads& threads) const {
    if (tiles_.empty()) return;
    const double cost = static_cast<double>(tiles_[0].rows * kColumns * k_) / kProductsPerNs;
    threads.share(std::ssize(tiles_), cost, [&](std::int64_t begin, std::int64_t end) {
      Panel panel(k_);
      const std::uint8_t* packed = nullptr;
      for (std::int64_t i = begin; i < end; ++i) {
        const Tile& tile = tiles_[static_cast<std::size_t>(i)];
        if (tile.right != packed)
          panel.pack(tile.right, b_.flipped, n_, std::min(kColumns, n_ - tile.column));
        packed = tile.right;
        for (std::int64_t row = 0; row < tile.rows; row += kRows)
          multiply(tile, row, std::min(kRows, tile.rows - row), panel);
      }
    });
  }

 private:
  struct Tile {
    std::int64_t left_row, rows;
    const std::uint8_t* right;
    std::int64_t column;
    std::int32_t* y;
  };

  void multiply(const Tile& tile, std::int64_t row, std::int64_t rows, const Panel& panel) const {
    const std::int64_t columns = std::min(kColumns, n_ - tile.column);
    Quad products[kRows * kColumns] = {}, right_zeros[kColumns];
    for (std::int64_t quad = 0; quad < panel.quads(); quad += kDepth)
      add_product<Quad>(left_.from(tile.left_row + row, quad), rows,
                        std::min(kDepth, panel.quads() - quad), panel.from(quad),
                        {products, kColumns}, kColumns);
    for (std::int64_t j = 0; j < columns; ++j) right_zeros[j] = b_.zero(tile.column + j);
    for (std::int64_t r = 0; r < rows; ++r) {
      const std::int64_t left_row = tile.left_row + row + r;
      const Quad zero = a_.zero(left_row % m_);
      take_off(products + r * kColumns, zero, panel.sums(),
               left_.sum(left_row) - zero * static_cast<Quad>(k_), right_zeros, columns,
               tile.y + (row + r) * n_);
    }
  }

  const std::int64_t m_, k_, n_;
  const Factor a_, b_;
  const LeftRows left_;
  std::int32_t* y_;
  std::vector<Tile> tiles_;
};

void run_matmul_integer(const Run& run) {
  const Tensor y = run.output(0);
  if (y.data == nullptr || y.elements() == 0) return;
  const reference::MatMulShape s = reference::matmul_shape(run.shape(0), run.shape(1));
  if (s.k == 0) return std::fill_n(y.as<std::int32_t>(), y.elements(), 0), void();
  Products products(run, s);
  for_each_product(
      s, [&](std::int64_t a, std::int64_t b, std::int64_t rows) { products.add(a, b, rows); });
  products.run(run.threads);
}

bool is_one_value(const Question& question, std::size_t i) {
  return !question.has_input(i) || element_count(question.inputs[i].shape) == 1;
}

/// One zero point for all, or for each row of the left factor and each column of the right one.
Result<void> supports_bytes(const Question& question) {
  for (std::size_t i = 0; i < 2; ++i)
    if (auto taken = takes_types(question, i, {DataType::kInt8, DataType::kUint8}); !taken)
      return taken;
  for (std::size_t i = 2; i < 4; ++i) {
    if (is_one_value(question, i)) continue;
    const std::size_t rank = question.inputs[i].shape.size();
    if (rank > 1 || question.inputs[i - 2].shape.size() < 2)
      return Unexpected("zero points of more than one axis, or of a vector");
  }
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
}

}  // namespace aoe::native
