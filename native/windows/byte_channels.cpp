// Vectors of channels: for a row of outputs the bytes of up to four rows of the window become quads side by side, which its taps in each
// column are then. Where the window reaches into the padding, zero points are read.
#include "native/windows/byte_channels.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <type_traits>
#include <vector>

#include "base/ceil_div.h"
#include "native/scratch.h"
#include "native/wide.h"

namespace aoe::native {
namespace {

/// Of some channels: weights, column by column and four rows after four; what the sums begin with, and what they are multiplied by.
struct ChannelTaps {
  const Quad *weights, *ones, *zeros, *starts;  ///< ones: nullptr where weights have no zero points
  const float* factors;
  std::int64_t columns, groups;          ///< of the window
  std::int64_t column_step, pixel_step;  ///< of quads
  std::int64_t channels;                 ///< from pixel to pixel of the output
};

template <typename Y>
using PutAs = std::conditional_t<sizeof(Y) == 1, std::uint8_t, Y>;

#define AOE_FOUR_LANES(what, step, at) \
  what(at), what((step) + (at)), what(2 * (step) + (at)), what(3 * (step) + (at))
#define AOE_TWO_LANES(what, step, at) what(at), what((step) + (at))
#define AOE_ONE_LANE(what, step, at) what(at)

#define AOE_BLOCKS channels_16
#define AOE_BYTES 16
#define AOE_VECTOR AOE_WIDE
#define AOE_HAS_QUADS 0
#define AOE_LANES AOE_ONE_LANE
#include "native/windows/byte_channels.inc"

#define AOE_BLOCKS channels_32
#define AOE_BYTES 32
#define AOE_VECTOR AOE_WIDE
#define AOE_HAS_QUADS 0
#define AOE_LANES AOE_TWO_LANES
#include "native/windows/byte_channels.inc"

#if defined(__x86_64__)
#define AOE_WITH_QUADS __attribute__((target("arch=x86-64-v4,avx512vnni")))
#define AOE_BLOCKS quads_16
#define AOE_BYTES 16
#define AOE_VECTOR AOE_WITH_QUADS
#define AOE_HAS_QUADS 1
#define AOE_LANES AOE_ONE_LANE
#include "native/windows/byte_channels.inc"

#define AOE_BLOCKS quads_32
#define AOE_BYTES 32
#define AOE_VECTOR AOE_WITH_QUADS
#define AOE_HAS_QUADS 1
#define AOE_LANES AOE_TWO_LANES
#include "native/windows/byte_channels.inc"

#define AOE_BLOCKS quads_64
#define AOE_BYTES 64
#define AOE_VECTOR AOE_WITH_QUADS
#define AOE_HAS_QUADS 1
#define AOE_LANES AOE_FOUR_LANES
#include "native/windows/byte_channels.inc"
#endif

/// What handles so many channels at once.
template <typename Y>
struct Length {
  std::int64_t channels;
  void (*put_quads)(const std::uint8_t* const* rows, const std::int64_t* steps, std::uint8_t flip,
                    std::int64_t count, std::int64_t stride, Quad* to);
  void (*make_pixels)(const ChannelTaps& taps, const Quad* from, std::int64_t count,
                      const ByteRange& range, Y* to);
};

constexpr std::int64_t kFewest = 16;

/// The longest first.
template <typename Y>
std::vector<Length<Y>> lengths() {
#if defined(__x86_64__)
  if (has_quads())
    return {{64, quads_64::put_quads, quads_64::make_pixels<Y>},
            {32, quads_32::put_quads, quads_32::make_pixels<Y>},
            {kFewest, quads_16::put_quads, quads_16::make_pixels<Y>}};
#endif
  return {{32, channels_32::put_quads, channels_32::make_pixels<Y>},
          {kFewest, channels_16::put_quads, channels_16::make_pixels<Y>}};
}

/// Where a channel lies among those that vectors of so many hold.
std::int64_t place_of(std::int64_t channel, std::int64_t channels) {
  return channel / 4 % 4 * (channels / 4) + channel / 16 * 4 + channel % 4;
}

/// Of a thread. The last two are of images of few channels, whose pixels become as long as a vector, and of outputs.
struct ChannelMemory {
  Scratch quads, few, made;
};

template <typename Y>
class ByteChannels : ByteCall {
 public:
  ByteChannels(const Run& run, const reference::Window& window, const ChannelEnding& ending)
      : ByteCall{run, window}, ending_(ending) {
    std::ranges::fill(padding_, static_cast<std::uint8_t>(x_.zero(0) ^ x_.flipped));
    for (const Chunk& chunk : chunks_) add_numbers(chunk);
    if (has_zeros_) ones_ = ones();
  }

  void run() const {
    const double cost = static_cast<double>(w_.output * all_) *
                        (0.1 + 0.01 * static_cast<double>(window_.kernel_elements()));
    run_.threads.share(run_.shape(0)[0] * h_.output, cost,
                       [&](std::int64_t begin, std::int64_t end) {
                         const ChannelMemory memory = memory_of_thread();
                         for (std::int64_t row = begin; row < end; ++row)
                           for (const Chunk& chunk : chunks_) run_row(row, chunk, memory);
                       });
  }

 private:
  static constexpr std::int64_t kMostQuads = 4096;  ///< that the first-level cache keeps
  static constexpr std::size_t kImageZeroInput = 3, kWeightZeroInput = 4;

  /// Channels from `first` on; the last ones may have been made before.
  struct Chunk {
    Length<Y> length;
    std::int64_t first;
    std::int64_t at;  ///< of its numbers
  };

  ChannelMemory memory_of_thread() const {
    const auto columns = static_cast<std::size_t>(most_columns()),
               channels = static_cast<std::size_t>(chunks_.front().length.channels),
               few = static_cast<std::size_t>(is_narrow() ? kFewest : 0);
    return {Scratch(columns * static_cast<std::size_t>(groups_of_rows_) * channels * sizeof(Quad)),
            Scratch(columns * 4 * few), Scratch(columns * few * sizeof(Y))};
  }
  bool is_narrow() const { return all_ < kFewest; }

  std::vector<Chunk> chunks() const {
    std::vector<Chunk> result;
    std::int64_t at = 0;
    for (std::int64_t c = 0; c < all_;) {
      for (const Length<Y>& length : lengths<Y>())
        if (length.channels <= all_ - c || length.channels == kFewest) {
          const std::int64_t first = std::max<std::int64_t>(0, std::min(c, all_ - length.channels));
          result.push_back({length, first, at});
          at += length.channels;
          c = first + length.channels;
          break;
        }
    }
    return result;
  }

  /// Of each place of a chunk's vectors what each(channel) says.
  template <typename T, typename Each>
  void put_each(const Chunk& chunk, T* to, const Each& each) const {
    for (std::int64_t c = 0; c < chunk.length.channels; ++c)
      to[place_of(c, chunk.length.channels)] =
          chunk.first + c < all_ ? static_cast<T>(each(chunk.first + c)) : T{};
  }

  std::int8_t weight(std::int64_t channel, std::int64_t tap) const {
    return static_cast<std::int8_t>(weights_.data[channel * taps_ + tap] ^ weights_.flipped);
  }

  /// made(channel, tap), a byte of each, in the order in which quads of a chunk are multiplied.
  template <typename Make>
  Scratch packed(const Make& make) const {
    const std::int64_t each = w_.kernel * groups_of_rows_;
    Scratch result(static_cast<std::size_t>(length_of_all() * each) * sizeof(Quad));
    for (const Chunk& chunk : chunks_)
      for (std::int64_t i = 0; i < each; ++i)
        put_each(chunk, result.as<Quad>() + chunk.at * each + i * chunk.length.channels,
                 [&](std::int64_t channel) {
                   Quad quad = 0;
                   for (std::int64_t r = 0; r < 4; ++r) {
                     const std::int64_t y = i % groups_of_rows_ * 4 + r, x = i / groups_of_rows_;
                     if (y >= h_.kernel) break;
                     const std::int8_t byte = make(channel, y * w_.kernel + x);
                     quad |= Quad{static_cast<std::uint8_t>(byte)} << (8 * r);
                   }
                   return quad;
                 });
    return result;
  }

  Scratch packed_weights() const {
    return packed([&](std::int64_t channel, std::int64_t tap) { return weight(channel, tap); });
  }
  std::shared_ptr<const Scratch> ones() const {
    return std::make_shared<const Scratch>(
        packed([](std::int64_t, std::int64_t) { return std::int8_t{1}; }));
  }

  std::int64_t length_of_all() const {
    return chunks_.empty() ? 0 : chunks_.back().at + chunks_.back().length.channels;
  }

  void add_numbers(const Chunk& chunk) {
    put_each(chunk, factors_.as<float>() + chunk.at,
             [&](std::int64_t c) { return ending_.multiplier_of(c); });
    put_each(chunk, zeros_.as<Quad>() + chunk.at, [&](std::int64_t c) { return weights_.zero(c); });
    put_each(chunk, starts_.as<Quad>() + chunk.at, [&](std::int64_t c) {
      Quad sum = 0;
      for (std::int64_t tap = 0; tap < taps_; ++tap)
        sum += static_cast<Quad>(std::int32_t{weight(c, tap)}) - weights_.zero(c);
      return static_cast<Quad>(ending_.bias_of(c)) - x_.zero(0) * sum;
    });
  }

  /// Columns of the image whose quads are kept at a time.
  std::int64_t most_columns() const {
    const std::int64_t fitting = kMostQuads / (groups_of_rows_ * chunks_.front().length.channels);
    return std::min(std::max(fitting, w_.reach()), (w_.output - 1) * w_.stride + w_.reach());
  }

  void run_row(std::int64_t row, const Chunk& chunk, const ChannelMemory& memory) const {
    const std::int64_t bytes = chunk.length.channels, column = groups_of_rows_ * bytes,
                       at_once = (most_columns() - w_.reach()) / w_.stride + 1,
                       weights = chunk.at * w_.kernel * groups_of_rows_;
    const ChannelTaps taps{packed_->template as<Quad>() + weights,
                           ones_ == nullptr ? nullptr : ones_->template as<Quad>() + weights,
                           zeros_.as<Quad>() + chunk.at,
                           starts_.as<Quad>() + chunk.at,
                           factors_.as<float>() + chunk.at,
                           w_.kernel,
                           groups_of_rows_,
                           w_.dilation * column,
                           w_.stride * column,
                           is_narrow() ? kFewest : all_};
    Y* const y = run_.output(0).template as<Y>() + row * w_.output * all_ + chunk.first;
    for (std::int64_t x = 0, count; x < w_.output; x += count) {
      count = std::min(at_once, w_.output - x);
      make_quads(row, chunk, x * w_.stride - w_.pad_begin, (count - 1) * w_.stride + w_.reach(),
                 memory);
      const Quad* const quads = memory.quads.as<Quad>();
      if (!is_narrow()) {
        chunk.length.make_pixels(taps, quads, count, ending_.range, y + x * all_);
        continue;
      }
      Y* const made = memory.made.as<Y>();
      chunk.length.make_pixels(taps, quads, count, ending_.range, made);
      for (std::int64_t i = 0; i < count; ++i)
        std::copy_n(made + i * kFewest, all_, y + (x + i) * all_);
    }
  }

  /// Of `count` columns of the image from number `first` on, four rows of the window after four.
  void make_quads(std::int64_t row, const Chunk& chunk, std::int64_t first, std::int64_t count,
                  const ChannelMemory& memory) const {
    const std::int64_t before = std::clamp<std::int64_t>(-first, 0, count),
                       inside = std::clamp<std::int64_t>(w_.input - first, before, count) - before,
                       column = groups_of_rows_ * chunk.length.channels;
    const std::uint8_t* const image =
        x_.data + row / h_.output * window_.input_elements() * all_ + chunk.first;
    for (std::int64_t g = 0; g < groups_of_rows_; ++g) {
      const std::uint8_t* rows[4] = {padding_, padding_, padding_, padding_};
      std::int64_t steps[4] = {};
      Quad* const to = memory.quads.as<Quad>() + g * chunk.length.channels;
      chunk.length.put_quads(rows, steps, x_.flipped, before, column, to);
      chunk.length.put_quads(rows, steps, x_.flipped, count - before - inside, column,
                             to + (before + inside) * column);
      for (std::int64_t r = 0; r < 4 && g * 4 + r < h_.kernel; ++r) {
        const std::int64_t y = h_.tap(row % h_.output, g * 4 + r);
        if (!h_.is_inside(y) || inside == 0) continue;
        rows[r] = image + (y * w_.input + first + before) * all_;
        steps[r] = all_;
        if (!is_narrow()) continue;
        std::uint8_t* const few = memory.few.as<std::uint8_t>() + r * inside * kFewest;
        for (std::int64_t i = 0; i < inside; ++i)
          std::copy_n(rows[r] + i * all_, all_, few + i * kFewest);
        rows[r] = few;
        steps[r] = kFewest;
      }
      chunk.length.put_quads(rows, steps, x_.flipped, inside, column, to + before * column);
    }
  }

  const ChannelEnding& ending_;
  const ByteFactor x_ = byte_factor(run_, 0, kImageZeroInput, true),
                   weights_ = byte_factor(run_, 1, kWeightZeroInput, false);
  const bool has_zeros_ = std::ranges::any_of(weights_.zeros, [](Quad zero) { return zero != 0; });
  const reference::WindowAxis &h_ = window_.height(), &w_ = window_.width();
  const std::int64_t all_ = groups_, taps_ = window_.kernel_elements(),
                     groups_of_rows_ = ceil_div(h_.kernel, 4);
  const std::vector<Chunk> chunks_ = chunks();
  const std::shared_ptr<const Scratch> packed_ = run_.made_of(1, [&] { return packed_weights(); });
  std::shared_ptr<const Scratch> ones_;
  const Scratch factors_{static_cast<std::size_t>(length_of_all()) * sizeof(float)},
      zeros_{static_cast<std::size_t>(length_of_all()) * sizeof(Quad)},
      starts_{static_cast<std::size_t>(length_of_all()) * sizeof(Quad)};
  std::uint8_t padding_[64];
};

}  // namespace

template <typename Y>
void run_byte_channels(const Run& run, const reference::Window& window,
                       const ChannelEnding& ending) {
  ByteChannels<Y>(run, window, ending).run();
}

template void run_byte_channels<std::int8_t>(const Run&, const reference::Window&,
                                             const ChannelEnding&);
template void run_byte_channels<std::uint8_t>(const Run&, const reference::Window&,
                                              const ChannelEnding&);
template void run_byte_channels<float>(const Run&, const reference::Window&, const ChannelEnding&);

}  // namespace aoe::native
