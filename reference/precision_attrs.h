// Attributes that no operator of ONNX has: what the graph asks of whoever computes a node.
#pragma once

namespace aoe::reference {

/// Set: plain sums in float32, no algorithm that adds and subtracts around its products.
inline constexpr char kHighPrecision[] = "high_precision";

}  // namespace aoe::reference
