// Quantization: what Quantize and Dequantize nodes say about the values around them. Internal to graph/.
#pragma once

#include <optional>
#include <vector>

#include "graph/graph.h"

namespace aoe::graph {

/// What the inputs of MatMulInteger and ConvInteger are.
namespace integer_product {
inline constexpr std::size_t kX = 0, kWeight = 1, kXZero = 2, kWeightZero = 3;
}  // namespace integer_product

/// The real numbers (bytes - zero) * scale.
struct Quantization {
  std::vector<double> scale;                        ///< one, or one per position of `axis`
  ValueId scale_value = kNone, zero_value = kNone;  ///< kNone: a zero point of 0
  std::int64_t axis = 1;

  bool is_per_tensor() const { return scale.size() == 1; }
};

/// Of a Quantize or Dequantize node of bytes whose scale and zero point are constants; nothing otherwise.
std::optional<Quantization> quantization_of(const Graph& graph, const Node& node);

/// The bytes behind a value that a Dequantize node makes.
struct Bytes {
  ValueId value = kNone;
  Quantization quantization;
};
std::optional<Bytes> bytes_behind(const Graph& graph, ValueId value);

/// Both stand for the same real numbers, byte by byte.
bool is_same(const Graph& graph, const Quantization& a, const Quantization& b);

}  // namespace aoe::graph
