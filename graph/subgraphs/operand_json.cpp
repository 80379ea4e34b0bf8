// JSON of operands.
#include "graph/subgraphs/operand_json.h"

#include <nlohmann/json.hpp>

#include "base/data_type.h"
#include "base/hash.h"

namespace aoe::graph {
using nlohmann::json;
namespace {

/// Is the value part of what the op means (axes, shapes, exponents), rather than data that flows
/// through it?
bool is_parameter(const Constant& constant) {
  const DataType type = constant.desc().dtype;
  return is_integer(type) || type == DataType::kBool || element_count(constant.desc().shape) == 1;
}

/// Short values in full, long ones by their digest.
json value_json(const Constant& constant) {
  constexpr std::size_t kShortBytes = 128;
  const std::string_view bytes(static_cast<const char*>(constant.data()), constant.size_bytes());
  if (constant.size_bytes() > kShortBytes) return to_hex(hash128(bytes));
  std::string digits;
  constexpr char kDigits[] = "0123456789abcdef";
  for (const char c : bytes) {
    digits += kDigits[static_cast<unsigned char>(c) >> 4];
    digits += kDigits[c & 15];
  }
  return digits;
}

}  // namespace

json tensor_json(const TensorDesc& desc) {
  if (desc.dtype == DataType::kUndefined) return nullptr;
  return {{"dtype", name(desc.dtype)}, {"shape", desc.shape}};
}

json operand_json(const TensorDesc& desc, const ConstantPtr& constant) {
  json j = tensor_json(desc);
  if (!constant) return j;
  j["constant"] = true;
  if (is_parameter(*constant)) j["value"] = value_json(*constant);
  return j;
}

}  // namespace aoe::graph
