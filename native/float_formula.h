// Formulas of float32 made of arithmetic, comparisons and choices, on vectors: operands are read where they lie.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "reference/formula.h"

namespace aoe::native {

/// Gives the numbers of reference::evaluate().
class FloatFormula {
 public:
  /// Whether all that it reads and computes is float32, but for conditions, by functions that are here.
  static bool takes(const reference::Formula& formula, std::span<const Tensor> inputs);

  explicit FloatFormula(const reference::Formula& formula);

  /// Elements [begin, end) of the output.
  void evaluate(std::span<const Tensor> inputs, const Tensor& output, std::int64_t begin,
                std::int64_t end);
  double element_ns() const;

 private:
  static constexpr std::int64_t kBlock = 1024;

  /// Of a block of elements: an operand, a number, or a function of earlier steps.
  struct Step {
    const reference::FormulaNode* node;
    std::array<std::size_t, 3> args = {};
    std::unique_ptr<float[]> values;  ///< kBlock of them
    const float* from = nullptr;      ///< where its values lie now
    const float* repeated = nullptr;  ///< the operand's element that all values are
  };

  std::size_t add(const reference::Formula& formula);
  static void load(Step& step, const float* from, std::int64_t stride, std::int64_t count);
  void compute(const Step& step, std::int64_t count, float* to) const;

  reference::Formula formula_;
  std::map<const reference::FormulaNode*, std::size_t> places_;
  std::vector<Step> steps_;
};

}  // namespace aoe::native
