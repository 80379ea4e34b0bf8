// See formula_lanes.h: one case per function.
#include "compiler/emit/formula_lanes.h"

#include <cmath>
#include <limits>
#include <map>

#include "base/check.h"
#include "compiler/emit/element_lanes.h"
#include "reference/elements/typed.h"

namespace aoe::compiler {
namespace {

using reference::Fn;
using reference::Formula;
using reference::FormulaNode;

std::optional<double> number_of(const Formula& formula) {
  if (formula->fn != Fn::kNumber) return {};
  return formula->number;
}

/// Lanes are wider than integers of 8 and 16 bits: the bits that these do not have follow from their highest one.
Vec wrapped(const Vec& x, DataType dtype) {
  const std::size_t bits = size_bytes(dtype) * 8;
  if (bits >= 32) return x;
  Vec low = bit_and(x, int_like((std::int64_t{1} << bits) - 1, x));
  if (!is_signed(dtype)) return low;
  const Vec sign = int_like(std::int64_t{1} << (bits - 1), x);
  return bit_xor(low, sign) - sign;
}

/// Unsigned numbers of a lane's full width in the order of signed ones.
Vec ordered(const Vec& x, DataType dtype) {
  if (is_signed(dtype) || size_bytes(dtype) < 4) return x;
  const bool is_wide = x.type() == Type::kInt64;
  return bit_xor(x, int_like(is_wide ? std::numeric_limits<std::int64_t>::min()
                                     : std::numeric_limits<std::int32_t>::min(),
                             x));
}

Mask is_less(const Vec& a, const Vec& b, DataType dtype) {
  return ordered(a, dtype) < ordered(b, dtype);
}

Vec remainder(const Vec& a, const Vec& b, bool is_signed) {
  const Vec rest = a - int_divide(a, b, is_signed) * b;
  return select(b == int_like(0, b), b, rest);
}

Vec shifted(Fn fn, const Vec& x, const Vec& distance, DataType dtype) {
  const auto width = static_cast<std::int64_t>(size_bytes(dtype) * 8);
  const Mask is_within = (!(distance < int_like(0, x))) & (distance < int_like(width, x));
  const Vec moved = fn == Fn::kShiftLeft ? shift_left(x, distance) : shift_right(x, distance);
  return select(is_within, moved, int_like(0, x));
}

class Emitter {
 public:
  Emitter(std::span<const std::optional<Lanes>> operands, int lanes)
      : operands_(operands), lanes_(lanes) {}

  Lanes emit(const Formula& formula) {
    if (const auto known = values_.find(formula.get()); known != values_.end())
      return known->second;
    const Lanes made = make(*formula.get());
    values_.emplace(formula.get(), made);
    return made;
  }

 private:
  Lanes make(const FormulaNode& node) {
    switch (node.fn) {
      case Fn::kOperand:
        return operands_[static_cast<std::size_t>(node.operand)].value();
      case Fn::kNumber:
        return Lanes::number(node.type, node.number, lanes_);
      case Fn::kLess:
      case Fn::kLessEqual:
      case Fn::kEqual:
        return Lanes::truth(compare(node));
      case Fn::kConvert:
        return converted(emit(node.args[0]), node.type);
      case Fn::kSub:
        if (const auto less = reals_less_zero(node)) return *less;
        break;
      case Fn::kSaturate:
        if (const auto bytes = rounded_to_bytes(node)) return *bytes;
        return saturated(emit(node.args[0]), node.type);
      case Fn::kSelect:
        return chosen(node);
      default:
        break;
    }
    if (node.type == DataType::kBool) return Lanes::truth(logic(node));
    if (is_floating(node.type)) return Lanes::reals(node.type, of_reals(node));
    return Lanes::integers(node.type, wrapped(of_integers(node), node.type));
  }

  Vec real_arg(const FormulaNode& node, std::size_t i) { return emit(node.args[i]).as_reals(); }
  Vec int_arg(const FormulaNode& node, std::size_t i) { return emit(node.args[i]).as_integers(); }
  Mask truth_arg(const FormulaNode& node, std::size_t i) { return emit(node.args[i]).as_truth(); }

  Mask compare(const FormulaNode& node) {
    const DataType type = node.args[0].type();
    if (type == DataType::kBool) {
      AOE_CHECK(node.fn == Fn::kEqual, "bool is not ordered");
      return !(truth_arg(node, 0) ^ truth_arg(node, 1));
    }
    const bool is_real = is_floating(type);
    const Vec a = is_real ? real_arg(node, 0) : ordered(int_arg(node, 0), type);
    const Vec b = is_real ? real_arg(node, 1) : ordered(int_arg(node, 1), type);
    if (node.fn == Fn::kEqual) return a == b;
    return node.fn == Fn::kLess ? a < b : a <= b;
  }

  Mask logic(const FormulaNode& node) {
    const Mask a = truth_arg(node, 0);
    if (node.fn == Fn::kNot) return !a;
    const Mask b = truth_arg(node, 1);
    AOE_CHECK(node.fn == Fn::kAnd || node.fn == Fn::kOr || node.fn == Fn::kXor, "not of bool");
    return node.fn == Fn::kAnd ? a & b : node.fn == Fn::kOr ? a | b : a ^ b;
  }

  Lanes chosen(const FormulaNode& node) {
    const Mask on = truth_arg(node, 0);
    if (node.type == DataType::kBool)
      return Lanes::truth((on & truth_arg(node, 1)) | ((!on) & truth_arg(node, 2)));
    if (is_floating(node.type))
      return Lanes::reals(node.type, select(on, real_arg(node, 1), real_arg(node, 2)));
    return Lanes::integers(node.type, select(on, int_arg(node, 1), int_arg(node, 2)));
  }

  Lanes converted(const Lanes& from, DataType to) {
    if (is_floating(to)) return Lanes::reals(to, from.as_reals(real_lanes(to)));
    if (to == DataType::kBool) return Lanes::truth(from.as_truth());
    const bool is_from_float = is_floating(from.dtype());
    if (is_from_float) {
      // Integers wrap after 64 bits, which only uint32 needs more than 32 for.
      const bool is_wide = size_bytes(to) == 8 || to == DataType::kUint32;
      const Vec whole = convert(from.as_reals(), is_wide ? Type::kInt64 : Type::kInt32);
      return Lanes::integers(to, wrapped(convert(whole, lanes_of(to)), to));
    }
    const Vec lanes = convert(from.as_integers(), lanes_of(to), is_signed(from.dtype()));
    return Lanes::integers(to, wrapped(lanes, to));
  }

  /// What Quantize computes of uint8.
  std::optional<Lanes> rounded_to_bytes(const FormulaNode& saturate) {
    if (saturate.type != DataType::kUint8) return {};
    const Formula& sum = saturate.args[0];
    const bool has_zero = sum->fn == Fn::kAdd;
    const Formula& rounded = has_zero ? sum->args[0] : sum;
    const auto zero = has_zero ? number_of(sum->args[1]) : 0.0;
    const bool is_byte = zero && *zero >= 0 && *zero <= 255 && *zero == std::floor(*zero);
    if (rounded->fn != Fn::kRoundEven || rounded.type() != DataType::kFloat || !is_byte) return {};
    return Lanes::rounded_to_bytes(emit(rounded->args[0]).as_reals(), static_cast<int>(*zero));
  }

  /// The first steps of Dequantize behind a Quantize of the same zero point, which need not be added and subtracted.
  std::optional<Lanes> reals_less_zero(const FormulaNode& difference) {
    const Formula &from = difference.args[0], &zero = difference.args[1];
    if (from->fn != Fn::kConvert || difference.type != DataType::kFloat || !number_of(zero))
      return {};
    const auto less = emit(from->args[0]).as_reals_less(*number_of(zero));
    if (!less) return {};
    return Lanes::reals(difference.type, *less);
  }

  /// Stays in lanes of real numbers until somebody wants integers: a store saturates as well.
  Lanes saturated(const Lanes& from, DataType to) {
    AOE_CHECK(size_bytes(to) <= 2, "saturation of more than float32 holds");
    const Vec given = from.as_reals(), x = given + number_like(0, given);  // no -0
    const auto bits = static_cast<int>(size_bytes(to) * 8);
    const float low = is_signed(to) ? -static_cast<float>(1 << (bits - 1)) : 0;
    const float high = low + static_cast<float>((1 << bits) - 1);
    return Lanes::reals(to, min(max(x, number_like(low, x)), number_like(high, x)));
  }

  /// y where the formula is 1 + e^-y.
  static std::optional<Formula> sigmoid_operand(const Formula& formula) {
    if (formula->fn != Fn::kAdd || number_of(formula->args[0]) != 1) return {};
    const Formula& power = formula->args[1];
    if (power->fn != Fn::kExp || power->args[0]->fn != Fn::kNeg) return {};
    return power->args[0]->args[0];
  }

  Vec of_reals(const FormulaNode& node) {
    if (node.fn == Fn::kDiv) {
      if (const auto y = sigmoid_operand(node.args[1])) {
        const Vec s = sigmoid(emit(*y).as_reals());
        return number_of(node.args[0]) == 1 ? s : real_arg(node, 0) * s;
      }
    }
    const Vec a = real_arg(node, 0);
    if (node.args.size() == 1) return of_one(node.fn, a);
    const Vec b = real_arg(node, 1);
    switch (node.fn) {
      case Fn::kAdd:
        return a + b;
      case Fn::kSub:
        return a - b;
      case Fn::kMul:
        return a * b;
      case Fn::kDiv:
        return a / b;
      case Fn::kRemainder:
        return fmod(a, b);
      case Fn::kMin:
        return min(a, b);
      case Fn::kMax:
        return max(a, b);
      case Fn::kFma:
        return fma(a, b, real_arg(node, 2));
      case Fn::kPow:
        return pow(a, b);
      default:
        AOE_CHECK(false, "not a function of real numbers");
    }
  }

  static Vec of_one(Fn fn, const Vec& x) {
    switch (fn) {
      case Fn::kNeg:
        return -x;
      case Fn::kAbs:
        return abs(x);
      case Fn::kExpm1:  // to 1e-7 absolute
        return exp(x) - number_like(1, x);
      case Fn::kLog1p:
        return log1p(x);
      case Fn::kFloor:
        return floor(x);
      case Fn::kRoundEven:
        return round_even(x);
      case Fn::kRoundToFloat16:
        return convert(convert(x, Type::kFloat16), Type::kFloat);
#define REAL_FUNCTION(fn, function) \
  case Fn::fn:                      \
    return function(x);
#include "base/real_functions.inc"
#undef REAL_FUNCTION
      default:
        AOE_CHECK(false, "not a function of real numbers");
    }
  }

  /// Bits beyond those of the type may come out; the caller wraps.
  Vec of_integers(const FormulaNode& node) {
    const Vec a = int_arg(node, 0);
    const bool is_signed_type = is_signed(node.type);
    if (node.fn == Fn::kNeg) return -a;
    if (node.fn == Fn::kNot) return bit_xor(a, int_like(-1, a));
    if (node.fn == Fn::kAbs) return is_signed_type ? select(a < int_like(0, a), -a, a) : a;
    const Vec b = int_arg(node, 1);
    switch (node.fn) {
      case Fn::kAdd:
        return a + b;
      case Fn::kSub:
        return a - b;
      case Fn::kMul:
        return a * b;
      case Fn::kDiv:
        return int_divide(a, b, is_signed_type);
      case Fn::kRemainder:
        return remainder(a, b, is_signed_type);
      case Fn::kMin:
        return select(is_less(a, b, node.type), a, b);
      case Fn::kMax:
        return select(is_less(a, b, node.type), b, a);
      case Fn::kAnd:
        return bit_and(a, b);
      case Fn::kOr:
        return bit_or(a, b);
      case Fn::kXor:
        return bit_xor(a, b);
      case Fn::kShiftLeft:
      case Fn::kShiftRight:
        return shifted(node.fn, a, b, node.type);
      default:
        AOE_CHECK(false, "not a function of integers");
    }
  }

  std::span<const std::optional<Lanes>> operands_;
  int lanes_;
  std::map<const FormulaNode*, Lanes> values_;
};

}  // namespace

Lanes emit_formula(const Formula& formula, std::span<const std::optional<Lanes>> operands,
                   int lanes) {
  return Emitter(operands, lanes).emit(formula);
}

}  // namespace aoe::compiler
