// PackedMatrix: random weights of four bits with a scale for each block, as MatMulNBits has them.
#pragma once

#include <cstdint>
#include <vector>

#include "base/ceil_div.h"
#include "tools/make_model/onnx_writer.h"

namespace aoe::make_model {

class PackedMatrix {
 public:
  static constexpr std::int64_t kBlock = 32;  ///< elements of a row that share a scale

  /// `out` rows of `in` elements: the next numbers of the model's seed, in range behind a product.
  static PackedMatrix draw(OnnxWriter& model, std::int64_t in, std::int64_t out);

  std::int64_t blocks() const { return ceil_div(in_, kBlock); }  ///< of a row
  /// Row by row, whole blocks, two elements a byte, the first in the low half.
  std::vector<std::uint8_t> pairs() const;
  const std::vector<float>& scales() const { return scales_; }  ///< of each block
  /// What the bits mean: (in, out).
  std::vector<float> transposed() const;

 private:
  std::int64_t in_ = 0, out_ = 0;
  std::vector<std::uint8_t> numbers_;  ///< 0 to 15
  std::vector<float> scales_;
};

}  // namespace aoe::make_model
