#include "compiler/conv/running_maxima.h"

#include <functional>
#include <limits>
#include <vector>

namespace aoe::compiler {
namespace {

constexpr std::int64_t kFewTaps = 8;  ///< taps of an axis that written-out maxima make at once

/// The larger windows of an axis, in elements of the axis: of those that begin at each of `offsets` from a place.
struct Pass {
  std::int64_t length;
  std::vector<std::int64_t> offsets;
};

std::vector<Pass> passes(std::int64_t kernel) {
  std::vector<Pass> all;
  for (std::int64_t length = 1; length < kernel; length = all.back().length) {
    if (3 * length <= kernel)
      all.push_back({3 * length, {0, length, 2 * length}});
    else if (2 * length >= kernel)
      all.push_back({kernel, {0, kernel - length}});
    else
      all.push_back({kernel, {0, length, kernel - length}});
  }
  return all;
}

/// What windows of a padded axis touch.
std::int64_t touched(const reference::WindowAxis& axis) {
  return std::max(axis.pad_begin + axis.input, axis.output - 1 + axis.reach());
}

class PlaneMaxima {
 public:
  PlaneMaxima(Builder& builder, const PoolWindow& window, int lanes, Buffer scratch)
      : builder_(builder),
        h_(window.height()),
        w_(window.width()),
        width_(touched(w_)),
        lanes_(lanes),
        scratch_(scratch) {}

  /// The plane, with padding around it.
  void read(Buffer x, Int base) {
    const Vec padding = splat(-std::numeric_limits<float>::infinity(), lanes_);
    if (running_elements() > h_.input * w_.input)
      each("clear", running_elements(),
           [&](Int i, auto active) { builder_.store(scratch_, i, padding, active); });
    builder_.loop("read", 0, h_.input, 1, [&](Int h) {
      each("w", w_.input, [&](Int w, auto active) {
        const Vec value = builder_.load(x, base + h * w_.input + w, lanes_, active);
        builder_.store(scratch_, (h + h_.pad_begin) * width_ + w_.pad_begin + w, value, active);
      });
    });
  }

  void down() {
    for (const Pass& pass : passes(h_.kernel)) {
      const std::int64_t rows = h_.output + (h_.kernel - pass.length) * h_.dilation;
      each("down", rows * width_, [&](Int i, auto active) {
        builder_.store(scratch_, i, largest(i, pass, h_.dilation * width_, active), active);
      });
    }
  }

  /// All rows at once, but for the last pass, which writes the results.
  void along(Buffer y, Int base) {
    std::vector<Pass> all = passes(w_.kernel);
    if (all.empty()) all = {{1, {0}}};
    const Pass last = all.back();
    all.pop_back();
    for (const Pass& pass : all) {
      const std::int64_t end =
          (h_.output - 1) * width_ + w_.output + (w_.kernel - pass.length) * w_.dilation;
      each("along", end, [&](Int i, auto active) {
        builder_.store(scratch_, i, largest(i, pass, w_.dilation, active), active);
      });
    }
    builder_.loop("write", 0, h_.output, 1, [&](Int h) {
      each("w", w_.output, [&](Int w, auto active) {
        const Vec value = largest(h * width_ + w, last, w_.dilation, active);
        builder_.store(y, base + h * w_.output + w, value, active);
      });
    });
  }

 private:
  std::int64_t running_elements() const { return touched(h_) * width_; }

  void each(const char* name, std::int64_t count,
            const std::function<void(Int, std::optional<Int>)>& body) {
    loopnest::vector_loop(builder_, name, count, lanes_, body);
  }

  /// In place: no place behind has been overwritten.
  Vec largest(Int at, const Pass& pass, std::int64_t stride, std::optional<Int> active) const {
    std::vector<Vec> taps;
    for (const std::int64_t offset : pass.offsets)
      taps.push_back(builder_.load(scratch_, at + offset * stride, lanes_, active));
    if (taps.size() == 1) return taps[0];
    return taps.size() == 2 ? max(taps[0], taps[1]) : max(taps[0], taps[1], taps[2]);
  }

  Builder& builder_;
  const reference::WindowAxis &h_, &w_;
  std::int64_t width_;  ///< of a padded row
  int lanes_;
  Buffer scratch_;
};

}  // namespace

std::int64_t running_maxima_scratch(const PoolWindow& window) {
  return touched(window.height()) * touched(window.width());
}

bool suits_running_maxima(const PoolWindow& window, std::int64_t bytes) {
  return window.is_max && window.height().stride == 1 && window.width().stride == 1 &&
         std::max(window.height().kernel, window.width().kernel) > kFewTaps &&
         running_maxima_scratch(window) * std::int64_t{sizeof(float)} <= bytes;
}

void emit_running_maxima(Builder& builder, const PoolWindow& window, int lanes, Buffer scratch,
                         Buffer x, Int x_base, Buffer y, Int y_base) {
  PlaneMaxima plane(builder, window, lanes, scratch);
  plane.read(x, x_base);
  plane.down();
  plane.along(y, y_base);
}

}  // namespace aoe::compiler
