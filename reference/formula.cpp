// Making formulas: types are checked while they are put together.
#include "reference/formula.h"

#include <set>
#include <string>

#include "base/check.h"

namespace aoe::reference {
namespace {

std::string type_name(const Formula& a) {
  return std::string(name(a.type()));
}

Formula compare(Fn fn, const Formula& a, const Formula& b) {
  AOE_CHECK(a.type() == b.type(), "a comparison of " + type_name(a) + " and " + type_name(b));
  return Formula({.fn = fn, .type = DataType::kBool, .args = {a, b}});
}

bool is_function_of_reals(Fn fn) {
  return fn >= Fn::kFma && fn <= Fn::kRoundToFloat16;
}

/// Which functions of float32 have no vectors for float64.
bool is_conversion_vectorisable(DataType from, DataType to) {
  return to != DataType::kUint64 || !is_floating(from);
}

class VectorCheck {
 public:
  Result<void> check(const Formula& formula) {
    if (!seen_.insert(formula.get()).second) return {};
    const FormulaNode& node = *formula.get();
    if (node.fn == Fn::kRoundToFloat16 && node.type == DataType::kDouble)
      return Unexpected("float64 is not rounded to float16 on vectors");
    if (node.fn == Fn::kPow && !is_floating(node.type))
      return Unexpected("powers of " + std::string(name(node.type)) +
                        " are not computed on vectors");
    if (node.fn == Fn::kConvert && !is_conversion_vectorisable(node.args[0].type(), node.type))
      return Unexpected("no vectors between " + std::string(name(node.args[0].type())) + " and " +
                        std::string(name(node.type)));
    for (const Formula& arg : node.args)
      if (Result<void> checked = check(arg); !checked) return checked;
    return {};
  }

 private:
  std::set<const FormulaNode*> seen_;
};

}  // namespace

DataType compute_type(DataType stored) {
  return stored == DataType::kFloat16 || stored == DataType::kBFloat16 ? DataType::kFloat : stored;
}

Formula::Formula(FormulaNode node) : node_(std::make_shared<const FormulaNode>(std::move(node))) {
}

DataType Formula::type() const {
  return node_->type;
}

Formula Formula::like(double number) const {
  return Formula({.fn = Fn::kNumber, .type = type(), .number = number});
}

Formula FormulaContext::operand(std::size_t i) const {
  AOE_CHECK(has_operand(i), "a formula reads operand " + std::to_string(i) + ", which is absent");
  const DataType type = compute_type(operands[i].dtype);
  if (operands[i].number)
    return Formula({.fn = Fn::kNumber, .type = type, .number = *operands[i].number});
  return Formula({.fn = Fn::kOperand, .type = type, .operand = static_cast<int>(i)});
}

Formula apply(Fn fn, std::vector<Formula> args) {
  for (const Formula& arg : args)
    AOE_CHECK(arg.type() == args[0].type(),
              "a function of " + type_name(args[0]) + " and " + type_name(arg));
  const DataType type = args[0].type();
  AOE_CHECK(!is_function_of_reals(fn) || is_floating(type),
            "a function of real numbers of " + type_name(args[0]));
  return Formula({.fn = fn, .type = type, .args = std::move(args)});
}

Formula operator+(const Formula& a, const Formula& b) {
  return apply(Fn::kAdd, {a, b});
}
Formula operator-(const Formula& a, const Formula& b) {
  return apply(Fn::kSub, {a, b});
}
Formula operator*(const Formula& a, const Formula& b) {
  return apply(Fn::kMul, {a, b});
}
Formula operator/(const Formula& a, const Formula& b) {
  return apply(Fn::kDiv, {a, b});
}
Formula operator-(const Formula& a) {
  return apply(Fn::kNeg, {a});
}
Formula operator<(const Formula& a, const Formula& b) {
  return compare(Fn::kLess, a, b);
}
Formula operator<=(const Formula& a, const Formula& b) {
  return compare(Fn::kLessEqual, a, b);
}
Formula operator==(const Formula& a, const Formula& b) {
  return compare(Fn::kEqual, a, b);
}
Formula operator&(const Formula& a, const Formula& b) {
  return apply(Fn::kAnd, {a, b});
}
Formula operator|(const Formula& a, const Formula& b) {
  return apply(Fn::kOr, {a, b});
}
Formula operator^(const Formula& a, const Formula& b) {
  return apply(Fn::kXor, {a, b});
}
Formula operator!(const Formula& a) {
  return apply(Fn::kNot, {a});
}
Formula min(const Formula& a, const Formula& b) {
  return apply(Fn::kMin, {a, b});
}
Formula max(const Formula& a, const Formula& b) {
  return apply(Fn::kMax, {a, b});
}
Formula fma(const Formula& a, const Formula& b, const Formula& c) {
  return apply(Fn::kFma, {a, b, c});
}

Formula pow(const Formula& base, const Formula& exponent) {
  const DataType wanted = base.type() == DataType::kFloat ? DataType::kFloat : DataType::kDouble;
  AOE_CHECK(exponent.type() == wanted, "a power of " + type_name(exponent));
  return Formula({.fn = Fn::kPow, .type = base.type(), .args = {base, exponent}});
}

Formula select(const Formula& condition, const Formula& then, const Formula& otherwise) {
  AOE_CHECK(condition.type() == DataType::kBool, "a choice by " + type_name(condition));
  AOE_CHECK(then.type() == otherwise.type(),
            "a choice between " + type_name(then) + " and " + type_name(otherwise));
  return Formula({.fn = Fn::kSelect, .type = then.type(), .args = {condition, then, otherwise}});
}

Formula convert(const Formula& a, DataType to) {
  to = compute_type(to);
  if (a.type() == to) return a;
  if (a->fn == Fn::kNumber && is_floating(to))
    return Formula({.fn = Fn::kNumber, .type = to, .number = a->number});
  return Formula({.fn = Fn::kConvert, .type = to, .args = {a}});
}

Formula saturate(const Formula& a, DataType to) {
  AOE_CHECK(is_floating(a.type()) && is_integer(to), "saturation of " + type_name(a));
  return Formula({.fn = Fn::kSaturate, .type = to, .args = {a}});
}

Result<void> is_vectorisable(const Formula& formula) {
  return VectorCheck().check(formula);
}

}  // namespace aoe::reference
