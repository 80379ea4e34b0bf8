// Cutting a compilation off, from where its caller's time is up or a person has stopped it.
#pragma once

#include <exception>
#include <functional>

namespace aoe::compiler {

/// Thrown by what compiles, on the caller's thread. No Error: nothing is wrong with the model.
class CutOff : public std::exception {
 public:
  const char* what() const noexcept override { return "the compilation was cut off"; }
};

/// Polled between kernels and between packed constants, by several threads at once. Empty: never.
using IsCutOff = std::function<bool()>;

inline void check_cut_off(const IsCutOff& is_cut_off) {
  if (is_cut_off && is_cut_off()) throw CutOff();
}

}  // namespace aoe::compiler
