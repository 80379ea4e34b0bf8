// See types.h; and what the types are called.
#include "base/check.h"
#include "compiler/loopnest/expr_node.h"

namespace aoe::compiler::loopnest {

const char* name(Type type) {
  switch (type) {
    case Type::kInt:
      return "int";
    case Type::kBool:
      return "bool";
    case Type::kMask:
      return "mask";
    case Type::kFloat:
      return "float32";
    case Type::kDouble:
      return "float64";
    case Type::kInt32:
      return "int32";
    case Type::kInt64:
      return "int64";
    case Type::kFloat16:
      return "float16";
    case Type::kBfloat16:
      return "bfloat16";
    case Type::kInt16:
      return "int16";
    case Type::kInt8:
      return "int8";
    case Type::kUint8:
      return "uint8";
  }
  AOE_CHECK(false, "not a type");
}

bool is_real(Type type) {
  return type == Type::kFloat || type == Type::kDouble || type == Type::kFloat16 ||
         type == Type::kBfloat16;
}

int bits_of(Type type) {
  switch (type) {
    case Type::kFloat:
    case Type::kInt32:
      return 32;
    case Type::kDouble:
    case Type::kInt64:
      return 64;
    case Type::kFloat16:
    case Type::kBfloat16:
    case Type::kInt16:
      return 16;
    case Type::kInt8:
    case Type::kUint8:
      return 8;
    default:
      AOE_CHECK(false, std::string("the width of ") + name(type));
  }
}

Type narrow_type(DataType dtype) {
  switch (dtype) {
    case DataType::kFloat16:
      return Type::kFloat16;
    case DataType::kBFloat16:
      return Type::kBfloat16;
    case DataType::kInt16:
      return Type::kInt16;
    case DataType::kInt8:
      return Type::kInt8;
    case DataType::kUint8:
      return Type::kUint8;
    default:
      AOE_CHECK(false, "no narrow lanes are " + std::string(aoe::name(dtype)));
  }
}

}  // namespace aoe::compiler::loopnest
