// Channel by channel, in a copy with the zero point around it (padded_planes.h): bytes become 16 bits as they are read, of which
// processors multiply and add two at a time; or four bytes at a time, where processors gather those of neighbouring outputs in one instruction.
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

/// Taps that lie beside each other, two at a time, or four, and weights of 0 for those that there are not: where, and weights as 16 or 8 bits
/// each, the first in the lowest ones.
struct TapGroups {
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
void sum_pairs(const TapGroups& taps, const Byte* from, std::int32_t start, std::int64_t count,
               std::int32_t* sums) {
#if defined(__x86_64__)
  if (has_quads()) return long_tap_pairs::sum_pairs(taps, from, start, count, sums);
#endif
  tap_pairs::sum_pairs(taps, from, start, count, sums);
}

#if defined(__x86_64__)
bool gathers_quads() {
  static const bool gathers = has_quads() && __builtin_cpu_supports("avx512vbmi") != 0;
  return gathers;
}

#define AOE_QUADS __attribute__((target("arch=x86-64-v4,avx512vnni,avx512vbmi")))
using LongQuads __attribute__((vector_size(64))) = std::int32_t;
using LongBytes __attribute__((vector_size(64))) = std::uint8_t;
using LooseLongBytes __attribute__((vector_size(64), aligned(1), may_alias)) = std::uint8_t;
using LooseLongQuads __attribute__((vector_size(64), aligned(4), may_alias)) = std::int32_t;

/// The same of bytes that have no sign once `flip` has changed them, 16 for each of kVectors.
template <int kVectors>
AOE_QUADS void sum_quads_of(const TapGroups& taps, const std::uint8_t* from, std::uint8_t flip,
                            std::int32_t start, std::int32_t* sums) {
#define AOE_QUAD(i) (i), (i) + 1, (i) + 2, (i) + 3
#define AOE_FOUR_QUADS(i) AOE_QUAD(i), AOE_QUAD((i) + 1), AOE_QUAD((i) + 2), AOE_QUAD((i) + 3)
  LongQuads all[kVectors];
#pragma GCC unroll 8
  for (int v = 0; v < kVectors; ++v) all[v] = LongQuads{} + start;
  for (std::int64_t i = 0; i < taps.count; ++i) {
    const LongQuads weights = LongQuads{} + taps.weights[i];
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) {
      const LongBytes bytes =
          *reinterpret_cast<const LooseLongBytes*>(from + taps.places[i] + v * 16) ^ flip;
      const auto quads = reinterpret_cast<LongQuads>(
          __builtin_shufflevector(bytes, bytes, AOE_FOUR_QUADS(0), AOE_FOUR_QUADS(4),
                                  AOE_FOUR_QUADS(8), AOE_FOUR_QUADS(12)));
#if defined(__clang__)
      all[v] = __builtin_ia32_vpdpbusd512(all[v], quads, weights);
#else
      all[v] = __builtin_ia32_vpdpbusd_v16si(all[v], quads, weights);
#endif
    }
  }
#pragma GCC unroll 8
  for (int v = 0; v < kVectors; ++v) *reinterpret_cast<LooseLongQuads*>(sums + v * 16) = all[v];
#undef AOE_FOUR_QUADS
#undef AOE_QUAD
}

void sum_quads(const TapGroups& taps, const std::uint8_t* from, std::uint8_t flip,
               std::int32_t start, std::int64_t count, std::int32_t* sums) {
  std::int64_t i = 0;
  for (; i + 7 * 16 < count; i += 8 * 16) sum_quads_of<8>(taps, from + i, flip, start, sums + i);
  for (; i + 3 * 16 < count; i += 4 * 16) sum_quads_of<4>(taps, from + i, flip, start, sums + i);
  for (; i < count; i += 16) sum_quads_of<1>(taps, from + i, flip, start, sums + i);
}
#undef AOE_QUADS
#else
bool gathers_quads() {
  return false;
}
void sum_quads(const TapGroups&, const std::uint8_t*, std::uint8_t, std::int32_t, std::int64_t,
               std::int32_t*) {
}
#endif

/// Taps of a window in the order of their places, in groups of those that lie beside each other.
class GroupedTaps {
 public:
  using Group = std::array<std::int64_t, 4>;  ///< of taps; -1 where there is none

  GroupedTaps(const std::vector<std::int64_t>& taps, std::size_t at_once) : most(at_once) {
    std::vector<std::int64_t> order(taps.size());
    std::iota(order.begin(), order.end(), std::int64_t{0});
    const auto place = [&](std::int64_t tap) { return taps[static_cast<std::size_t>(tap)]; };
    std::ranges::sort(order, {}, place);
    for (std::size_t i = 0, count; i < order.size(); i += count) {
      places.push_back(place(order[i]));
      Group& group = groups.emplace_back(Group{-1, -1, -1, -1});
      for (count = 0; count < most && i + count < order.size(); ++count) {
        if (place(order[i + count]) != places.back() + static_cast<std::int64_t>(count)) break;
        group[count] = order[i + count];
      }
    }
  }

  std::size_t most;  ///< of a group
  std::vector<std::int64_t> places;
  std::vector<Group> groups;
};

/// The weights of all channels in groups, less their zero points, and what those of each add up to.
struct GroupedWeights {
  GroupedWeights(const Tensor& weights, const std::vector<double>& zeros, const GroupedTaps& taps)
      : order(taps.groups) {
    const bool is_signed = weights.desc.dtype == DataType::kInt8;
    const std::int64_t channels = weights.desc.shape[0], each = weights.elements() / channels;
    const int bits = taps.most == 4 ? 8 : 16;
    for (std::int64_t c = 0; c < channels; ++c) {
      const std::uint8_t* const from = weights.as<std::uint8_t>() + c * each;
      const auto zero = static_cast<std::int32_t>(reference::parameter_at(zeros, c));
      Quad sum = 0;
      for (const GroupedTaps::Group& group : taps.groups) {
        Quad packed = 0;
        for (std::size_t i = 0; i < taps.most && group[i] >= 0; ++i) {
          const std::uint8_t byte = from[group[i]];
          const auto weight =
              static_cast<Quad>((is_signed ? static_cast<std::int8_t>(byte) : byte) - zero);
          sum += weight;
          packed |= (weight & ((Quad{1} << bits) - 1)) << (static_cast<int>(i) * bits);
        }
        packs.push_back(static_cast<std::int32_t>(packed));
      }
      sums.push_back(sum);
    }
  }

  std::vector<GroupedTaps::Group> order;
  std::vector<std::int32_t> packs;
  std::vector<Quad> sums;
};

/// How many taps are multiplied at once: four where weights less their zero points are bytes with a sign.
std::size_t taps_at_once(const Tensor& weights, const std::vector<double>& zeros) {
  const double zero = weights.desc.dtype == DataType::kInt8 ? 0 : 128;
  const bool are_bytes = std::ranges::all_of(zeros, [&](double each) { return each == zero; });
  return are_bytes && gathers_quads() ? 4 : 2;
}

template <typename Y, typename Byte>
class ByteDepthwise : ByteCall {
 public:
  ByteDepthwise(const Run& run, const reference::Window& window, std::size_t zeros,
                const ChannelEnding& ending)
      : ByteCall{run, window},
        zero_(static_cast<std::int32_t>(reference::quant_parameter(run.inputs, zeros, 0)[0])),
        ending_(ending),
        weight_zeros_(reference::quant_parameter(run.inputs, zeros + 1, 0)) {}

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
  std::shared_ptr<const GroupedWeights> grouped_weights() const {
    const auto make = [&] { return GroupedWeights(run_.inputs[1], weight_zeros_, taps_); };
    if (std::ranges::all_of(weight_zeros_, [](double zero) { return zero == 0; }))
      if (auto kept = run_.made_of(1, make); kept->order == taps_.groups) return kept;
    return std::make_shared<const GroupedWeights>(make());
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
    constexpr std::uint8_t kFlip = std::is_signed_v<Byte> ? 128 : 0;
    const std::int64_t channel = plane % outputs_;
    const bool has_quads = taps_.most == 4;
    const Quad zero = static_cast<Quad>(zero_) + (has_quads ? kFlip : 0);
    const auto start =
        static_cast<std::int32_t>(static_cast<Quad>(ending_.bias_of(channel)) -
                                  zero * weights_->sums[static_cast<std::size_t>(channel)]);
    const auto groups = std::ssize(taps_.places);
    const TapGroups taps{taps_.places.data(), weights_->packs.data() + channel * groups, groups};
    const Byte* const from = working.copies[plane % 2].data() + first;
    if (has_quads)
      sum_quads(taps, reinterpret_cast<const std::uint8_t*>(from), kFlip, start, numbers, sums);
    else
      sum_pairs(taps, from, start, numbers, sums);
  }

  /// A whole plane. This thread writes what is left of `room` afterwards: whole vectors may reach into it.
  void put_rows(const Y* ended, std::int64_t room, Y* y) const {
    constexpr std::int64_t kChunk = 16 / sizeof(Y);
    const std::int64_t rows = window_.height().output, width = window_.width().output;
    const std::int64_t spare = room - round_up(width, kChunk);
    const std::int64_t whole = spare < 0 ? 0 : std::min(rows, spare / width + 1);
    const std::int64_t step = planes_.row();
    if (width <= kChunk)
      for (std::int64_t row = 0; row < whole; ++row)
        std::memcpy(y + row * width, ended + row * step, 16);
    else
      put_long_rows(ended, whole, y);
    for (std::int64_t row = whole; row < rows; ++row)
      std::copy_n(ended + row * step, width, y + row * width);
  }

  void put_long_rows(const Y* ended, std::int64_t rows, Y* y) const {
    constexpr std::int64_t kChunk = 16 / sizeof(Y);
    const std::int64_t width = window_.width().output;
    for (std::int64_t row = 0; row < rows; ++row, ended += planes_.row(), y += width)
      for (std::int64_t i = 0; i < width; i += kChunk) std::memcpy(y + i, ended + i, 16);
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
  const std::vector<double> weight_zeros_;
  const GroupedTaps taps_{planes_.taps(), taps_at_once(run_.inputs[1], weight_zeros_)};
  const std::shared_ptr<const GroupedWeights> weights_ = grouped_weights();
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
