// How the Scatter operators join an element and its update.
#pragma once

#include <string>
#include <type_traits>

#include "base/tensor.h"
#include "reference/attrs.h"
#include "reference/elements/arithmetic.h"
#include "reference/elements/typed.h"
#include "reference/fail.h"

namespace aoe::reference {

/// maximum() and minimum() without a branch for which is the larger, as nobody foresees that of an element and its update.
template <typename T>
T larger(T a, T b) {
  const T known = a > b ? a : b;
  return is_nan(a) ? a : known;
}

template <typename T>
T smaller(T a, T b) {
  const T known = a < b ? a : b;
  return is_nan(a) ? a : known;
}

/// Calls body(f) with the function that combines an old element and its update.
template <typename T, typename Body>
void with_reduction(const Attrs& attrs, Body&& body) {
  const std::string kind = attrs.get_string("reduction", "none");
  const auto apply = [&](auto combine) {
    body([combine](T old, T update) {
      using C = ComputeType<T>;
      return static_cast<T>(combine(static_cast<C>(old), static_cast<C>(update)));
    });
  };
  if (kind == "none") return body([](T, T update) { return update; });
  if constexpr (!std::is_same_v<T, bool>) {
    if (kind == "add") return apply([](auto a, auto b) { return add(a, b); });
    if (kind == "mul") return apply([](auto a, auto b) { return multiply(a, b); });
    if (kind == "max") return apply([](auto a, auto b) { return larger(a, b); });
    if (kind == "min") return apply([](auto a, auto b) { return smaller(a, b); });
  }
  fail_model("reduction '" + kind + "' is not supported for " +
             std::string(name(data_type_of<T>())));
}

}  // namespace aoe::reference
