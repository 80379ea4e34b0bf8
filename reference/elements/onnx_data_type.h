// Element types as ONNX numbers them (TensorProto.DataType), in attributes such as Cast's `to`.
#pragma once

#include <cstdint>

#include "base/data_type.h"

namespace aoe::reference {

/// Throws Error(kModel) for a type this engine has no tensors of (complex, float8, int4, ...).
DataType data_type_from_onnx(std::int64_t number);
std::int64_t onnx_number(DataType type);

}  // namespace aoe::reference
