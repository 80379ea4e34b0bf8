// A float32 model as exporters of half precision write it: weights, activations, inputs and outputs of 16 bits.
#pragma once

#include <string>

#include "base/data_type.h"

namespace aoe::make_model {

/// `dtype`: kFloat16 or kBFloat16. What ONNX wants in float32 (the scales of Resize) stays. Throws Error(kUsage) where that are
/// activations.
std::string in_float_type(const std::string& model_bytes, DataType dtype);

}  // namespace aoe::make_model
