// Result<T>: a value, or the reason why there is none. For a normal "no" that the caller deals with itself:
// an Impl that does not apply, a candidate that failed. Names follow std::expected, which g++ 12 lacks in C++20.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "base/check.h"

namespace aoe {

/// Wraps a reason: `return Unexpected("3 channels, needs at least 8");`
struct Unexpected {
  explicit Unexpected(std::string why) : reason(std::move(why)) {}
  std::string reason;
};

template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}  // NOLINT: implicit
  Result(Unexpected no)
      : state_(std::in_place_index<1>, std::move(no.reason)) {}  // NOLINT: implicit

  bool has_value() const { return state_.index() == 0; }
  explicit operator bool() const { return has_value(); }
  T& value() & { return check(), std::get<0>(state_); }
  const T& value() const& { return check(), std::get<0>(state_); }
  T&& value() && { return check(), std::get<0>(std::move(state_)); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }
  const std::string& error() const { return std::get<1>(state_); }
  T value_or(T fallback) const { return has_value() ? std::get<0>(state_) : std::move(fallback); }

 private:
  void check() const {
    AOE_CHECK(has_value(), "value() of a Result that holds: " + std::get<1>(state_));
  }
  std::variant<T, std::string> state_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Unexpected no) : reason_(std::move(no.reason)) {}  // NOLINT: implicit
  bool has_value() const { return !reason_; }
  explicit operator bool() const { return has_value(); }
  const std::string& error() const { return *reason_; }

 private:
  std::optional<std::string> reason_;
};

}  // namespace aoe
