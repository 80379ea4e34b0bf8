// Formulas all of whose values have one type, but for conditions, on vectors: operands are read where they lie.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "native/threads.h"
#include "reference/formula.h"

namespace aoe::native {

/// Made once, and evaluated as often as a model runs.
class TypedFormula {
 public:
  /// Nothing where the formula has other types or functions.
  static std::optional<TypedFormula> of(reference::Formula formula, std::span<const Tensor> inputs);

  /// Gives what reference::evaluate() gives, on all threads. The types are those that it was made for.
  void evaluate(std::span<const Tensor> inputs, const Tensor& output, Threads& threads) const;

  /// Of a block of elements: an operand, a number, or a function of earlier steps.
  struct Step {
    const reference::FormulaNode* node;
    std::array<std::size_t, 3> args = {};
  };

 private:
  explicit TypedFormula(reference::Formula formula, DataType type);

  reference::Formula formula_;  ///< whose nodes the steps name
  DataType type_;
  std::vector<Step> steps_;
};

}  // namespace aoe::native
