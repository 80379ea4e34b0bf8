// Taps side by side are one run of bytes, which ends with a quad whose weights may be 0. Rows of outputs make a tile, of whose windows all that
// lies in the padding is copied with the zero point around it, so that runs lie at the same distances from each pixel's first.
#include "native/windows/byte_pixels.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "base/ceil_div.h"
#include "native/scratch.h"
#include "native/wide.h"
#include "reference/windows/nhwc.h"

namespace aoe::native {
namespace {

constexpr std::int64_t kQuadBytes = 4, kColumnVector = 16;  ///< of the longest vectors, quads
constexpr std::int64_t kPanel = kByteColumns;
constexpr std::size_t kWeightZeroInput = 4, kImageZeroInput = 3;

/// What a window reads: `count` runs of `bytes`.
struct WindowRuns {
  explicit WindowRuns(const reference::Window& window, std::int64_t channels)
      : taps(window.width().dilation == 1 ? window.width().kernel : 1),
        bytes(taps * channels),
        quads(ceil_div(bytes, kQuadBytes)),
        count(window.kernel_elements() / taps) {}

  std::int64_t taps;  ///< of a run
  std::int64_t bytes, quads, count;
};

/// Weights as the product reads them, kPanel output channels after each other, and what those of each channel add up to.
class PixelWeights {
 public:
  PixelWeights(const ByteFactor& weights, const WindowRuns& runs, const Shape& shape)
      : steps_(runs.count * runs.quads),
        outputs_(shape[0]),
        packed_(static_cast<std::size_t>(steps_ * round_up(outputs_, kColumnVector)) *
                sizeof(Quad)),
        sums_(static_cast<std::size_t>(outputs_)) {
    std::memset(
        packed_.as<char>(), 0,
        static_cast<std::size_t>(steps_ * round_up(outputs_, kColumnVector)) * sizeof(Quad));
    const std::int64_t channels = shape[1], taps = shape[2] * shape[3];
    const std::uint8_t* from = weights.data;
    for (std::int64_t o = 0; o < outputs_; ++o)
      for (std::int64_t c = 0; c < channels; ++c)
        for (std::int64_t tap = 0; tap < taps; ++tap) {
          const auto byte = static_cast<std::uint8_t>(*from++ ^ weights.flipped);
          const std::int64_t at = tap % runs.taps * channels + c,
                             step = tap / runs.taps * runs.quads + at / kQuadBytes;
          const Quad* const quad = panel(o) + step * stride(o) + o % kPanel;
          packed_.as<std::uint8_t>()[(quad - packed_.as<Quad>()) * kQuadBytes + at % kQuadBytes] =
              byte;
          sums_[static_cast<std::size_t>(o)] +=
              static_cast<Quad>(std::int32_t{static_cast<std::int8_t>(byte)});
        }
  }

  /// Where the panel of an output channel begins, and how far its steps are apart.
  const Quad* panel(std::int64_t o) const {
    return packed_.as<Quad>() + o / kPanel * kPanel * steps_;
  }
  std::int64_t stride(std::int64_t o) const {
    return std::min(kPanel, round_up(outputs_ - o / kPanel * kPanel, kColumnVector));
  }
  Quad sum(std::int64_t o) const { return sums_[static_cast<std::size_t>(o)]; }

 private:
  std::int64_t steps_, outputs_;
  Scratch packed_;
  std::vector<Quad> sums_;
};

AOE_WIDE void flip_bytes(const std::uint8_t* __restrict from, std::uint8_t flipped,
                         std::int64_t count, std::uint8_t* __restrict to) {
  for (std::int64_t i = 0; i < count; ++i) to[i] = static_cast<std::uint8_t>(from[i] ^ flipped);
}

/// `count` pixels of three planes that begin `plane` bytes behind each other. (Compilers leave this byte by byte.)
AOE_WIDE void interleave_three(const std::uint8_t* from, std::int64_t plane, std::uint8_t flipped,
                               std::int64_t count, std::uint8_t* to) {
  constexpr std::int64_t kAtOnce = 16;
  using Some __attribute__((vector_size(kAtOnce))) = std::uint8_t;
  using LooseSome __attribute__((vector_size(kAtOnce), aligned(1), may_alias)) = std::uint8_t;
  std::int64_t x = 0;
  for (; x + kAtOnce <= count; x += kAtOnce) {
    const Some a = *reinterpret_cast<const LooseSome*>(from + x) ^ flipped,
               b = *reinterpret_cast<const LooseSome*>(from + plane + x) ^ flipped,
               c = *reinterpret_cast<const LooseSome*>(from + 2 * plane + x) ^ flipped;
    LooseSome* const put = reinterpret_cast<LooseSome*>(to + 3 * x);
    const Some first = __builtin_shufflevector(a, b, 0, 16, 0, 1, 17, 0, 2, 18, 0, 3, 19, 0, 4, 20,
                                               0, 5),
               second = __builtin_shufflevector(a, b, 21, 0, 6, 22, 0, 7, 23, 0, 8, 24, 0, 9, 25, 0,
                                                10, 26),
               third = __builtin_shufflevector(a, b, 0, 11, 27, 0, 12, 28, 0, 13, 29, 0, 14, 30, 0,
                                               15, 31, 0);
    put[0] =
        __builtin_shufflevector(first, c, 0, 1, 16, 3, 4, 17, 6, 7, 18, 9, 10, 19, 12, 13, 20, 15);
    put[1] =
        __builtin_shufflevector(second, c, 0, 21, 2, 3, 22, 5, 6, 23, 8, 9, 24, 11, 12, 25, 14, 15);
    put[2] =
        __builtin_shufflevector(third, c, 26, 1, 2, 27, 4, 5, 28, 7, 8, 29, 10, 11, 30, 13, 14, 31);
  }
  for (; x < count; ++x)
    for (int i = 0; i < 3; ++i)
      to[x * 3 + i] = static_cast<std::uint8_t>(from[i * plane + x] ^ flipped);
}

AOE_WIDE Quad sum_bytes(const std::uint8_t* x, std::int64_t count) {
  Quad sum = 0;
  for (std::int64_t i = 0; i < count; ++i) sum += x[i];
  return sum;
}

/// Rows of outputs, and where their windows lie.
struct PixelTile {
  explicit PixelTile(std::int64_t bytes) : copy(static_cast<std::size_t>(bytes)) {}
  Scratch copy;
  std::vector<const std::uint8_t*> pixels = {};  ///< what each output's first tap reads
  std::vector<Quad> sums = {};                   ///< of the bytes that each reads
  std::int64_t first = 0;                        ///< number of the first
};

template <typename Y>
class BytePixels : ByteCall {
 public:
  BytePixels(const Run& run, const reference::Window& window, const ChannelEnding& ending)
      : ByteCall{run, window}, ending_(ending) {
    const std::int64_t padded = round_up(per_group_, kPanel);
    starts_.resize(static_cast<std::size_t>(padded));
    multipliers_.resize(static_cast<std::size_t>(padded));
    const Quad zero = x_.zero(0);
    for (std::int64_t o = 0; o < per_group_; ++o) {
      const auto at = static_cast<std::size_t>(o);
      multipliers_[at] = ending_.multiplier_of(o);
      starts_[at] = static_cast<Quad>(ending_.bias_of(o)) -
                    zero * (packed_->sum(o) - static_cast<Quad>(length_) * weights_.zero(o));
    }
    for (std::int64_t i = 0; i < runs_.count; ++i)
      for (std::int64_t q = 0; q < runs_.quads; ++q)
        reads_.push_back(run_place(i) + q * kQuadBytes);
  }

  void run() const {
    const std::int64_t tiles = ceil_div(h_.output, rows_of_tile_), all = run_.shape(0)[0] * tiles,
                       panels = ceil_div(per_group_, kPanel),
                       parts = parts_of(all, kEnough, panels, 1);
    const double cost = static_cast<double>(rows_of_tile_ * w_.output * per_group_ * length_) /
                        static_cast<double>(parts) / kProductsPerNs;
    run_.threads.share(all * parts, cost, [&](std::int64_t begin, std::int64_t end) {
      PixelTile tile(copies_ ? copied_rows(rows_of_tile_) * row_bytes_ + kQuadBytes : 0);
      for (std::int64_t i = begin; i < end; ++i) {
        const std::int64_t part = i % parts;
        if (part == 0 || i == begin) fill(tile, i / parts / tiles, i / parts % tiles);
        for (std::int64_t p = panels * part / parts; p < panels * (part + 1) / parts; ++p)
          multiply(tile, p * kPanel);
      }
    });
  }

 private:
  static constexpr double kProductsPerNs = 400;
  static constexpr std::int64_t kEnough = 16;  ///< parts, for all threads there may be
  static constexpr std::int64_t kTileBytes = 48 << 10;
  static constexpr std::int64_t kRows = 24;  ///< pixels at a time

  std::int64_t run_place(std::int64_t i) const {
    const std::int64_t runs_of_row = w_.kernel / runs_.taps;
    return i / runs_of_row * h_.dilation * row_bytes_ + i % runs_of_row * w_.dilation * channels_;
  }
  /// That `rows` rows of outputs read.
  std::int64_t copied_rows(std::int64_t rows) const { return (rows - 1) * h_.stride + h_.reach(); }

  std::int64_t tile_rows() const {
    const std::int64_t fitting = kTileBytes / std::max<std::int64_t>(1, row_bytes_) - h_.reach();
    return std::clamp<std::int64_t>(fitting < 0 ? 1 : fitting / h_.stride + 1, 1, h_.output);
  }

  void fill(PixelTile& tile, std::int64_t image, std::int64_t number) const {
    const std::int64_t first = number * rows_of_tile_,
                       rows = std::min(rows_of_tile_, h_.output - first),
                       top = first * h_.stride - h_.pad_begin;
    const std::uint8_t* from = x_.data + image * window_.input_elements() * channels_;
    if (copies_) {
      copy(from, top, copied_rows(rows), tile.copy.as<std::uint8_t>());
      from = tile.copy.as<std::uint8_t>();
    } else {
      from += top * row_bytes_;
    }
    tile.pixels.clear();
    for (std::int64_t row = 0; row < rows; ++row)
      for (std::int64_t x = 0; x < w_.output; ++x)
        tile.pixels.push_back(from + row * h_.stride * row_bytes_ + x * w_.stride * channels_);
    tile.first = (image * h_.output + first) * w_.output;
    if (has_zeros_) add_up(tile);
  }

  void copy(const std::uint8_t* image, std::int64_t top, std::int64_t rows,
            std::uint8_t* to) const {
    const auto zero = static_cast<int>(static_cast<std::uint8_t>(x_.zero(0)));
    const std::int64_t plane = window_.input_elements(), before = w_.pad_begin * channels_,
                       count = std::min(w_.input, row_pixels_ - w_.pad_begin);
    std::memset(to, zero, static_cast<std::size_t>(rows * row_bytes_ + kQuadBytes));
    if (count <= 0) return;
    for (std::int64_t row = 0; row < rows; ++row, to += row_bytes_) {
      if (!h_.is_inside(top + row)) continue;
      const std::int64_t at = (top + row) * w_.input;
      if (!reads_planes_)
        flip_bytes(image + at * channels_, x_.flipped, count * channels_, to + before);
      else if (channels_ == 3)
        interleave_three(image + at, plane, x_.flipped, count, to + before);
      else
        for (std::int64_t c = 0; c < channels_; ++c)
          for (std::int64_t x = 0; x < count; ++x)
            to[before + x * channels_ + c] =
                static_cast<std::uint8_t>(image[c * plane + at + x] ^ x_.flipped);
    }
  }

  void add_up(PixelTile& tile) const {
    tile.sums.clear();
    for (const std::uint8_t* pixel : tile.pixels) {
      Quad sum = 0;
      for (std::int64_t i = 0; i < runs_.count; ++i)
        sum += sum_bytes(pixel + run_place(i), runs_.bytes);
      tile.sums.push_back(sum);
    }
  }

  /// Output channels of the panel that begins with number `first`.
  void multiply(const PixelTile& tile, std::int64_t first) const {
    const std::int64_t columns = std::min(kPanel, per_group_ - first);
    const ByteWeights right{packed_->panel(first), packed_->stride(first), starts_.data() + first,
                            columns};
    alignas(64) Quad sums[kRows * kByteColumns];
    Y* const y = run_.output(0).template as<Y>() + tile.first * per_group_ + first;
    const auto pixels = std::ssize(tile.pixels);
    for (std::int64_t blocks = ceil_div(pixels, kRows), p = 0, count; blocks > 0;
         --blocks, p += count) {
      count = ceil_div(pixels - p, blocks);
      sum_products({tile.pixels.data() + p, reads_.data(), std::ssize(reads_)}, right, count, sums);
      if (has_zeros_) take_off(tile, p, count, first, columns, sums);
      ending_.finish_columns({sums, kByteColumns}, count, columns, multipliers_.data() + first,
                             y + p * per_group_, per_group_);
    }
  }

  void take_off(const PixelTile& tile, std::int64_t pixel, std::int64_t count, std::int64_t first,
                std::int64_t columns, Quad* sums) const {
    for (std::int64_t r = 0; r < count; ++r)
      for (std::int64_t j = 0; j < columns; ++j)
        sums[r * kByteColumns + j] -=
            weights_.zero(first + j) * tile.sums[static_cast<std::size_t>(pixel + r)];
  }

  const ChannelEnding& ending_;
  const ByteFactor x_ = byte_factor(run_, 0, kImageZeroInput, true),
                   weights_ = byte_factor(run_, 1, kWeightZeroInput, false);
  const bool has_zeros_ = std::ranges::any_of(weights_.zeros, [](Quad zero) { return zero != 0; });
  const bool reads_planes_ = reference::reads_planes(run_.attrs);
  const reference::WindowAxis &h_ = window_.height(), &w_ = window_.width();
  const WindowRuns runs_{window_, channels_};
  /// Not where windows lie in the image as the product reads it, to the last quad.
  const bool copies_ = x_.flipped != 0 || reads_planes_ || h_.pad_begin > 0 || w_.pad_begin > 0 ||
                       (h_.output - 1) * h_.stride + h_.reach() > h_.input ||
                       (w_.output - 1) * w_.stride + w_.reach() > w_.input
                       || runs_.bytes % kQuadBytes != 0;
  const std::int64_t row_pixels_ = copies_ ? (w_.output - 1) * w_.stride + w_.reach() : w_.input;
  const std::int64_t row_bytes_ = row_pixels_ * channels_;
  const std::int64_t rows_of_tile_ = tile_rows();
  const std::shared_ptr<const PixelWeights> packed_ =
      run_.made_of(1, [&] { return PixelWeights(weights_, runs_, run_.shape(1)); });
  std::vector<std::int64_t> reads_;
  std::vector<Quad> starts_;  ///< the bias, less what the zero point of images takes off
  std::vector<float> multipliers_;
};

}  // namespace

template <typename Y>
void run_byte_pixels(const Run& run, const reference::Window& window, const ChannelEnding& ending) {
  BytePixels<Y>(run, window, ending).run();
}

template void run_byte_pixels<std::int8_t>(const Run&, const reference::Window&,
                                           const ChannelEnding&);
template void run_byte_pixels<std::uint8_t>(const Run&, const reference::Window&,
                                            const ChannelEnding&);
template void run_byte_pixels<float>(const Run&, const reference::Window&, const ChannelEnding&);

}  // namespace aoe::native
