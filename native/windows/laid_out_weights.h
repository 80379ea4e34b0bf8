// LaidOutWeights: of a NhwcConv2D, in the orders that its images have asked for so far: small ones and large ones may take turns.
#pragma once

#include <memory>
#include <optional>

#include "native/kernel.h"
#include "native/scratch.h"

namespace aoe::native {

class LaidOutWeights {
 public:
  /// A row for each tap and input channel; what make() gives, made once.
  template <typename Make>
  const float* by_channel(const Make& make) const {
    return made_once(by_channel_, make);
  }
  /// Transformed, a matrix for each point (tiled_channels.h).
  template <typename Make>
  const float* by_point(const Make& make) const {
    return made_once(by_point_, make);
  }

 private:
  template <typename Make>
  static const float* made_once(std::optional<Scratch>& place, const Make& make) {
    if (!place) place.emplace(make());
    return place->template as<float>();
  }

  mutable std::optional<Scratch> by_channel_, by_point_;  ///< a step runs once at a time
};

inline auto weights_of_step(const Run& run) {
  return run.made_of(1, [] { return LaidOutWeights(); });
}

}  // namespace aoe::native
