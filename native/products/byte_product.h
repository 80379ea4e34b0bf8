// Products of bytes, by what the processor multiplies four of at a time: the left factor's have no sign then and the right one's have, so
// bytes and zero points of other types are moved. What the zero points take off is added up beside the products.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "native/kernel.h"
#include "native/products/product.h"
#include "native/scratch.h"

namespace aoe::native {

/// Inputs 0 and 1 are bytes.
Result<void> takes_byte_factors(const Question& question);

/// A factor's bytes, and the bits to be flipped that move them. Numbers wrap.
struct ByteFactor {
  const std::uint8_t* data;
  std::uint8_t flipped;
  std::vector<Quad> zeros;  ///< moved alike: one, or one for each row or column

  Quad zero(std::int64_t i) const {
    return zeros.size() == 1 ? zeros[0] : zeros[static_cast<std::size_t>(i)];
  }
};

/// Input `i` of a run, whose zero points are input `zero`.
ByteFactor byte_factor(const Run& run, std::size_t i, std::size_t zero, bool is_left);

/// Rows of the left factor, in whole quads, and the sum of each.
class QuadRows {
 public:
  QuadRows(const ByteFactor& factor, std::int64_t rows, std::int64_t length, Threads& threads);
  /// The bytes of each as `write` leaves them, moved.
  QuadRows(std::int64_t rows, std::int64_t length, Threads& threads,
           const std::function<void(std::int64_t row, std::uint8_t* to)>& write);

  Rows<const Quad> from(std::int64_t row, std::int64_t quad) const {
    return {packed_.as<Quad>() + row * stride_ + quad, stride_};
  }
  Quad sum(std::int64_t row) const { return sums_[static_cast<std::size_t>(row)]; }

 private:
  std::int64_t quads_, stride_;
  Scratch packed_;
  std::vector<Quad> sums_;
};

/// kColumns columns of the right factor, and their sums.
class QuadPanel {
 public:
  static constexpr std::int64_t kColumns = 32;
  static constexpr std::int64_t kMostRows = 64;  ///< of products at a time, in blocks of eight

  explicit QuadPanel(std::int64_t length);
  /// So many, whose memory is asked for before it is taken.
  static std::vector<QuadPanel> many(std::int64_t count, std::int64_t length);

  static constexpr std::int64_t kSlack = 16;  ///< bytes behind a copy that may be written, too

  /// row(i, copy): where kColumns bytes of row `i` lie, or are copied to.
  template <typename Row>
  void pack(std::uint8_t flipped, const Row& row) {
    std::uint8_t copies[4][kColumns + kSlack] = {};
    for (std::int64_t quad = 0; quad < quads_; ++quad) {
      std::array<const std::uint8_t*, 4> read;
      for (std::int64_t i = 0; i < 4; ++i)
        read[static_cast<std::size_t>(i)] =
            quad * 4 + i < length_ ? row(quad * 4 + i, copies[i]) : nothing(flipped, copies[i]);
      interleave(read, flipped, packed_.data() + quad * kColumns);
    }
    add_up();
  }
  /// The same of columns that lie as rows do, `stride` bytes apart.
  void pack_turned(const std::uint8_t* from, std::uint8_t flipped, std::int64_t stride,
                   std::int64_t columns);

  /// products[r][j] = that of row `first` + r of the left factor and column j, of the first `columns` at least.
  void multiply(const QuadRows& left, std::int64_t first, std::int64_t rows, std::int64_t columns,
                Quad* products) const;
  const Quad* sums() const { return sums_; }

 private:
  static const std::uint8_t* nothing(std::uint8_t flipped, std::uint8_t* copy);
  /// to[j] = bytes j of four rows, with the bits `flipped` the other way.
  static void interleave(const std::array<const std::uint8_t*, 4>& rows, std::uint8_t flipped,
                         Quad* to);
  void add_up();

  std::int64_t length_, quads_;
  std::vector<Quad> packed_;
  Quad sums_[kColumns];
};

/// to[i] = bytes i of `rows` rows that lie `stride` bytes apart, four at most, with the bits `flipped` the other way; 0 of those that are not
/// there.
void interleave_rows(const std::uint8_t* from, std::int64_t stride, std::int64_t rows,
                     std::uint8_t flipped, std::int64_t count, Quad* to);

/// What zero points take off a row of products: (a - za) * (b - zb) over all steps is the products less za * b, zb * a and, as both
/// took it off, more za * zb. `row`: the sum of a less that of za.
void take_off_zeros(const Quad* products, Quad left_zero, const Quad* right_sums, Quad row,
                    const Quad* right_zeros, std::int64_t columns, std::int32_t* to);

}  // namespace aoe::native
