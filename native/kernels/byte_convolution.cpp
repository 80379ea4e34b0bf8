// Convolution of bytes whose weights are computed, or whose sizes are known when the model runs: ConvInteger and QuantConv2D. What a tap
// of the window reads for neighbouring outputs lies side by side in planes with their padding (padded_planes.h): rows of the right factor
// of a product, whose left one is the weights.
#include <algorithm>
#include <cstring>
#include <optional>
#include <vector>

#include "native/byte_product.h"
#include "native/kernel.h"
#include "native/padded_planes.h"
#include "native/scratch.h"
#include "native/wide.h"
#include "reference/axes.h"
#include "reference/quantize.h"
#include "reference/window.h"

namespace aoe::native {
namespace {

constexpr std::int64_t kColumns = QuadPanel::kColumns;

/// The planes of all images, and what the taps of a window read in them for kColumns outputs.
class TapPlanes {
 public:
  /// `padding`: the byte around a plane.
  TapPlanes(const Run& run, const reference::Window& window, std::uint8_t padding)
      : window_(window), padding_(padding), data_(run.inputs[0].as<std::uint8_t>()) {
    if (!PaddedPlanes::takes(window)) return;
    planes_.emplace(window);
    taps_ = planes_->taps();
    const bool is_dense = planes_->is_plane() && planes_->numbers() == outputs_;
    if (!is_dense || outputs_ < kColumns) copy(run);
  }

  /// The first of those that are read with output `first`: nothing is read behind the last plane.
  std::int64_t begin(std::int64_t first) const {
    return copy_ || !planes_ ? first : std::min(first, outputs_ - kColumns);
  }

  /// What they read, tap by tap and plane by plane from `plane` on, becomes the rows of a panel.
  void pack(std::int64_t plane, std::int64_t begin, std::uint8_t flipped, QuadPanel& panel) const {
    const std::vector<Stretch> stretches = stretches_from(begin);
    const std::int64_t taps = window_.kernel_elements();
    const std::uint8_t* from = data_ + plane * stride_;
    std::int64_t tap = 0;  // panels ask for their rows in order
    const auto next = [&](const auto& read) {
      const std::uint8_t* const row = read(from, tap);
      if (++tap == taps) tap = 0, from += stride_;
      return row;
    };
    if (!planes_)
      return panel.pack(flipped, [&](std::int64_t, std::uint8_t* to) {
        return next([&](const std::uint8_t* x, std::int64_t t) { return gather(x, t, begin, to); });
      });
    panel.pack(flipped, [&, at = taps_.data()](std::int64_t, std::uint8_t* to) {
      return next(
          [&](const std::uint8_t* x, std::int64_t t) { return join(x + at[t], stretches, to); });
    });
  }

 private:
  /// Outputs of a row: their place among those of the block, and where the first lies in a plane.
  struct Stretch {
    std::int64_t place, at;
  };
  static constexpr std::int64_t kChunk = 16;  ///< bytes that are copied at once

  std::vector<Stretch> stretches_from(std::int64_t begin) const {
    std::vector<Stretch> all;
    const auto& [d, h, w] = window_.axes;
    const std::int64_t end = std::min(begin + kColumns, outputs_);
    for (std::int64_t output = begin, count; planes_ && output < end; output += count) {
      const std::int64_t row = output / w.output, x = output % w.output;
      count = std::min(w.output - x, end - output);
      const std::int64_t at = planes_->number(row / h.output, row % h.output) + x;
      for (std::int64_t i = 0; i < count; i += kChunk) all.push_back({output - begin + i, at + i});
    }
    const auto follows = [&](const Stretch& s) { return s.at - s.place == all[0].at; };
    if (std::ranges::all_of(all, follows) && !all.empty()) all.erase(all.begin() + 1, all.end());
    return all;
  }

  /// Where they lie side by side, or a copy, chunk over the end of the chunk before.
  static const std::uint8_t* join(const std::uint8_t* x, const std::vector<Stretch>& stretches,
                                  std::uint8_t* to) {
    if (stretches.size() == 1) return x + stretches[0].at;
    for (const auto& [place, at] : stretches) std::memcpy(to + place, x + at, kChunk);
    return to;
  }

  void copy(const Run& run) {
    stride_ = planes_->elements() + kColumns;
    const std::int64_t planes = run.shape(0)[0] * run.shape(0)[1];
    copy_.emplace(static_cast<std::size_t>(planes * stride_));
    auto* const to = copy_->as<std::uint8_t>();
    run.threads.share(
        planes, static_cast<double>(stride_) / 8, [&](std::int64_t begin, std::int64_t end) {
          for (std::int64_t i = begin; i < end; ++i) {
            std::memset(to + i * stride_, padding_, static_cast<std::size_t>(stride_));
            planes_->copy(data_ + i * window_.input_elements(), to + i * stride_);
          }
        });
    data_ = to;
  }

  /// For windows that planes with their padding do not take.
  const std::uint8_t* gather(const std::uint8_t* plane, std::int64_t tap, std::int64_t begin,
                             std::uint8_t* to) const {
    const auto& [d, h, w] = window_.axes;
    for (std::int64_t j = 0; j < kColumns; ++j) {
      const std::int64_t output = begin + j;
      const std::int64_t z = d.tap(output / w.output / h.output, tap / w.kernel / h.kernel),
                         y = h.tap(output / w.output % h.output, tap / w.kernel % h.kernel),
                         x = w.tap(output % w.output, tap % w.kernel);
      const bool is_inside =
          output < outputs_ && d.is_inside(z) && h.is_inside(y) && w.is_inside(x);
      to[j] = is_inside ? plane[(z * h.input + y) * w.input + x] : padding_;
    }
    return to;
  }

  const reference::Window& window_;
  const std::uint8_t padding_;
  const std::int64_t outputs_ = window_.output_elements();  ///< of a plane
  std::optional<PaddedPlanes> planes_;
  std::vector<std::int64_t> taps_;
  const std::uint8_t* data_;
  std::int64_t stride_ = window_.input_elements();  ///< from plane to plane
  std::optional<Scratch> copy_;
};

/// What the sums of an output channel become: themselves, or real numbers.
struct ChannelEnding {
  std::vector<double> bias = {0}, multipliers = {1};  ///< one, or one for each channel

  void apply(const std::int32_t* sums, std::int64_t, std::int32_t* to) const {
    std::copy_n(sums, kColumns, to);
  }
  void apply(const std::int32_t* sums, std::int64_t channel, float* to) const {
    make_real(sums, static_cast<std::int32_t>(reference::parameter_at(bias, channel)),
              static_cast<float>(reference::parameter_at(multipliers, channel)), to);
  }

 private:
  AOE_WIDE static void make_real(const std::int32_t* sums, std::int32_t bias, float multiplier,
                                 float* __restrict to) {
    for (std::int64_t j = 0; j < kColumns; ++j)
      to[j] = static_cast<float>(
                  static_cast<std::int32_t>(static_cast<Quad>(sums[j]) + static_cast<Quad>(bias))) *
              multiplier;
  }
};

/// Y: std::int32_t or float.
template <typename Y>
class ByteConvolution {
 public:
  /// `zeros`: the input that the zero points of images are; those of weights stand behind it.
  ByteConvolution(const Run& run, std::size_t zeros, ChannelEnding ending)
      : run_(run),
        window_(reference::window_of(run.attrs, run.shape(0),
                                     reference::kernel_of(run.attrs, run.shape(1)))),
        x_(byte_factor(run, 0, zeros, false)),
        weights_(byte_factor(run, 1, zeros + 1, true)),
        packed_(run.made_of(
            1, [&] { return QuadRows(weights_, run.shape(1)[0], length_, run.threads); })),
        planes_(run, window_, static_cast<std::uint8_t>(x_.zero(0)) ^ x_.flipped),
        ending_(std::move(ending)) {}

  void run() const {
    const std::int64_t blocks = (places_ + kColumns - 1) / kColumns,
                       all = run_.shape(0)[0] * groups_ * blocks, parts = parts_of_blocks(all);
    const double cost =
        static_cast<double>(kColumns * length_) *
        (0.05 + static_cast<double>(per_group_) / static_cast<double>(parts) / kProductsPerNs);
    run_.threads.share(all * parts, cost, [&](std::int64_t begin, std::int64_t end) {
      QuadPanel panel(length_);
      for (std::int64_t i = begin; i < end; ++i) {
        const std::int64_t block = i / parts, part = i % parts;
        if (part == 0 || i == begin)
          planes_.pack(block / blocks * channels_, planes_.begin(block % blocks * kColumns),
                       x_.flipped, panel);
        for (std::int64_t c = per_group_ * part / parts, last = per_group_ * (part + 1) / parts,
                          count;
             c < last; c += count) {
          count = std::min(QuadPanel::kMostRows, last - c);
          multiply(panel, block / blocks, block % blocks * kColumns, c, count);
        }
      }
    });
  }

 private:
  static constexpr double kProductsPerNs = 100;

  /// In how many parts the channels of a block are shared: small images have too few blocks for the threads, but each part lays
  /// the block out for itself.
  std::int64_t parts_of_blocks(std::int64_t blocks) const {
    constexpr std::int64_t kEnoughBlocks = 16, kLeastChannels = 64;
    return parts_of(blocks, kEnoughBlocks, per_group_, kLeastChannels);
  }

  /// Channels [channel, channel + count) of a group.
  void multiply(const QuadPanel& panel, std::int64_t group, std::int64_t first,
                std::int64_t channel, std::int64_t count) const {
    const std::int64_t row = group % groups_ * per_group_ + channel,
                       inside = first - planes_.begin(first),
                       places = std::min(kColumns - inside, places_ - first);
    Quad products[QuadPanel::kMostRows * kColumns], right_zeros[kColumns];
    panel.multiply(rows_, row, count, inside + places, products);
    std::fill_n(right_zeros, kColumns, x_.zero(0));
    Y* y = run_.output(0).as<Y>() + (group * per_group_ + channel) * places_ + first;
    for (std::int64_t r = 0; r < count; ++r, y += places_) {
      const Quad zero = weights_.zero(row + r);
      std::int32_t sums[kColumns];
      take_off_zeros(products + r * kColumns, zero, panel.sums(),
                     rows_.sum(row + r) - zero * static_cast<Quad>(length_), right_zeros, kColumns,
                     sums);
      Y ended[kColumns];
      ending_.apply(sums, row + r, ended);
      std::copy_n(ended + inside, places, y);
    }
  }

  const Run& run_;
  const reference::Window window_;
  const std::int64_t places_ = window_.output_elements();
  const std::int64_t channels_ = run_.shape(1)[1];  ///< inputs of a group
  const std::int64_t length_ = channels_ * window_.kernel_elements();
  const std::int64_t groups_ = run_.attrs.get_int("group", 1);
  const std::int64_t per_group_ = run_.shape(1)[0] / groups_;  ///< outputs
  const ByteFactor x_, weights_;
  const std::shared_ptr<const QuadRows> packed_;
  const QuadRows& rows_ = *packed_;
  const TapPlanes planes_;
  const ChannelEnding ending_;
};

template <typename Y>
void run_bytes(const Run& run, std::size_t zeros, ChannelEnding ending) {
  const Tensor y = run.output(0);
  if (y.data == nullptr || y.elements() == 0) return;
  const std::vector<double> zero_points = reference::quant_parameter(run.inputs, zeros + 1, 0);
  reference::parameter_at(zero_points, run.shape(1)[0] - 1);  // or the model is refused
  ByteConvolution<Y>(run, zeros, std::move(ending)).run();
}

void run_quant_conv(const Run& run) {
  run_bytes<float>(
      run, 3,
      {reference::quant_parameter(run.inputs, 2, 0), reference::quant_parameter(run.inputs, 5, 1)});
}

}  // namespace

void register_byte_convolution(KernelRegistry& registry) {
  registry.add({.type = "ConvInteger", .supports = takes_byte_factors, .run = [](const Run& run) {
                  run_bytes<std::int32_t>(run, 2, {});
                }});
  registry.add({.type = "QuantConv2D",
                .supports = takes_byte_factors,
                .run = run_quant_conv,
                .is_for_open_sizes = always});
}

}  // namespace aoe::native
