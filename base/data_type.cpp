// Names and sizes of element types and formats: one row each.
#include "base/data_type.h"

namespace aoe {
namespace {

struct TypeRow {
  DataType type;
  std::string_view name;
  std::size_t size_bytes;
};
constexpr TypeRow kTypes[] = {
    {DataType::kUndefined, "undefined", 0}, {DataType::kFloat, "float32", 4},
    {DataType::kFloat16, "float16", 2},     {DataType::kInt8, "int8", 1},
    {DataType::kInt32, "int32", 4},         {DataType::kUint8, "uint8", 1},
    {DataType::kInt16, "int16", 2},         {DataType::kUint16, "uint16", 2},
    {DataType::kUint32, "uint32", 4},       {DataType::kInt64, "int64", 8},
    {DataType::kUint64, "uint64", 8},       {DataType::kDouble, "float64", 8},
    {DataType::kBool, "bool", 1},           {DataType::kString, "string", 0},
    {DataType::kBFloat16, "bfloat16", 2},
};

struct FormatRow {
  Format format;
  std::string_view name;
};
constexpr FormatRow kFormats[] = {
    {Format::kUndefined, "UNDEFINED"},
    {Format::kNCHW, "NCHW"},
    {Format::kNHWC, "NHWC"},
    {Format::kND, "ND"},
    {Format::kNC1HWC0, "NC1HWC0"},
    {Format::kFractalZ, "FRACTAL_Z"},
    {Format::kFractalNZ, "FRACTAL_NZ"},
};

}  // namespace

std::size_t size_bytes(DataType type) {
  for (const TypeRow& row : kTypes)
    if (row.type == type) return row.size_bytes;
  return 0;
}

std::string_view name(DataType type) {
  for (const TypeRow& row : kTypes)
    if (row.type == type) return row.name;
  return "unknown";
}

std::optional<DataType> data_type_from_name(std::string_view text) {
  for (const TypeRow& row : kTypes)
    if (row.name == text) return row.type;
  return std::nullopt;
}

bool is_floating(DataType type) {
  return type == DataType::kFloat || type == DataType::kDouble || type == DataType::kFloat16 ||
         type == DataType::kBFloat16;
}

bool is_integer(DataType type) {
  return !is_floating(type) && type != DataType::kBool && type != DataType::kString &&
         type != DataType::kUndefined;
}

bool is_signed(DataType type) {
  return type == DataType::kInt8 || type == DataType::kInt16 || type == DataType::kInt32 ||
         type == DataType::kInt64;
}

bool is_byte(DataType type) {
  return type == DataType::kInt8 || type == DataType::kUint8;
}

std::string_view name(Format format) {
  for (const FormatRow& row : kFormats)
    if (row.format == format) return row.name;
  return "UNKNOWN";
}

std::optional<Format> format_from_name(std::string_view text) {
  for (const FormatRow& row : kFormats)
    if (row.name == text) return row.format;
  return std::nullopt;
}

}  // namespace aoe
