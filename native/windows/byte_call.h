// What the ways to carry out a convolution of bytes read of its call, and what they make of sums.
#pragma once

#include <algorithm>
#include <cstring>
#include <vector>

#include "native/kernel.h"
#include "native/products/byte_blocks.h"
#include "native/products/byte_product.h"
#include "reference/tensors/quantize.h"
#include "reference/windows/window.h"

namespace aoe::native {

/// What the sums of an output channel become: themselves, real numbers, or bytes.
struct ChannelEnding {
  static constexpr std::int64_t kColumns = QuadPanel::kColumns;

  std::vector<double> bias = {0}, multipliers = {1};  ///< one, or one for each channel
  ByteRange range = {};                               ///< of bytes

  std::int32_t bias_of(std::int64_t channel) const {
    return static_cast<std::int32_t>(reference::parameter_at(bias, channel));
  }
  float multiplier_of(std::int64_t channel) const {
    return static_cast<float>(reference::parameter_at(multipliers, channel));
  }

  /// kColumns sums of a channel.
  void apply(const std::int32_t* sums, std::int64_t, std::int32_t* to) const {
    std::copy_n(sums, kColumns, to);
  }
  template <typename Y>
  void apply(const std::int32_t* sums, std::int64_t channel, Y* to) const {
    Quad with_bias[kColumns];
    const auto more = static_cast<Quad>(bias_of(channel));
    for (std::int64_t j = 0; j < kColumns; ++j) with_bias[j] = static_cast<Quad>(sums[j]) + more;
    finish(with_bias, kColumns, multiplier_of(channel), to);
  }

  /// `columns` sums of a channel, with its bias, and what completes vectors (of bytes and real numbers).
  void finish(const Quad* sums, std::int64_t columns, float, std::int32_t* to) const {
    std::memcpy(to, sums, static_cast<std::size_t>(columns) * sizeof *to);
  }
  void finish(const Quad* sums, std::int64_t columns, float multiplier, float* to) const {
    make_real(sums, columns, multiplier, to);
  }
  template <typename Byte>
  void finish(const Quad* sums, std::int64_t columns, float multiplier, Byte* to) const {
    static_assert(sizeof(Byte) == 1);
    make_bytes(sums, columns, multiplier, range, reinterpret_cast<std::uint8_t*>(to));
  }
  /// Rows of sums of pixels, of `columns` channels with a multiplier each, which is read in whole vectors.
  void finish_columns(Rows<const Quad> sums, std::int64_t rows, std::int64_t columns,
                      const float* factors, float* to, std::int64_t stride) const {
    make_real_columns(sums, rows, columns, factors, to, stride);
  }
  template <typename Byte>
  void finish_columns(Rows<const Quad> sums, std::int64_t rows, std::int64_t columns,
                      const float* factors, Byte* to, std::int64_t stride) const {
    static_assert(sizeof(Byte) == 1);
    make_byte_columns(sums, rows, columns, factors, range, reinterpret_cast<std::uint8_t*>(to),
                      stride);
  }
  /// Rows of sums of channels, each with its multiplier.
  template <typename Y>
  void finish_rows(Rows<const Quad> sums, std::int64_t rows, std::int64_t columns,
                   const float* factors, Y* to, std::int64_t stride) const {
    if constexpr (sizeof(Y) == 1)
      return make_byte_rows(sums, rows, columns, factors, range,
                            reinterpret_cast<std::uint8_t*>(to), stride);
    else
      for (std::int64_t r = 0; r < rows; ++r)
        finish(sums.row(r), columns, factors[r], to + r * stride);
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
