// See element_lanes.h.
#include "compiler/emit/element_lanes.h"

#include <cstdint>
#include <limits>

namespace aoe::compiler {

Type lanes_of(DataType dtype) {
  if (dtype == DataType::kDouble) return Type::kDouble;
  if (is_floating(dtype)) return Type::kFloat;
  return size_bytes(dtype) == 8 ? Type::kInt64 : Type::kInt32;
}

Result<Type> ordered_lanes_of(DataType dtype) {
  if (dtype == DataType::kUint64) return Unexpected("uint64 is compared by no lanes");
  return dtype == DataType::kUint32 ? Type::kInt64 : lanes_of(dtype);
}

Type real_lanes(DataType dtype) {
  return dtype == DataType::kDouble ? Type::kDouble : Type::kFloat;
}

Vec int_like(std::int64_t value, const Vec& like) {
  return loopnest::int_splat(value, like.lanes(), like.type());
}

Vec number_like(double value, const Vec& like) {
  return loopnest::splat(value, like.lanes(), like.type());
}

Vec lowest(int lanes, Type type) {
  if (type == Type::kInt32)
    return loopnest::int_splat(std::numeric_limits<std::int32_t>::min(), lanes, type);
  if (type == Type::kInt64)
    return loopnest::int_splat(std::numeric_limits<std::int64_t>::min(), lanes, type);
  return loopnest::splat(-std::numeric_limits<double>::infinity(), lanes, type);
}

Vec highest(int lanes, Type type) {
  if (type == Type::kInt32)
    return loopnest::int_splat(std::numeric_limits<std::int32_t>::max(), lanes, type);
  if (type == Type::kInt64)
    return loopnest::int_splat(std::numeric_limits<std::int64_t>::max(), lanes, type);
  return loopnest::splat(std::numeric_limits<double>::infinity(), lanes, type);
}

}  // namespace aoe::compiler
