// Formula: what an elementwise operator computes for one element, as an expression over a closed set of functions and
// types. The reference evaluates it element by element, the compiler lowers the same expression to vectors: an operator
// that has one runs everywhere and fuses.
//
//   Formula leaky_relu(const FormulaContext& context) {
//     const Formula x = context.operand(0);
//     return select(x < x.like(0), x.like(context.attrs.get_float("alpha", 0.01f)) * x, x);
//   }
//
// Types are float32, float64, the integers and bool; float16 and bfloat16 are computed in float32. Integers wrap like
// two's complement, and what they divide by zero is 0. Operands of a function have one type, its result has it too; but
// comparisons give bool, select() takes one, and convert() changes it.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"
#include "base/tensor.h"
#include "reference/attrs.h"

namespace aoe::reference {

// clang-format off
enum class Fn {
  kOperand, kNumber,
  kAdd, kSub, kMul, kDiv,        // of integers: toward zero
  kRemainder,                    // with the sign of the dividend, as C has it
  kMin, kMax,                    // NaN wins
  kNeg, kAbs,
  // of floating point
  kFma, kPow, kExpm1, kLog1p,
#define REAL_FUNCTION(fn, function) fn,
#include "base/real_functions.inc"
#undef REAL_FUNCTION
  kFloor, kRoundEven,
  kRoundToFloat16,               // of float32: the nearest number of float16
  // of bits and of bool
  kAnd, kOr, kXor, kNot,
  kShiftLeft, kShiftRight,       // of unsigned integers; 0 when the distance is the width or more
  kLess, kLessEqual, kEqual,
  kSelect,
  kConvert,                      // as convert() of typed.h: toward zero, integers wrap, NaN is 0
  kSaturate,                     // whole floating-point numbers to integers: to the nearest that there is
};
// clang-format on

struct FormulaNode;

class Formula {
 public:
  explicit Formula(FormulaNode node);
  const FormulaNode* operator->() const { return node_.get(); }
  const FormulaNode* get() const { return node_.get(); }
  DataType type() const;
  Formula like(double number) const;  ///< a number of this formula's type

 private:
  std::shared_ptr<const FormulaNode> node_;
};

struct FormulaNode {
  Fn fn;
  DataType type;
  std::vector<Formula> args = {};
  double number = 0;  ///< kNumber; integers beyond 2^53 are nobody's constants
  int operand = 0;    ///< kOperand
};

/// What a formula is made from: the call, the types of its operands, and the values of those that are one number known
/// when it is compiled.
struct FormulaContext {
  struct Operand {
    DataType dtype = DataType::kUndefined;  ///< kUndefined: absent
    std::optional<double> number = {};
  };
  const Attrs& attrs;
  int version;
  std::span<const Operand> operands;
  DataType output;

  bool has_operand(std::size_t i) const {
    return i < operands.size() && operands[i].dtype != DataType::kUndefined;
  }
  Formula operand(std::size_t i) const;
};

/// What elements of the type are computed in.
DataType compute_type(DataType stored);

Formula operator+(const Formula& a, const Formula& b);
Formula operator-(const Formula& a, const Formula& b);
Formula operator*(const Formula& a, const Formula& b);
Formula operator/(const Formula& a, const Formula& b);
Formula operator-(const Formula& a);
Formula operator<(const Formula& a, const Formula& b);
Formula operator<=(const Formula& a, const Formula& b);
Formula operator==(const Formula& a, const Formula& b);
Formula operator&(const Formula& a, const Formula& b);
Formula operator|(const Formula& a, const Formula& b);
Formula operator^(const Formula& a, const Formula& b);
Formula operator!(const Formula& a);  ///< all bits of an integer
Formula min(const Formula& a, const Formula& b);
Formula max(const Formula& a, const Formula& b);
Formula fma(const Formula& a, const Formula& b, const Formula& c);  ///< a * b + c in one rounding
/// `exponent` is float32 where `base` is, else float64. Of integers exact for whole exponents from 0 on.
Formula pow(const Formula& base, const Formula& exponent);
Formula select(const Formula& condition, const Formula& then, const Formula& otherwise);
Formula convert(const Formula& a, DataType to);
Formula saturate(const Formula& a, DataType to);
/// Any other function of operands of one type.
Formula apply(Fn fn, std::vector<Formula> args);

/// Whether generated code can have the formula on vectors, and if not why not. All types can; what is missing are powers of
/// integers and conversions from real numbers to uint64.
Result<void> is_vectorisable(const Formula& formula);

/// output[i] = formula of inputs[...][i], with broadcasting. The types are those that the formula was made for.
void evaluate(const Formula& formula, std::span<const Tensor> inputs, const Tensor& output);
/// Elements [begin, end) of the output alone.
void evaluate(const Formula& formula, std::span<const Tensor> inputs, const Tensor& output,
              std::int64_t begin, std::int64_t end);

}  // namespace aoe::reference
