// What taps of a window read of planes of bytes with their padding, for outputs that are neighbours: rows of a panel.
#pragma once

#include <algorithm>
#include <cstring>
#include <optional>
#include <vector>

#include "native/kernel.h"
#include "native/products/byte_product.h"
#include "native/scratch.h"
#include "native/windows/padded_planes.h"
#include "reference/windows/window.h"

namespace aoe::native {

/// The planes of all images, and what the taps of a window read in them for kColumns outputs.
class TapPlanes {
 public:
  static constexpr std::int64_t kColumns = QuadPanel::kColumns;

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

}  // namespace aoe::native
