#include "native/products/byte_product.h"

#include <algorithm>
#include <cstring>

#include "base/memory.h"
#include "native/wide.h"
#include "reference/fail.h"
#include "reference/tensors/quantize.h"

namespace aoe::native {
namespace {

/// Rows whose distance is a multiple of this many quads lie in a few sets of the first-level cache: they are put apart by a line.
constexpr std::int64_t kSetQuads = 256, kLineQuads = 16;

std::int64_t quads_of(std::int64_t bytes) {
  return (bytes + 3) / 4;
}

/// to[i] = from[i] with the bits `flipped` the other way.
AOE_WIDE void flip(const std::uint8_t* from, std::uint8_t flipped, std::int64_t count,
                   std::uint8_t* __restrict to) {
  for (std::int64_t i = 0; i < count; ++i) to[i] = static_cast<std::uint8_t>(from[i] ^ flipped);
}

AOE_WIDE Quad sum_of(const std::uint8_t* x, std::int64_t count) {
  Quad sum = 0;
  for (std::int64_t i = 0; i < count; ++i) sum += x[i];
  return sum;
}

using Bytes = Lanes<std::uint8_t>::Vector;
using Words = Lanes<std::uint16_t>::Vector;
using LooseBytes = Lanes<std::uint8_t>::Loose;
using Quads = Lanes<Quad>::Vector;
using LooseQuads = Lanes<Quad>::Loose;
static_assert(sizeof(Bytes) == QuadPanel::kColumns);

/// Bytes i of a and b beside each other, of the first eight of each half.
AOE_WIDE inline Words low_pairs(Bytes a, Bytes b) {
  return reinterpret_cast<Words>(__builtin_shufflevector(a, b, 0, 32, 1, 33, 2, 34, 3, 35, 4, 36, 5,
                                                         37, 6, 38, 7, 39, 16, 48, 17, 49, 18, 50,
                                                         19, 51, 20, 52, 21, 53, 22, 54, 23, 55));
}
AOE_WIDE inline Words high_pairs(Bytes a, Bytes b) {
  return reinterpret_cast<Words>(
      __builtin_shufflevector(a, b, 8, 40, 9, 41, 10, 42, 11, 43, 12, 44, 13, 45, 14, 46, 15, 47,
                              24, 56, 25, 57, 26, 58, 27, 59, 28, 60, 29, 61, 30, 62, 31, 63));
}
/// The same of words: quads 0 to 3 and 16 to 19 of what low_pairs() gave.
AOE_WIDE inline Quads low_quads(Words a, Words b) {
  return reinterpret_cast<Quads>(
      __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 8, 24, 9, 25, 10, 26, 11, 27));
}
AOE_WIDE inline Quads high_quads(Words a, Words b) {
  return reinterpret_cast<Quads>(
      __builtin_shufflevector(a, b, 4, 20, 5, 21, 6, 22, 7, 23, 12, 28, 13, 29, 14, 30, 15, 31));
}
/// to[i] and to[16 + i] = halves of both.
AOE_WIDE inline void store_halves(Quads a, Quads b, Quad* to) {
  *reinterpret_cast<LooseQuads*>(to) = __builtin_shufflevector(a, b, 0, 1, 2, 3, 8, 9, 10, 11);
  *reinterpret_cast<LooseQuads*>(to + 16) =
      __builtin_shufflevector(a, b, 4, 5, 6, 7, 12, 13, 14, 15);
}

/// to[j] = bytes j of four rows.
AOE_WIDE inline void store_quads(const Bytes (&row)[4], Quad* to) {
  const Words low[] = {low_pairs(row[0], row[1]), low_pairs(row[2], row[3])},
              high[] = {high_pairs(row[0], row[1]), high_pairs(row[2], row[3])};
  store_halves(low_quads(low[0], low[1]), high_quads(low[0], low[1]), to);
  store_halves(low_quads(high[0], high[1]), high_quads(high[0], high[1]), to + 8);
}

}  // namespace

Result<void> takes_byte_factors(const Question& question) {
  for (std::size_t i = 0; i < 2; ++i)
    if (auto taken = takes_types(question, i, {DataType::kInt8, DataType::kUint8}); !taken)
      return taken;
  return {};
}

ByteFactor byte_factor(const Run& run, std::size_t i, std::size_t zero, bool is_left) {
  const bool is_signed = run.inputs[i].desc.dtype == DataType::kInt8;
  const bool moves = is_signed == is_left;
  ByteFactor factor{
      run.inputs[i].as<std::uint8_t>(), static_cast<std::uint8_t>(moves ? 0x80 : 0), {}};
  const std::int32_t moved = !moves ? 0 : is_left ? 128 : -128;
  for (const double each : reference::quant_parameter(run.inputs, zero, 0))
    factor.zeros.push_back(static_cast<Quad>(static_cast<std::int32_t>(each) + moved));
  if (factor.zeros.empty()) reference::fail_model("a zero point has no elements");
  return factor;
}

QuadRows::QuadRows(const ByteFactor& factor, std::int64_t rows, std::int64_t length,
                   Threads& threads)
    : QuadRows(rows, length, threads, [&](std::int64_t row, std::uint8_t* to) {
        flip(factor.data + row * length, factor.flipped, length, to);
      }) {
}

QuadRows::QuadRows(std::int64_t rows, std::int64_t length, Threads& threads,
                   const std::function<void(std::int64_t row, std::uint8_t* to)>& write)
    : quads_(quads_of(length)),
      stride_(quads_ % kSetQuads == 0 ? quads_ + kLineQuads : quads_),
      packed_(static_cast<std::size_t>(rows * stride_) * sizeof(Quad)),
      sums_(static_cast<std::size_t>(rows)) {
  if (quads_ == 0) return;
  threads.share(rows, static_cast<double>(length) / 16, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t r = begin; r < end; ++r) {
      Quad* const row = packed_.as<Quad>() + r * stride_;
      auto* const bytes = reinterpret_cast<std::uint8_t*>(row);
      row[quads_ - 1] = 0;  // of which bytes may be left over
      write(r, bytes);
      sums_[static_cast<std::size_t>(r)] = sum_of(bytes, length);
    }
  });
}

QuadPanel::QuadPanel(std::int64_t length)
    : length_(length),
      quads_(quads_of(length)),
      packed_(static_cast<std::size_t>(quads_ * kColumns)) {
}

std::vector<QuadPanel> QuadPanel::many(std::int64_t count, std::int64_t length) {
  check_memory(static_cast<std::uint64_t>(count * quads_of(length) * kColumns) * sizeof(Quad),
               "factors of bytes as a kernel reads them");
  return {static_cast<std::size_t>(count), QuadPanel(length)};
}

/// Zeros when they are flipped.
const std::uint8_t* QuadPanel::nothing(std::uint8_t flipped, std::uint8_t* copy) {
  std::fill_n(copy, kColumns, flipped);
  return copy;
}

AOE_WIDE void QuadPanel::interleave(const std::array<const std::uint8_t*, 4>& rows,
                                    std::uint8_t flipped, Quad* to) {
  Bytes row[4];
  for (std::size_t i = 0; i < 4; ++i)
    row[i] = *reinterpret_cast<const LooseBytes*>(rows[i]) ^ flipped;
  store_quads(row, to);
}

AOE_WIDE void interleave_rows(const std::uint8_t* from, std::int64_t stride, std::int64_t rows,
                              std::uint8_t flipped, std::int64_t count, Quad* to) {
  constexpr std::int64_t kAtOnce = sizeof(Bytes);
  std::int64_t i = 0;
  for (; i + kAtOnce <= count; i += kAtOnce) {
    Bytes row[4] = {};
    for (std::int64_t r = 0; r < 4; ++r)
      if (r < rows) row[r] = *reinterpret_cast<const LooseBytes*>(from + r * stride + i) ^ flipped;
    store_quads(row, to + i);
  }
  for (; i < count; ++i) {
    Quad quad = 0;
    for (std::int64_t r = 0; r < rows; ++r)
      quad |= Quad{static_cast<std::uint8_t>(from[r * stride + i] ^ flipped)} << (8 * r);
    to[i] = quad;
  }
}

void QuadPanel::pack_turned(const std::uint8_t* from, std::uint8_t flipped, std::int64_t stride,
                            std::int64_t columns) {
  constexpr std::int64_t kAtOnce = 16;  // of a column: a line of the cache
  const Quad mask = flipped * Quad{0x01010101u};
  for (std::int64_t first = 0; first < quads_; first += kAtOnce)
    for (std::int64_t j = 0; j < kColumns; ++j)
      for (std::int64_t quad = first; quad < std::min(quads_, first + kAtOnce); ++quad) {
        Quad bytes = mask;
        if (j < columns)
          std::memcpy(&bytes, from + j * stride + quad * 4,
                      static_cast<std::size_t>(std::min<std::int64_t>(4, length_ - quad * 4)));
        packed_[static_cast<std::size_t>(quad * kColumns + j)] = bytes ^ mask;
      }
  add_up();
}

void QuadPanel::add_up() {
  const std::vector<Quad> ones(static_cast<std::size_t>(quads_), 0x01010101u);
  std::fill_n(sums_, kColumns, Quad{0});
  add_product<Quad>({ones.data(), quads_}, 1, quads_, {packed_.data(), kColumns}, {sums_, kColumns},
                    kColumns);
}

void QuadPanel::multiply(const QuadRows& left, std::int64_t first, std::int64_t rows,
                         std::int64_t columns, Quad* products) const {
  constexpr std::int64_t kDepth = 192;  // quads of a panel that the first-level cache keeps
  constexpr std::int64_t kHalf = kColumns / 2;
  std::fill_n(products, rows * kColumns, Quad{0});
  for (std::int64_t quad = 0; quad < quads_; quad += kDepth)
    add_product<Quad>(left.from(first, quad), rows, std::min(kDepth, quads_ - quad),
                      {packed_.data() + quad * kColumns, kColumns}, {products, kColumns},
                      columns <= kHalf ? kHalf : kColumns);
}

AOE_WIDE void take_off_zeros(const Quad* products, Quad left_zero, const Quad* right_sums, Quad row,
                             const Quad* right_zeros, std::int64_t columns,
                             std::int32_t* __restrict to) {
  for (std::int64_t j = 0; j < columns; ++j)
    to[j] =
        static_cast<std::int32_t>(products[j] - left_zero * right_sums[j] - row * right_zeros[j]);
}

}  // namespace aoe::native
