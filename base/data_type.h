// Element types and tensor formats under their Ascend names and numbers (aclDataType, aclFormat).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace aoe {

enum class DataType : std::int32_t {
  kUndefined = -1,
  kFloat = 0,
  kFloat16 = 1,
  kInt8 = 2,
  kInt32 = 3,
  kUint8 = 4,
  kInt16 = 6,
  kUint16 = 7,
  kUint32 = 8,
  kInt64 = 9,
  kUint64 = 10,
  kDouble = 11,
  kBool = 12,
  kString = 13,
  kBFloat16 = 27,
};

enum class Format : std::int32_t {
  kUndefined = -1,
  kNCHW = 0,
  kNHWC = 1,
  kND = 2,
  kNC1HWC0 = 3,
  kFractalZ = 4,
  kFractalNZ = 29,
};

/// Bytes of one element; 0 for kUndefined and kString.
std::size_t size_bytes(DataType type);
/// "float32", "int64", "bool", ...
std::string_view name(DataType type);
std::optional<DataType> data_type_from_name(std::string_view name);
bool is_floating(DataType type);  ///< float16, bfloat16, float32, float64
bool is_integer(DataType type);   ///< all signed and unsigned integers, not bool
bool is_signed(DataType type);    ///< int8, int16, int32, int64
bool is_byte(DataType type);      ///< int8 or uint8

/// "NCHW", "NC1HWC0", "ND", ...
std::string_view name(Format format);
std::optional<Format> format_from_name(std::string_view name);

}  // namespace aoe
