// Element types as ONNX numbers them: one row each.
#include "reference/elements/onnx_data_type.h"

#include <string>

#include "reference/fail.h"

namespace aoe::reference {
namespace {

struct Row {
  std::int64_t onnx;
  DataType type;
};
constexpr Row kRows[] = {
    {1, DataType::kFloat},    {2, DataType::kUint8},     {3, DataType::kInt8},
    {4, DataType::kUint16},   {5, DataType::kInt16},     {6, DataType::kInt32},
    {7, DataType::kInt64},    {8, DataType::kString},    {9, DataType::kBool},
    {10, DataType::kFloat16}, {11, DataType::kDouble},   {12, DataType::kUint32},
    {13, DataType::kUint64},  {16, DataType::kBFloat16},
};

}  // namespace

DataType data_type_from_onnx(std::int64_t number) {
  for (const Row& row : kRows)
    if (row.onnx == number) return row.type;
  fail_model("ONNX element type " + std::to_string(number) + " is not supported");
}

std::int64_t onnx_number(DataType type) {
  for (const Row& row : kRows)
    if (row.type == type) return row.onnx;
  fail_model("element type " + std::string(name(type)) + " has no ONNX number");
}

}  // namespace aoe::reference
