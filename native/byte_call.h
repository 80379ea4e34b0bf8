// What the ways to carry out a convolution of bytes read of its call, and what they make of sums.
#pragma once

#include <algorithm>
#include <vector>

#include "native/byte_product.h"
#include "native/kernel.h"
#include "native/wide.h"
#include "reference/tensors/quantize.h"
#include "reference/windows/window.h"

namespace aoe::native {

/// What the sums of an output channel become: themselves, or real numbers.
struct ChannelEnding {
  static constexpr std::int64_t kColumns = QuadPanel::kColumns;

  std::vector<double> bias = {0}, multipliers = {1};  ///< one, or one for each channel

  /// kColumns sums of a channel.
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

/// What all ways read of a call.
struct ByteCall {
  static constexpr double kProductsPerNs = 100;

  const Run& run_;
  const reference::Window& window_;
  const std::int64_t places_ = window_.output_elements();
  const std::int64_t channels_ = run_.shape(1)[1];  ///< inputs of a group
  const std::int64_t length_ = channels_ * window_.kernel_elements();
  const std::int64_t groups_ = run_.attrs.get_int("group", 1);
  const std::int64_t per_group_ = run_.shape(1)[0] / groups_;  ///< outputs
};

}  // namespace aoe::native
