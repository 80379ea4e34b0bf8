// Equations of Einsums: a label for each dimension. Ellipses, repeated labels (diagonals) and the implicit output of the
// classical form included.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/tensor.h"

namespace aoe::reference {

/// "ab,bc->ac". Labels are letters; the axes of an ellipsis get the digits, right-aligned as in broadcasting. A label may
/// stand twice in an input, where a diagonal is meant.
struct EinsumEquation {
  std::vector<std::string> inputs;
  std::string output;

  /// Of each label; extents of 1 stretch. Throws Error(kModel) where inputs contradict each other.
  std::map<char, std::int64_t> extents(std::span<const Shape> shapes) const;
};

/// Throws Error(kModel) that says what is wrong with the equation, or with it and inputs of these shapes.
EinsumEquation einsum_equation(std::string text, std::span<const Shape> shapes);

}  // namespace aoe::reference
