// From a run-time DataType to a C++ type: visit_type() for arithmetic, visit_word() for moving
// elements around.
//
//   visit_type<FloatTypes>(x.desc.dtype, [&]<typename T>() {
//     using C = ComputeType<T>;                       // float for the 16-bit types
//     for (...) y.as<T>()[i] = static_cast<T>(std::exp(static_cast<C>(x.as<T>()[i])));
//   });
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/tensor.h"
#include "reference/elements/float16.h"
#include "reference/fail.h"

namespace aoe::reference {

template <typename... Ts>
struct TypeList {};

template <typename A, typename B>
struct Joined;
template <typename... As, typename... Bs>
struct Joined<TypeList<As...>, TypeList<Bs...>> {
  using type = TypeList<As..., Bs...>;
};
template <typename A, typename B>
using Join = typename Joined<A, B>::type;

using FloatTypes = TypeList<float, double, Float16, BFloat16>;
using SignedTypes = TypeList<std::int8_t, std::int16_t, std::int32_t, std::int64_t>;
using UnsignedTypes = TypeList<std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t>;
using IndexTypes = TypeList<std::int32_t, std::int64_t>;
using IntTypes = Join<SignedTypes, UnsignedTypes>;
using NumericTypes = Join<FloatTypes, IntTypes>;
using AllTypes = Join<NumericTypes, TypeList<bool>>;

template <typename T>
inline constexpr bool kIsFloat =
    std::is_floating_point_v<T> || std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>;

/// What to calculate with: float for the 16-bit floating-point types, T itself for all others.
template <typename T>
using ComputeType =
    std::conditional_t<std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>, float, T>;

/// What to sum up with: double for floating point; 64 bits for integers, unsigned because those
/// wrap without harm.
template <typename T>
using SumType = std::conditional_t<kIsFloat<T>, double, std::uint64_t>;

/// The DataType that stores T.
template <typename T>
constexpr DataType data_type_of() {
  if constexpr (std::is_same_v<T, float>)
    return DataType::kFloat;
  else if constexpr (std::is_same_v<T, double>)
    return DataType::kDouble;
  else if constexpr (std::is_same_v<T, Float16>)
    return DataType::kFloat16;
  else if constexpr (std::is_same_v<T, BFloat16>)
    return DataType::kBFloat16;
  else if constexpr (std::is_same_v<T, std::int8_t>)
    return DataType::kInt8;
  else if constexpr (std::is_same_v<T, std::int16_t>)
    return DataType::kInt16;
  else if constexpr (std::is_same_v<T, std::int32_t>)
    return DataType::kInt32;
  else if constexpr (std::is_same_v<T, std::int64_t>)
    return DataType::kInt64;
  else if constexpr (std::is_same_v<T, std::uint8_t>)
    return DataType::kUint8;
  else if constexpr (std::is_same_v<T, std::uint16_t>)
    return DataType::kUint16;
  else if constexpr (std::is_same_v<T, std::uint32_t>)
    return DataType::kUint32;
  else if constexpr (std::is_same_v<T, std::uint64_t>)
    return DataType::kUint64;
  else if constexpr (std::is_same_v<T, bool>)
    return DataType::kBool;
}

/// Any element type to any other. Floating point to integer truncates toward zero, becomes the nearest number of 32 bits
/// with a sign (uint32, int64: of 64 bits; uint64: the nearest), and wraps like two's complement; NaN becomes 0.
template <typename To, typename From>
To convert(From from) {
  if constexpr (std::is_same_v<To, From>) {
    return from;
  } else if constexpr (std::is_same_v<From, Float16> || std::is_same_v<From, BFloat16>) {
    return convert<To>(static_cast<float>(from));
  } else if constexpr (std::is_same_v<To, Float16> || std::is_same_v<To, BFloat16>) {
    return To(static_cast<float>(from));
  } else if constexpr (std::is_same_v<To, bool>) {
    return from != From{0};
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    const auto wide = static_cast<double>(from);
    if (wide != wide) return To{0};
    if constexpr (std::is_same_v<To, std::uint64_t>) {
      if (wide >= 0x1p64) return ~To{0};
      if (wide >= 0x1p63) return static_cast<To>(wide);
    }
    if constexpr (sizeof(To) < 4 || std::is_same_v<To, std::int32_t>) {
      return static_cast<To>(
          static_cast<std::int32_t>(std::clamp<double>(wide, INT32_MIN, INT32_MAX)));
    } else {
      if (wide >= 0x1p63) return static_cast<To>(INT64_MAX);
      if (wide < -0x1p63) return static_cast<To>(INT64_MIN);
      return static_cast<To>(static_cast<std::int64_t>(wide));
    }
  } else {
    return static_cast<To>(from);
  }
}

namespace detail {
template <typename F, typename... Ts>
void visit_type(DataType dtype, F&& f, TypeList<Ts...>) {
  const bool found =
      ((dtype == data_type_of<Ts>() ? (f.template operator()<Ts>(), true) : false) || ...);
  if (!found) fail_model("element type " + std::string(name(dtype)) + " is not supported");
}
}  // namespace detail

/// Calls f.operator()<T>() with the type of `Types` that stores `dtype`; Error(kModel) when there
/// is none.
template <typename Types, typename F>
void visit_type(DataType dtype, F&& f) {
  detail::visit_type(dtype, std::forward<F>(f), Types{});
}

/// Calls f.operator()<Word>() with an unsigned integer as wide as an element of `dtype`.
template <typename F>
void visit_word(DataType dtype, F&& f) {
  switch (size_bytes(dtype)) {
    case 1:
      return f.template operator()<std::uint8_t>();
    case 2:
      return f.template operator()<std::uint16_t>();
    case 4:
      return f.template operator()<std::uint32_t>();
    case 8:
      return f.template operator()<std::uint64_t>();
    default:
      fail_model("element type " + std::string(name(dtype)) + " is not supported");
  }
}

/// All elements of a tensor of any numeric type or bool, converted.
template <typename To>
std::vector<To> read_as(const Tensor& tensor) {
  std::vector<To> values(static_cast<std::size_t>(tensor.elements()));
  visit_type<AllTypes>(tensor.desc.dtype, [&]<typename T>() {
    const T* data = tensor.as<T>();
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = convert<To>(data[i]);
  });
  return values;
}

/// Shapes, axes, repeats, ... from a tensor.
inline std::vector<std::int64_t> read_ints(const Tensor& tensor) {
  return read_as<std::int64_t>(tensor);
}

/// The only element of a tensor that must have one; `what` names it in the error.
template <typename To>
To read_scalar(const Tensor& tensor, const std::string& what) {
  if (tensor.elements() != 1)
    fail_model(what + " must have one element, but its shape is " + to_string(tensor.desc.shape));
  return read_as<To>(tensor).front();
}

}  // namespace aoe::reference
