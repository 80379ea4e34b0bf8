#include "native/windows/shifted_bytes.h"

#include <algorithm>
#include <array>
#include <vector>

#include "base/ceil_div.h"
#include "native/products/product.h"
#include "native/scratch.h"
#include "native/wide.h"

namespace aoe::native {
namespace {

constexpr std::int64_t kQuad = 4;  ///< channels of one
constexpr std::int64_t kQuadVector =
    16;  ///< of quads: so many outputs are read and written at least
constexpr std::int64_t kBlock = kByteColumns;  ///< outputs at a time, at most

/// Planes of quads of channels, group by group.
class QuadPlanes {
 public:
  QuadPlanes(const Run& run, const reference::Window& window, const ByteFactor& x,
             std::int64_t channels)
      : window_(window),
        planes_(window),
        channels_(channels),
        groups_(run.shape(0)[0] * run.shape(0)[1] / channels),
        stride_(stride_of(planes_.elements())),
        copy_(static_cast<std::size_t>(groups_ * quads_ * stride_) * sizeof(Quad)) {
    run.threads.share(groups_ * quads_, static_cast<double>(stride_) / 4,
                      [&](std::int64_t begin, std::int64_t end) {
                        std::vector<Quad> dense;
                        for (std::int64_t i = begin; i < end; ++i) make_quads(x, i, dense);
                      });
  }

  const PaddedPlanes& planes() const { return planes_; }
  std::int64_t quads() const { return quads_; }  ///< planes of a group
  std::int64_t stride() const { return stride_; }
  const Quad* group(std::int64_t i) const { return copy_.as<Quad>() + i * quads_ * stride_; }

 private:
  /// From plane to plane: there is something to be read behind the last output, and no two begin in one set of a cache.
  static std::int64_t stride_of(std::int64_t elements) {
    constexpr std::int64_t kLine = 16;
    return (ceil_div(elements + kBlock, kLine) | 1) * kLine;
  }

  void make_quads(const ByteFactor& x, std::int64_t i, std::vector<Quad>& dense) const {
    const std::int64_t first = i % quads_ * kQuad, inputs = window_.input_elements(),
                       count = std::min(kQuad, channels_ - first);
    const std::uint8_t* const from = x.data + (i / quads_ * channels_ + first) * inputs;
    Quad* const to = copy_.as<Quad>() + i * stride_;
    const auto zero = static_cast<std::uint8_t>(x.zero(0));
    Quad padding = 0;
    for (std::int64_t k = 0; k < count; ++k) padding |= Quad{zero} << (8 * k);
    if (planes_.is_plane()) {
      interleave_rows(from, inputs, count, x.flipped, inputs, to);
      std::fill(to + inputs, to + stride_, padding);
      return;
    }
    dense.resize(static_cast<std::size_t>(inputs));
    interleave_rows(from, inputs, count, x.flipped, inputs, dense.data());
    std::fill_n(to, stride_, padding);
    planes_.copy(dense.data(), to);
  }

  const reference::Window& window_;
  const PaddedPlanes planes_;
  const std::int64_t channels_;  ///< of a group
  const std::int64_t groups_;    ///< of all images
  const std::int64_t quads_ = ceil_div(channels_, kQuad);
  const std::int64_t stride_;
  const Scratch copy_;
};

/// Weights as quads are read: tap by tap, all inputs of a group; and what those of each row add up to.
class TapRows {
 public:
  TapRows(const ByteFactor& weights, std::int64_t rows, std::int64_t channels, std::int64_t taps,
          Threads& threads)
      : sums_(static_cast<std::size_t>(rows)),
        rows_(rows, taps * width(channels), threads, [&](std::int64_t row, std::uint8_t* to) {
          std::fill_n(to, taps * width(channels), std::uint8_t{0});
          const std::uint8_t* from = weights.data + row * channels * taps;
          std::int32_t sum = 0;
          for (std::int64_t c = 0; c < channels; ++c)
            for (std::int64_t t = 0; t < taps; ++t) {
              const auto byte = static_cast<std::uint8_t>(*from++ ^ weights.flipped);
              to[t * width(channels) + c] = byte;
              sum += static_cast<std::int8_t>(byte);
            }
          sums_[static_cast<std::size_t>(row)] = static_cast<Quad>(sum);
        }) {}

  Quad sum(std::int64_t row) const { return sums_[static_cast<std::size_t>(row)]; }
  Rows<const Quad> from(std::int64_t row) const { return rows_.from(row, 0); }

 private:
  static std::int64_t width(std::int64_t channels) { return round_up(channels, kQuad); }

  std::vector<Quad> sums_;
  const QuadRows rows_;
};

/// Y: what the sums become. The bytes of images have no sign here and those of weights have.
template <typename Y>
class ShiftedBytes : ByteCall {
 public:
  ShiftedBytes(const Run& run, const reference::Window& window, std::size_t zeros,
               const ChannelEnding& ending)
      : ByteCall{run, window},
        x_(byte_factor(run, 0, zeros, true)),
        weights_(byte_factor(run, 1, zeros + 1, false)),
        ending_(ending),
        quads_(run, window_, x_, channels_),
        packed_(run.made_of(1, [&] {
          return TapRows(weights_, run.shape(1)[0], channels_, std::ssize(taps_), run.threads);
        })) {
    for (const std::int64_t tap : taps_)
      for (std::int64_t q = 0; q < quads_.quads(); ++q) reads_.push_back(q * quads_.stride() + tap);
    const Quad zero = x_.zero(0);
    for (std::int64_t row = 0; row < run.shape(1)[0]; ++row) {
      multipliers_.push_back(ending_.multiplier_of(row));
      starts_.push_back(static_cast<Quad>(ending_.bias_of(row)) -
                        zero *
                            (packed_->sum(row) - static_cast<Quad>(length_) * weights_.zero(row)));
    }
  }

  void run() const {
    const std::int64_t all = run_.shape(0)[0] * groups_ * blocks_, parts = parts_of_blocks(all);
    const double cost = static_cast<double>(kBlock * per_group_) / static_cast<double>(parts) *
                        (0.1 + static_cast<double>(length_) / kProductsPerNs);
    run_.threads.share(all * parts, cost, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        const std::int64_t block = i % all, part = i / all;  // a thread stays with its weights
        run_block(block / blocks_, block % blocks_, per_group_ * part / parts,
                  per_group_ * (part + 1) / parts);
      }
    });
  }

 private:
  static constexpr double kProductsPerNs = 300;
  static constexpr std::int64_t kRows = 48;  ///< channels at a time

  using Moved = std::conditional_t<sizeof(Y) == 1, std::uint8_t, Y>;

  /// Outputs of a row: their place among those of the block, and in a plane.
  struct Stretch {
    std::int64_t place, at, count;
  };

  /// In how many parts the channels of a block are shared: small images have too few blocks for the threads.
  std::int64_t parts_of_blocks(std::int64_t blocks) const {
    constexpr std::int64_t kEnough = 16, kLeastChannels = 64;
    return parts_of(blocks, kEnough, per_group_, kLeastChannels);
  }

  std::vector<Stretch> stretches_from(std::int64_t first, std::int64_t end) const {
    std::vector<Stretch> all;
    quads_.planes().for_each_row(first, end,
                                 [&](std::int64_t at, std::int64_t output, std::int64_t count) {
                                   all.push_back({at - first, output, count});
                                 });
    return all;
  }

  /// Channels [begin, end) of a group of all images, for a block of outputs.
  void run_block(std::int64_t group, std::int64_t block, std::int64_t begin,
                 std::int64_t end) const {
    const std::int64_t first = vectors_ * block / blocks_ * kQuadVector,
                       last = std::min(numbers_, vectors_ * (block + 1) / blocks_ * kQuadVector);
    const std::vector<Stretch> stretches = stretches_from(first, last);
    const ByteColumns columns{quads_.group(group) + first, reads_.data(), last - first};
    const auto steps = std::ssize(reads_);
    const bool is_whole = stretches.size() == 1 && stretches[0].count == columns.columns &&
                          columns.columns % kQuadVector == 0;
    alignas(64) Quad sums[kRows * kByteColumns] = {}, added[kByteColumns];
    alignas(64) Y ended[(kRows + 1) * kByteColumns];  // and what is copied behind the last
    if (has_zeros_) add_up(columns, added);
    for (std::int64_t c = begin, rows; c < end; c += rows) {
      rows = std::min(kRows, end - c);
      const std::int64_t row = group % groups_ * per_group_ + c;
      const Rows<const Quad> weights = packed_->from(row);
      sum_products({weights.data, weights.stride, steps, starts_.data() + row}, columns, rows,
                   sums);
      Y* const y = run_.output(0).template as<Y>() + (group * per_group_ + c) * places_;
      if (has_zeros_)
        for (std::int64_t r = 0; r < rows; ++r)
          take_off(added, weights_.zero(row + r), sums + r * kByteColumns);
      const float* const factors = multipliers_.data() + row;
      if (is_whole) {
        ending_.finish_rows({sums, kByteColumns}, rows, columns.columns, factors,
                            y + stretches[0].at, places_);
        continue;
      }
      ending_.finish_rows({sums, kByteColumns}, rows, kByteColumns, factors, ended, kByteColumns);
      put_down(ended, stretches, rows, y);
    }
  }

  /// (What a core has just written as a vector it must not read in other pieces: rows are copied when all are there.)
  void put_down(const Y* ended, const std::vector<Stretch>& stretches, std::int64_t rows,
                Y* y) const {
    if (stretches.empty()) return;
    const std::int64_t end = stretches.back().at + stretches.back().count;
    for (std::int64_t r = 0; r < rows; ++r)
      for (const auto& [place, at, count] : stretches)
        copy_over(reinterpret_cast<const Moved*>(ended) + r * kByteColumns + place, count, end - at,
                  reinterpret_cast<Moved*>(y) + r * places_ + at);
  }

  /// What the bytes that each column reads add up to.
  void add_up(const ByteColumns& columns, Quad* to) const {
    const std::vector<Quad> ones(reads_.size(), 0x01010101u);
    constexpr Quad kNothing = 0;
    sum_products({ones.data(), 0, std::ssize(ones), &kNothing}, columns, 1, to);
  }

  AOE_WIDE static void take_off(const Quad* added, Quad zero, Quad* __restrict sums) {
    for (std::int64_t j = 0; j < kByteColumns; ++j) sums[j] -= zero * added[j];
  }

  const ByteFactor x_, weights_;
  const bool has_zeros_ = std::ranges::any_of(weights_.zeros, [](Quad zero) { return zero != 0; });
  const ChannelEnding& ending_;
  const QuadPlanes quads_;
  const std::vector<std::int64_t> taps_ = quads_.planes().taps();
  const std::int64_t numbers_ = quads_.planes().numbers(),
                     vectors_ = ceil_div(numbers_, kQuadVector),
                     blocks_ = ceil_div(vectors_ * kQuadVector, kBlock);
  const std::shared_ptr<const TapRows> packed_;
  std::vector<std::int64_t>
      reads_;  ///< where output 0 of a group reads, quad by quad of a row of weights
  std::vector<float> multipliers_;
  std::vector<Quad>
      starts_;  ///< of the sums of each channel: the bias, less what the zero point of images takes off
};

}  // namespace

template <typename Y>
void run_shifted_bytes(const Run& run, const reference::Window& window, std::size_t zeros,
                       const ChannelEnding& ending) {
  ShiftedBytes<Y>(run, window, zeros, ending).run();
}

template void run_shifted_bytes<std::int8_t>(const Run&, const reference::Window&, std::size_t,
                                             const ChannelEnding&);
template void run_shifted_bytes<std::uint8_t>(const Run&, const reference::Window&, std::size_t,
                                              const ChannelEnding&);
template void run_shifted_bytes<float>(const Run&, const reference::Window&, std::size_t,
                                       const ChannelEnding&);
template void run_shifted_bytes<std::int32_t>(const Run&, const reference::Window&, std::size_t,
                                              const ChannelEnding&);

}  // namespace aoe::native
