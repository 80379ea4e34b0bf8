// Channel by channel, in a copy with the zero point around it (padded_planes.h): bytes become 16 bits as they are read, of which
// processors multiply and add two at a time.
#include "native/windows/byte_depthwise.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>

#include "base/ceil_div.h"
#include "native/wide.h"
#include "native/windows/padded_planes.h"

namespace aoe::native {
namespace {

/// Taps that lie beside each other, two at a time, or one and a weight of 0: where, and weights as 16 bits each, the first in the lower ones.
struct TapPairs {
  const std::int64_t* places;
  const std::int32_t* weights;
  std::int64_t count;
};

#define AOE_BLOCKS tap_pairs
#define AOE_BYTES 32
#define AOE_VECTOR AOE_WIDE
#define AOE_FIRST_OF_BOTH 0, 8, 1, 9, 2, 10, 3, 11
#define AOE_LAST_OF_BOTH 4, 12, 5, 13, 6, 14, 7, 15
#include "native/windows/byte_depthwise.inc"

#if defined(__x86_64__)
#define AOE_BLOCKS long_tap_pairs
#define AOE_BYTES 64
#define AOE_VECTOR __attribute__((target("arch=x86-64-v4,avx512vnni")))
#define AOE_FIRST_OF_BOTH 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23
#define AOE_LAST_OF_BOTH 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31
#include "native/windows/byte_depthwise.inc"
#endif

template <typename Byte>
void sum_pairs(const TapPairs& taps, const Byte* from, std::int32_t start, std::int64_t count,
               std::int32_t* sums) {
#if defined(__x86_64__)
  if (has_quads()) return long_tap_pairs::sum_pairs(taps, from, start, count, sums);
#endif
  tap_pairs::sum_pairs(taps, from, start, count, sums);
}

/// Taps of a window in the order of their places, and which of them are pairs.
class PairedTaps {
 public:
  explicit PairedTaps(const std::vector<std::int64_t>& taps) {
    std::vector<std::int64_t> order(taps.size());
    std::iota(order.begin(), order.end(), std::int64_t{0});
    const auto place = [&](std::int64_t tap) { return taps[static_cast<std::size_t>(tap)]; };
    std::ranges::sort(order, {}, place);
    for (std::size_t i = 0; i < order.size(); ++i) {
      places.push_back(place(order[i]));
      const bool has_next = i + 1 < order.size() && place(order[i + 1]) == places.back() + 1;
      pairs.push_back({order[i], has_next ? order[i + 1] : -1});
      if (has_next) ++i;
    }
  }

  std::vector<std::int64_t> places;
  std::vector<std::array<std::int64_t, 2>> pairs;  ///< of taps; the second may be none
};

/// The weights of all channels as pairs, less their zero points, and what those of each add up to.
struct PairedWeights {
  PairedWeights(const Tensor& weights, const std::vector<double>& zeros, const PairedTaps& taps)
      : order(taps.pairs) {
    const bool is_signed = weights.desc.dtype == DataType::kInt8;
    const std::int64_t channels = weights.desc.shape[0], each = weights.elements() / channels;
    for (std::int64_t c = 0; c < channels; ++c) {
      const std::uint8_t* const from = weights.as<std::uint8_t>() + c * each;
      const auto zero = static_cast<std::int32_t>(reference::parameter_at(zeros, c));
      const auto weight = [&](std::int64_t tap) {
        if (tap < 0) return std::int32_t{0};
        return (is_signed ? static_cast<std::int8_t>(from[tap]) : from[tap]) - zero;
      };
      Quad sum = 0;
      for (const auto& [first, second] : taps.pairs) {
        const std::int32_t low = weight(first), high = weight(second);
        sum += static_cast<Quad>(low + high);
        pairs.push_back(static_cast<std::int32_t>(static_cast<std::uint16_t>(low) |
                                                  static_cast<Quad>(high) << 16));
      }
      sums.push_back(sum);
    }
  }

  std::vector<std::array<std::int64_t, 2>> order;
  std::vector<std::int32_t> pairs;
  std::vector<Quad> sums;
};

template <typename Y, typename Byte>
class ByteDepthwise : ByteCall {
 public:
  ByteDepthwise(const Run& run, const reference::Window& window, std::size_t zeros,
                const ChannelEnding& ending)
      : ByteCall{run, window},
        zero_(static_cast<std::int32_t>(reference::quant_parameter(run.inputs, zeros, 0)[0])),
        ending_(ending),
        weights_(weights_of(run, reference::quant_parameter(run.inputs, zeros + 1, 0))) {}

  void run() const {
    const double cost = static_cast<double>(places_) *
                        (0.1 + 0.01 * static_cast<double>(window_.kernel_elements()));
    run_.threads.share(run_.shape(0)[0] * outputs_, cost,
                       [&](std::int64_t begin, std::int64_t end) {
                         Working working;
                         for (std::vector<Byte>& copy : working.copies)
                           copy.assign(static_cast<std::size_t>(planes_.elements() + kSlack),
                                       static_cast<Byte>(zero_));
                         copy_plane(begin, working);
                         for (std::int64_t plane = begin, count; plane < end; plane += count) {
                           count = std::min(planes_at_once_, end - plane);
                           for (std::int64_t first = 0; first < numbers_; first += kAtOnce)
                             run_planes(plane, count, end, first, working);
                         }
                       });
  }

 private:
  using Moved = std::conditional_t<sizeof(Y) == 1, std::uint8_t, Y>;
  static constexpr std::int64_t kAtOnce = 1024;  ///< outputs whose sums the first-level cache keeps
  static constexpr std::int64_t kStored = 64;    ///< so many bytes are written as one vector
  static constexpr std::int64_t kSlack = 192;    ///< that is read behind the last output

  struct Working {
    std::vector<Byte> copies[2];  ///< of a plane and the next one
    alignas(64) std::int32_t sums[kAtOnce + kSlack];
    alignas(64) Y ended[kAtOnce + kSlack];
    float factors[kAtOnce / kStored];
  };

  void copy_plane(std::int64_t plane, Working& working) const {
    const std::int64_t input = plane / outputs_ * groups_ + plane % outputs_ / per_group_;
    planes_.copy(run_.inputs[0].template as<std::uint8_t>() + input * window_.input_elements(),
                 reinterpret_cast<std::uint8_t*>(working.copies[plane % 2].data()));
  }

  /// Kept from run to run where no zero point has a part in them. (Of very narrow images other taps lie beside each other.)
  std::shared_ptr<const PairedWeights> weights_of(const Run& run,
                                                  const std::vector<double>& zeros) const {
    const auto make = [&] { return PairedWeights(run.inputs[1], zeros, taps_); };
    if (std::ranges::all_of(zeros, [](double zero) { return zero == 0; }))
      if (auto kept = run.made_of(1, make); kept->order == taps_.pairs) return kept;
    return std::make_shared<const PairedWeights>(make());
  }

  /// Outputs from number `first` on of `count` planes, of all up to `end` that this thread has.
  void run_planes(std::int64_t plane, std::int64_t count, std::int64_t end, std::int64_t first,
                  Working& working) const {
    const std::int64_t numbers = std::min(kAtOnce, numbers_ - first);
    for (std::int64_t i = 0; i < count; ++i) {
      // Of the next one, too: what a core has just written in pieces it must not read in others.
      if (first == 0 && plane + i + 1 < end) copy_plane(plane + i + 1, working);
      working.factors[i] = ending_.multiplier_of((plane + i) % outputs_);
      sum_plane(plane + i, first, numbers, working, working.sums + i * stride_);
    }
    ending_.finish_rows({reinterpret_cast<const Quad*>(working.sums), stride_}, count,
                        round_up(numbers, kStored), working.factors, working.ended, stride_);
    Y* y = run_.output(0).template as<Y>() + plane * places_;
    for (std::int64_t i = 0; i < count; ++i, y += places_) {
      const Y* const ended = working.ended + i * stride_;
      if (numbers_ <= kAtOnce && window_.depth().output == 1)
        put_rows(ended, (end - plane - i) * places_, y);
      else
        put_down(ended, first, first + numbers, y);
    }
  }

  void sum_plane(std::int64_t plane, std::int64_t first, std::int64_t numbers,
                 const Working& working, std::int32_t* sums) const {
    const std::int64_t channel = plane % outputs_;
    const Quad start = static_cast<Quad>(ending_.bias_of(channel)) -
                       static_cast<Quad>(zero_) * weights_->sums[static_cast<std::size_t>(channel)];
    const auto pairs = std::ssize(taps_.places);
    const TapPairs taps{taps_.places.data(), weights_->pairs.data() + channel * pairs, pairs};
    sum_pairs(taps, working.copies[plane % 2].data() + first, static_cast<std::int32_t>(start),
              numbers, sums);
  }

  /// A whole plane. This thread writes what is left of `room` afterwards: whole vectors may reach into it.
  void put_rows(const Y* ended, std::int64_t room, Y* y) const {
    constexpr std::int64_t kChunk = 16 / sizeof(Y);
    const std::int64_t rows = window_.height().output, width = window_.width().output;
    const std::int64_t whole =
        std::clamp<std::int64_t>((room - round_up(width, kChunk)) / width + 1, 0, rows);
    for (std::int64_t row = 0; row < whole; ++row, ended += planes_.row(), y += width)
      for (std::int64_t i = 0; i < width; i += kChunk) std::memcpy(y + i, ended + i, 16);
    for (std::int64_t row = whole; row < rows; ++row, ended += planes_.row(), y += width)
      std::copy_n(ended, width, y);
  }

  void put_down(const Y* ended, std::int64_t first, std::int64_t end, Y* y) const {
    const auto* const from = reinterpret_cast<const Moved*>(ended);
    auto* const to = reinterpret_cast<Moved*>(y);
    planes_.for_each_row(first, end, [&](std::int64_t at, std::int64_t output, std::int64_t count) {
      copy_over(from + (at - first), count, places_ - output, to + output);
    });
  }

  const std::int64_t outputs_ = run_.shape(1)[0];
  const std::int32_t zero_;
  const ChannelEnding& ending_;
  const PaddedPlanes planes_{window_};
  const std::int64_t numbers_ = planes_.numbers();
  /// Of planes whose outputs are made at once, and how many: of small ones several.
  const std::int64_t stride_ = round_up(std::min(numbers_, kAtOnce), kStored),
                     planes_at_once_ = kAtOnce / stride_;
  const PairedTaps taps_{planes_.taps()};
  const std::shared_ptr<const PairedWeights> weights_;
};

}  // namespace

bool is_byte_depthwise(const Run& run, const reference::Window& window) {
  return run.shape(1)[1] == 1 && run.attrs.get_int("group", 1) > 1 && PaddedPlanes::takes(window);
}

template <typename Y>
void run_byte_depthwise(const Run& run, const reference::Window& window, std::size_t zeros,
                        const ChannelEnding& ending) {
  if (run.inputs[0].desc.dtype == DataType::kInt8)
    ByteDepthwise<Y, std::int8_t>(run, window, zeros, ending).run();
  else
    ByteDepthwise<Y, std::uint8_t>(run, window, zeros, ending).run();
}

template void run_byte_depthwise<std::int8_t>(const Run&, const reference::Window&, std::size_t,
                                              const ChannelEnding&);
template void run_byte_depthwise<std::uint8_t>(const Run&, const reference::Window&, std::size_t,
                                               const ChannelEnding&);
template void run_byte_depthwise<float>(const Run&, const reference::Window&, std::size_t,
                                        const ChannelEnding&);
template void run_byte_depthwise<std::int32_t>(const Run&, const reference::Window&, std::size_t,
                                               const ChannelEnding&);

}  // namespace aoe::native
