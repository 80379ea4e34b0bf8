// The lanes of the interpreter of loop nests (loopnest_eval.h): how they are kept, and what one is as another type.
#pragma once

#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <variant>
#include <vector>

#include "base/check.h"
#include "compiler/loopnest/loopnest.h"
#include "reference/elements/float16.h"

namespace aoe::compiler::loopnest {

template <typename T>
using LanesOf = std::vector<T>;
using Lanes = LanesOf<float>;  ///< of kFloat; of kMask 1 and 0
using Integers = LanesOf<std::int32_t>;
using reference::BFloat16;
using reference::Float16;
using AnyLanes = std::variant<Lanes, LanesOf<double>, LanesOf<std::int32_t>, LanesOf<std::int64_t>,
                              LanesOf<Float16>, LanesOf<BFloat16>, LanesOf<std::int16_t>,
                              LanesOf<std::int8_t>, LanesOf<std::uint8_t>>;

template <typename T>
concept HalfFloat = std::same_as<T, Float16> || std::same_as<T, BFloat16>;
template <typename T>
concept Narrow = sizeof(T) < 4;

template <typename T, typename From>
T saturate(From value) {
  if (std::isnan(value)) return 0;
  const double low = static_cast<double>(std::numeric_limits<T>::lowest());
  const double high = static_cast<double>(std::numeric_limits<T>::max());
  return value <= low    ? std::numeric_limits<T>::lowest()
         : value >= high ? std::numeric_limits<T>::max()
                         : static_cast<T>(value);
}

/// What a lane of one type is as a lane, or as an element of memory, of another.
template <typename To, typename From>
To converted(From value, bool is_signed = true) {
  if constexpr (HalfFloat<From>) {
    return converted<To>(static_cast<float>(value));
  } else if constexpr (HalfFloat<To>) {
    return To(static_cast<float>(value));
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    return saturate<To>(value);
  } else if constexpr (std::is_integral_v<From>) {
    return is_signed ? static_cast<To>(value)
                     : static_cast<To>(static_cast<std::make_unsigned_t<From>>(value));
  } else {
    return static_cast<To>(value);
  }
}

/// Calls visit.operator()<T>() with the type that lanes are kept in.
template <typename Visit>
auto with_lane_type(Type type, Visit visit) {
  switch (type) {
    case Type::kFloat:
    case Type::kMask:
      return visit.template operator()<float>();
    case Type::kDouble:
      return visit.template operator()<double>();
    case Type::kInt32:
      return visit.template operator()<std::int32_t>();
    case Type::kInt64:
      return visit.template operator()<std::int64_t>();
    case Type::kFloat16:
      return visit.template operator()<Float16>();
    case Type::kBfloat16:
      return visit.template operator()<BFloat16>();
    case Type::kInt16:
      return visit.template operator()<std::int16_t>();
    case Type::kInt8:
      return visit.template operator()<std::int8_t>();
    case Type::kUint8:
      return visit.template operator()<std::uint8_t>();
    default:
      AOE_CHECK(false, "no lanes");
  }
}
}  // namespace aoe::compiler::loopnest
