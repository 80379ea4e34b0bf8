// The element types that operators are tried with.
#pragma once

#include "base/data_type.h"

namespace aoe::compiler {

inline constexpr DataType kElementTypes[] = {
    DataType::kFloat, DataType::kFloat16, DataType::kBFloat16, DataType::kDouble,
    DataType::kInt8,  DataType::kInt16,   DataType::kInt32,    DataType::kInt64,
    DataType::kUint8, DataType::kUint16,  DataType::kUint32,   DataType::kUint64,
    DataType::kBool};

}  // namespace aoe::compiler
