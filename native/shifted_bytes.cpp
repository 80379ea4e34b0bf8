#include "native/shifted_bytes.h"

#include <algorithm>
#include <array>
#include <vector>

#include "base/ceil_div.h"
#include "native/product.h"
#include "native/scratch.h"
#include "native/wide.h"

namespace aoe::native {
namespace {

constexpr std::int64_t kQuad = 4;                             ///< channels of one
constexpr std::int64_t kBlock = 2 * ChannelEnding::kColumns;  ///< outputs at a time

/// Planes of quads of channels, group by group, and how much the bytes at each place of a group's add up to.
class QuadPlanes {
 public:
  QuadPlanes(const Run& run, const reference::Window& window, const ByteFactor& x,
             std::int64_t channels)
      : window_(window),
        planes_(window),
        channels_(channels),
        groups_(run.shape(0)[0] * run.shape(0)[1] / channels),
        stride_(stride_of(planes_.elements())),
        copy_(static_cast<std::size_t>(groups_ * quads_ * stride_) * sizeof(Quad)),
        sums_(static_cast<std::size_t>(groups_ * stride_) * sizeof(Quad)) {
    run.threads.share(groups_ * quads_, static_cast<double>(stride_) / 4,
                      [&](std::int64_t begin, std::int64_t end) {
                        std::vector<Quad> dense;
                        for (std::int64_t i = begin; i < end; ++i) make_quads(x, i, dense);
                      });
    run.threads.share(groups_, static_cast<double>(stride_ * quads_) / 32,
                      [&](std::int64_t begin, std::int64_t end) {
                        for (std::int64_t group = begin; group < end; ++group) add_up(group);
                      });
  }

  const PaddedPlanes& planes() const { return planes_; }
  std::int64_t quads() const { return quads_; }  ///< planes of a group
  std::int64_t stride() const { return stride_; }
  const Quad* group(std::int64_t i) const { return copy_.as<Quad>() + i * quads_ * stride_; }
  const Quad* sums(std::int64_t group) const { return sums_.as<Quad>() + group * stride_; }

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

  void add_up(std::int64_t i) const {
    const std::vector<Quad> ones(static_cast<std::size_t>(quads_), 0x01010101u);
    Quad* const to = sums_.as<Quad>() + i * stride_;
    std::fill_n(to, stride_, Quad{0});
    add_product<Quad>({ones.data(), quads_}, 1, quads_, Rows<const Quad>{group(i), stride_},
                      {to, stride_}, stride_);
  }

  const reference::Window& window_;
  const PaddedPlanes planes_;
  const std::int64_t channels_;  ///< of a group
  const std::int64_t groups_;    ///< of all images
  const std::int64_t quads_ = ceil_div(channels_, kQuad);
  const std::int64_t stride_;
  const Scratch copy_, sums_;
};

/// Weights as quads are read: tap by tap, all inputs of a group. (Of a type of its own: others keep them in another order.)
struct TapRows {
  QuadRows rows;
};

AOE_WIDE void add_to(const Quad* from, Quad* __restrict to) {
  for (std::int64_t j = 0; j < kBlock; ++j) to[j] += from[j];
}

template <typename Y>
class ShiftedBytes : ByteCall {
 public:
  ShiftedBytes(const Run& run, const reference::Window& window, std::size_t zeros,
               const ChannelEnding& ending)
      : ByteCall{run, window},
        x_(byte_factor(run, 0, zeros, false)),
        weights_(byte_factor(run, 1, zeros + 1, true)),
        ending_(ending),
        quads_(run, window, x_, channels_),
        packed_(run.made_of(1, [&] { return packed_weights(); })) {
    for (const std::int64_t tap : taps_)
      for (std::int64_t q = 0; q < quads_.quads(); ++q) reads_.push_back(q * quads_.stride() + tap);
  }

  void run() const {
    const std::int64_t blocks = ceil_div(numbers_, kBlock),
                       all = run_.shape(0)[0] * groups_ * blocks, parts = parts_of_blocks(all);
    const double cost = static_cast<double>(kBlock * per_group_) / static_cast<double>(parts) *
                        (0.5 + static_cast<double>(length_) / kProductsPerNs);
    run_.threads.share(all * parts, cost, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        const std::int64_t block = i % all, part = i / all;  // a thread stays with its weights
        run_block(block / blocks, block % blocks * kBlock, per_group_ * part / parts,
                  per_group_ * (part + 1) / parts);
      }
    });
  }

 private:
  static constexpr std::int64_t kRows = QuadPanel::kMostRows;  ///< channels at a time
  using Sums = std::array<Quad, kRows * kBlock>;

  /// Outputs of a row: their place among those of the block, and in a plane.
  struct Stretch {
    std::int64_t place, at, count;
  };

  /// In how many parts the channels of a block are shared: small images have too few blocks for the threads.
  std::int64_t parts_of_blocks(std::int64_t blocks) const {
    constexpr std::int64_t kEnough = 16, kLeastChannels = 64;
    return parts_of(blocks, kEnough, per_group_, kLeastChannels);
  }

  TapRows packed_weights() const {
    const std::int64_t taps = std::ssize(taps_), width = quads_.quads() * kQuad;
    return {{run_.shape(1)[0], taps * width, run_.threads, [&](std::int64_t row, std::uint8_t* to) {
               std::fill_n(to, taps * width, std::uint8_t{0});
               const std::uint8_t* from = weights_.data + row * length_;
               for (std::int64_t c = 0; c < channels_; ++c)
                 for (std::int64_t t = 0; t < taps; ++t)
                   to[t * width + c] = static_cast<std::uint8_t>(*from++ ^ weights_.flipped);
             }}};
  }

  std::vector<Stretch> stretches_from(std::int64_t first) const {
    std::vector<Stretch> all;
    quads_.planes().for_each_row(first, std::min(first + kBlock, numbers_),
                                 [&](std::int64_t at, std::int64_t output, std::int64_t count) {
                                   all.push_back({at - first, output, count});
                                 });
    return all;
  }

  /// Channels [begin, end) of a group of all images, for outputs from number `first` on.
  void run_block(std::int64_t group, std::int64_t first, std::int64_t begin,
                 std::int64_t end) const {
    const std::vector<Stretch> stretches = stretches_from(first);
    Quad right_sums[kBlock] = {}, right_zeros[kBlock];
    for (const std::int64_t tap : taps_) add_to(quads_.sums(group) + first + tap, right_sums);
    std::fill_n(right_zeros, kBlock, x_.zero(0));
    Sums products;
    for (std::int64_t c = begin; c < end; c += kRows) {
      const std::int64_t rows = std::min(kRows, end - c), row = group % groups_ * per_group_ + c;
      multiply(group, first, row, rows, products);
      Y* y = run_.output(0).template as<Y>() + (group * per_group_ + c) * places_;
      for (std::int64_t r = 0; r < rows; ++r, y += places_) {
        const Quad zero = weights_.zero(row + r);
        std::int32_t sums[kBlock];
        Y ended[kBlock];
        take_off_zeros(products.data() + r * kBlock, zero, right_sums,
                       packed_->rows.sum(row + r) - zero * static_cast<Quad>(length_), right_zeros,
                       kBlock, sums);
        for (std::int64_t j = 0; j < kBlock; j += ChannelEnding::kColumns)
          ending_.apply(sums + j, row + r, ended + j);
        for (const Stretch& each : stretches)
          copy_row(ended + each.place, 1, each.count, y + each.at);
      }
    }
  }

  /// Of rows of weights with what outputs from number `first` on read.
  void multiply(std::int64_t group, std::int64_t first, std::int64_t row, std::int64_t rows,
                Sums& products) const {
    constexpr std::int64_t kQuadsAtOnce =
        192;  // quads of rows, and what they read, that the first-level cache keeps
    constexpr std::int64_t kVector = 16;
    const std::int64_t columns = std::min(kBlock, round_up(numbers_ - first, kVector));
    std::fill_n(products.data(), rows * kBlock, Quad{0});
    const std::int64_t steps = std::ssize(reads_);
    for (std::int64_t i = 0; i < steps; i += kQuadsAtOnce)
      add_product<Quad>(packed_->rows.from(row, i), rows, std::min(kQuadsAtOnce, steps - i),
                        RowsAt<const Quad>{quads_.group(group) + first, reads_.data() + i},
                        {products.data(), kBlock}, columns);
  }

  const ByteFactor x_, weights_;
  const ChannelEnding& ending_;
  const QuadPlanes quads_;
  const std::vector<std::int64_t> taps_ = quads_.planes().taps();
  const std::int64_t numbers_ = quads_.planes().numbers();
  const std::shared_ptr<const TapRows> packed_;
  std::vector<std::int64_t>
      reads_;  ///< where output 0 of a group reads, quad by quad of a row of weights
};

}  // namespace

template <typename Y>
void run_shifted_bytes(const Run& run, const reference::Window& window, std::size_t zeros,
                       const ChannelEnding& ending) {
  ShiftedBytes<Y>(run, window, zeros, ending).run();
}

template void run_shifted_bytes<float>(const Run&, const reference::Window&, std::size_t,
                                       const ChannelEnding&);
template void run_shifted_bytes<std::int32_t>(const Run&, const reference::Window&, std::size_t,
                                              const ChannelEnding&);

}  // namespace aoe::native
