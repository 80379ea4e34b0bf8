// Convolution of bytes whose weights are computed, or whose sizes are known when the model runs: ConvInteger and QuantConv2D. What a tap
// of the window reads for neighbouring outputs lies side by side in planes with their padding (padded_planes.h): rows of the right factor
// of a product, whose left one is the weights.
#include <algorithm>
#include <bit>
#include <cstring>
#include <vector>

#include "base/ceil_div.h"
#include "native/kernel.h"
#include "native/lines/transpose_block.h"
#include "native/scratch.h"
#include "native/wide.h"
#include "native/windows/anchor_run.h"
#include "native/windows/byte_call.h"
#include "native/windows/byte_channels.h"
#include "native/windows/byte_depthwise.h"
#include "native/windows/byte_pixels.h"
#include "native/windows/shifted_bytes.h"
#include "native/windows/tap_planes.h"
#include "reference/tensors/axes.h"
#include "reference/tensors/quantize.h"
#include "reference/windows/nhwc.h"
#include "reference/windows/window.h"

namespace aoe::native {
namespace {

constexpr std::int64_t kColumns = QuadPanel::kColumns;

/// Y: std::int32_t, float or a byte.
template <typename Y>
class ByteConvolution : ByteCall {
 public:
  /// `zeros`: the input that the zero points of images are; those of weights stand behind it.
  ByteConvolution(const Run& run, const reference::Window& window, std::size_t zeros,
                  ChannelEnding ending)
      : ByteCall{run, window},
        x_(byte_factor(run, 0, zeros, false)),
        weights_(byte_factor(run, 1, zeros + 1, true)),
        packed_(run.made_of(
            1, [&] { return QuadRows(weights_, run.shape(1)[0], length_, run.threads); })),
        planes_(run, window_, static_cast<std::uint8_t>(x_.zero(0)) ^ x_.flipped),
        ending_(std::move(ending)) {}

  void run() const {
    const std::int64_t blocks = ceil_div(places_, kColumns),
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
    Y* y = run_.output(0).template as<Y>() + (group * per_group_ + channel) * places_ + first;
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

  const ByteFactor x_, weights_;
  const std::shared_ptr<const QuadRows> packed_;
  const QuadRows& rows_ = *packed_;
  const TapPlanes planes_;
  const ChannelEnding ending_;
};

/// to[j][i] = from[i][j] of so many rows and columns, with the bits `flipped` the other way.
AOE_WIDE void turn_bytes(const std::uint8_t* from, std::int64_t stride, std::uint8_t flipped,
                         std::int64_t rows, std::int64_t columns, std::uint8_t* to) {
  const Quad all_flipped = flipped * Quad{0x01010101u};
  std::int64_t i = 0;
  for (; i + 4 <= rows; i += 4) {
    const std::uint8_t* const row = from + i * stride;
    for (std::int64_t j = 0; j < columns; ++j) {
      const std::uint8_t four[] = {row[j], row[stride + j], row[2 * stride + j],
                                   row[3 * stride + j]};
      const Quad quad = std::bit_cast<Quad>(four) ^ all_flipped;
      std::memcpy(to + j * rows + i, &quad, sizeof quad);
    }
  }
  for (; i < rows; ++i)
    for (std::int64_t j = 0; j < columns; ++j)
      to[j * rows + i] = static_cast<std::uint8_t>(from[i * stride + j] ^ flipped);
}

/// Over few places: they are rows of the left factor, and output channels columns of the right one, whose panels are made of weights once.
/// As columns places leave vectors empty (49 of 64), and are laid out anew for each block of them. (Weights are packed anew where a model's
/// images become larger than that, or smaller again.)
template <typename Y>
class PlaceConvolution : ByteCall {
 public:
  static bool takes(const Run& run, const reference::Window& window) {
    constexpr std::int64_t kMostPlaces = 64, kLeastChannels = 2 * kColumns, kLeastLength = 512;
    const Shape& weight = run.shape(1);
    return run.kept(1) != nullptr && window.output_elements() <= kMostPlaces &&
           weight[0] / run.attrs.get_int("group", 1) >= kLeastChannels &&
           weight[1] * window.kernel_elements() >= kLeastLength;
  }

  PlaceConvolution(const Run& run, const reference::Window& window, std::size_t zeros,
                   ChannelEnding ending)
      : ByteCall{run, window},
        x_(byte_factor(run, 0, zeros, true)),
        weights_(byte_factor(run, 1, zeros + 1, false)),
        panels_(run.made_of(1, [&] { return packed_weights(); })),
        ending_(std::move(ending)) {}

  void run() const {
    const double cost = static_cast<double>(places_ * kColumns * length_) / kProductsPerNs;
    const std::int64_t tiles = ceil_div(places_, QuadPanel::kMostRows);
    for (std::int64_t group = 0; group < run_.shape(0)[0] * groups_; ++group) {
      const QuadRows rows = rows_of(group);
      run_.threads.share(panels_of_group_, cost, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t panel = begin; panel < end; ++panel)
          for (std::int64_t tile = 0; tile < tiles; ++tile) {
            const std::int64_t first = places_ * tile / tiles;
            multiply(rows, group, panel, first, places_ * (tile + 1) / tiles - first);
          }
      });
    }
  }

 private:
  /// Tap by tap, all inputs of a group: so do those that places read lie.
  std::vector<QuadPanel> packed_weights() const {
    std::vector<QuadPanel> all = QuadPanel::many(groups_ * panels_of_group_, length_);
    const std::int64_t taps = window_.kernel_elements();
    const auto pack = [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        const std::int64_t first = i % panels_of_group_ * kColumns;
        const std::uint8_t* from =
            weights_.data + (i / panels_of_group_ * per_group_ + first) * length_;
        const std::int64_t columns = std::min(kColumns, per_group_ - first);
        const auto row = [&](std::int64_t step, std::uint8_t* to) {
          const std::int64_t at = step % channels_ * taps + step / channels_;
          for (std::int64_t j = 0; j < kColumns; ++j)
            to[j] = j < columns ? from[j * length_ + at] : weights_.flipped;
          return static_cast<const std::uint8_t*>(to);
        };
        all[static_cast<std::size_t>(i)].pack(weights_.flipped, row);
      }
    };
    run_.threads.share(std::ssize(all), static_cast<double>(length_ * kColumns), pack);
    return all;
  }

  /// Of a group of an image, what each place reads.
  QuadRows rows_of(std::int64_t group) const {
    const std::int64_t inputs = window_.input_elements();
    const Scratch turned(static_cast<std::size_t>(inputs * channels_));
    auto* const pixels = turned.as<std::uint8_t>();
    const std::uint8_t* from = x_.data + group * channels_ * inputs;
    run_.threads.share(inputs, static_cast<double>(channels_),
                       [&](std::int64_t begin, std::int64_t end) {
                         turn_bytes(from + begin, inputs, x_.flipped, channels_, end - begin,
                                    pixels + begin * channels_);
                       });
    return {places_, length_, run_.threads,
            [&](std::int64_t place, std::uint8_t* to) { read_taps(pixels, place, to); }};
  }

  void read_taps(const std::uint8_t* pixels, std::int64_t place, std::uint8_t* to) const {
    const auto& [d, h, w] = window_.axes;
    const auto bytes = static_cast<std::size_t>(channels_);
    for (std::int64_t tap = 0; tap < window_.kernel_elements(); ++tap, to += channels_) {
      const std::int64_t z = d.tap(place / w.output / h.output, tap / w.kernel / h.kernel),
                         y = h.tap(place / w.output % h.output, tap / w.kernel % h.kernel),
                         x = w.tap(place % w.output, tap % w.kernel);
      if (d.is_inside(z) && h.is_inside(y) && w.is_inside(x))
        std::memcpy(to, pixels + ((z * h.input + y) * w.input + x) * channels_, bytes);
      else
        std::memset(to, static_cast<std::uint8_t>(x_.zero(0)), bytes);
    }
  }

  /// Output channels of a panel at places [first, first + count).
  void multiply(const QuadRows& rows, std::int64_t group, std::int64_t panel, std::int64_t first,
                std::int64_t count) const {
    const std::int64_t channel = group % groups_ * per_group_ + panel * kColumns,
                       columns = std::min(kColumns, per_group_ - panel * kColumns);
    const QuadPanel& right =
        (*panels_)[static_cast<std::size_t>(group % groups_ * panels_of_group_ + panel)];
    Quad products[kMostPlaces * kColumns], right_zeros[kColumns] = {}, biases[kColumns] = {};
    float factors[kColumns];
    std::int32_t sums[kMostPlaces * kColumns] = {};
    alignas(64) std::int32_t turned[kColumns * kMostPlaces];
    alignas(64) Y ended[kColumns * kMostPlaces];
    right.multiply(rows, first, count, columns, products);
    for (std::int64_t j = 0; j < columns; ++j) {
      right_zeros[j] = weights_.zero(channel + j);
      biases[j] = static_cast<Quad>(ending_.bias_of(channel + j));
      factors[j] = ending_.multiplier_of(channel + j);
    }
    for (std::int64_t r = 0; r < count; ++r) {
      std::int32_t* const to = sums + r * kColumns;
      take_off_zeros(products + r * kColumns, x_.zero(0), right.sums(),
                     rows.sum(first + r) - x_.zero(0) * static_cast<Quad>(length_), right_zeros,
                     kColumns, to);
      add(biases, to);
    }
    turn(sums, turned);
    ending_.finish_rows({reinterpret_cast<const Quad*>(turned), kMostPlaces}, columns, kMostPlaces,
                        factors, ended, kMostPlaces);
    Y* y =
        run_.output(0).template as<Y>() + (group * per_group_ + panel * kColumns) * places_ + first;
    for (std::int64_t j = 0; j < columns; ++j, y += places_)
      copy_row(reinterpret_cast<const Moved*>(ended) + j * kMostPlaces, 1, count,
               reinterpret_cast<Moved*>(y));
  }

  AOE_WIDE static void add(const Quad* biases, std::int32_t* __restrict to) {
    for (std::int64_t j = 0; j < kColumns; ++j)
      to[j] = static_cast<std::int32_t>(static_cast<Quad>(to[j]) + biases[j]);
  }

  /// to[j][r] = sums[r][j].
  AOE_WIDE static void turn(const std::int32_t* sums, std::int32_t* to) {
    for (std::int64_t r = 0; r < kMostPlaces; r += kFloats)
      for (std::int64_t j = 0; j < kColumns; j += kFloats)
        transpose_block(sums + r * kColumns + j, kColumns, to + j * QuadPanel::kMostRows + r,
                        QuadPanel::kMostRows);
  }

  using Moved = std::conditional_t<sizeof(Y) == 1, std::uint8_t, Y>;
  static constexpr std::int64_t kMostPlaces = QuadPanel::kMostRows;
  static_assert(kMostPlaces == kByteColumns);

  const std::int64_t panels_of_group_ = ceil_div(per_group_, kColumns);
  const ByteFactor x_, weights_;
  const std::shared_ptr<const std::vector<QuadPanel>> panels_;
  const ChannelEnding ending_;
};

template <typename Y>
void run_bytes(const Run& run, std::size_t zeros, ChannelEnding ending) {
  const Tensor& y = run.output(0);
  if (y.data == nullptr || y.elements() == 0) return;
  const std::vector<double> zero_points = reference::quant_parameter(run.inputs, zeros + 1, 0);
  reference::parameter_at(zero_points, run.shape(1)[0] - 1);  // or the model is refused
  const reference::Window window =
      reference::window_of(run.attrs, run.shape(0), reference::kernel_of(run.attrs, run.shape(1)));
  if (is_byte_depthwise(run, window)) return run_byte_depthwise<Y>(run, window, zeros, ending);
  if (PlaceConvolution<Y>::takes(run, window))
    return PlaceConvolution<Y>(run, window, zeros, std::move(ending)).run();
  if (PaddedPlanes::takes(window)) return run_shifted_bytes<Y>(run, window, zeros, ending);
  ByteConvolution<Y>(run, window, zeros, std::move(ending)).run();
}

constexpr const char* kBytesLast = "NhwcQuantConv2D";

/// Y: float or a byte.
template <typename Y>
void run_bytes_last(const Run& run, const ChannelEnding& ending) {
  const Tensor& y = run.output(0);
  if (y.data == nullptr || y.elements() == 0) return;
  const reference::Window window =
      reference::window_of(run.call.type, run.attrs, run.shape(0), run.shape(1)).value();
  run.attrs.get_int("group", 1) == 1 ? run_byte_pixels<Y>(run, window, ending)
                                     : run_byte_channels<Y>(run, window, ending);
}

/// Y: float or a byte.
template <typename Y>
void run_quantised(const Run& run, const ChannelEnding& ending) {
  run.call.type == kBytesLast ? run_bytes_last<Y>(run, ending) : run_bytes<Y>(run, 3, ending);
}

Result<void> takes_bytes_last(const Question& question) {
  const Shape &x = question.inputs[0].shape, &weight = question.inputs[1].shape;
  const std::int64_t groups = question.call.attrs.get_int("group", 1);
  if (groups != 1 && (reference::reads_planes(question.call.attrs) || weight[1] != 1 ||
                      weight[0] != groups || x[3] != groups))
    return Unexpected("groups of several channels");
  return takes_byte_factors(question);
}

ChannelEnding ending_of(const Run& run) {
  return {reference::quant_parameter(run.inputs, 2, 0),
          reference::quant_parameter(run.inputs, 5, 1)};
}

/// What Quantize behind an activation, or none, makes of real numbers.
ByteRange range_of(const reference::Body& body, std::span<const Tensor> inputs) {
  const std::vector<Tensor> operands = read_by(body.steps.back(), inputs);
  const auto [least, most] = reference::quant_range(operands[2].desc.dtype);
  const auto zero = static_cast<std::int32_t>(reference::to_doubles(operands[2])[0]);
  const float scale = *operands[1].as<float>();
  const auto [low, high] = bounds_of(body.steps[body.steps.size() - 2], inputs);
  ByteRange range{.low = std::min(low, high),
                  .high = high,
                  .scale = scale,
                  .least = static_cast<float>(least) - static_cast<float>(zero),
                  .most = static_cast<float>(most) - static_cast<float>(zero),
                  .zero = zero};
  if (scale != 1) return range;
  const auto [first, last] = std::pair(range.least, range.most);  // cut once
  range.least = std::clamp(range.low, first, last);
  range.most = std::clamp(range.high, first, last);
  return range;
}

}  // namespace

Result<void> supports_byte_chain(const Question& question) {
  const std::vector<reference::BodyStep>& steps = question.call.body->steps;
  const auto is_bounded = [](const reference::BodyStep& step) {
    return step.call.type == "Relu" || step.call.type == "ClipByValue";
  };
  if (steps.size() < 2 || steps.size() > 3 || steps.back().call.type != "Quantize" ||
      (steps.size() == 3 && !is_bounded(steps[1])))
    return Unexpected("no Quantize behind a convolution of bytes, with Relu or Clip between them");
  const std::vector<TensorDesc> read = read_by(steps[0], question.inputs),
                                quantize = read_by(steps.back(), question.inputs);
  const Question anchor{steps[0].call, read, 1}, bytes{steps.back().call, quantize, 1};
  const bool is_last = steps[0].call.type == kBytesLast;
  if (auto taken = is_last ? takes_bytes_last(anchor) : takes_byte_factors(anchor); !taken)
    return taken;
  if (auto taken = takes_types(bytes, 1, {DataType::kFloat}); !taken) return taken;
  if (auto taken = takes_types(bytes, 2, {DataType::kInt8, DataType::kUint8}); !taken) return taken;
  const auto is_one = [&](std::size_t i) {
    return bytes.has_input(i) && is_static(quantize[i].shape) &&
           element_count(quantize[i].shape) == 1;
  };
  if (!is_one(1) || !is_one(2)) return Unexpected("not one scale and one zero point");
  return {};
}

void run_byte_chain(const Run& run) {
  const reference::Body& body = *run.call.body;
  const std::vector<Tensor> inputs = read_by(body.steps[0], run.inputs);
  const AnchorRun anchor(run, body.steps[0], inputs);
  ChannelEnding ending = ending_of(anchor);
  ending.range = range_of(body, run.inputs);
  run.output(0).desc.dtype == DataType::kInt8 ? run_quantised<std::int8_t>(anchor, ending)
                                              : run_quantised<std::uint8_t>(anchor, ending);
}

void register_byte_convolution(KernelRegistry& registry) {
  registry.add({.type = "ConvInteger", .supports = takes_byte_factors, .run = [](const Run& run) {
                  run_bytes<std::int32_t>(run, 2, {});
                }});
  registry.add({.type = "QuantConv2D",
                .supports = takes_byte_factors,
                .run = [](const Run& run) { run_quantised<float>(run, ending_of(run)); },
                .is_for_open_sizes = always});
  registry.add({.type = kBytesLast, .supports = takes_bytes_last, .run = [](const Run& run) {
                  run_quantised<float>(run, ending_of(run));
                }});
}

}  // namespace aoe::native
