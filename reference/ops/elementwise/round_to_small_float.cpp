// RoundToSmallFloat: ours. Each float32 to the nearest number of a narrower floating-point type, ties to even, kept as
// float32. Attributes say what the type is: numbers of `mantissa_bits` bits behind the point, of exponents from
// `least_exponent` (what is smaller has that one, and fewer bits) to that of `most`, its largest number. What is beyond
// becomes `most`, or by `beyond` infinity or NaN; `no_negative_zero`: -0 is 0. `no_nan`: NaN, which the type lacks, is 0.
#include <cmath>

#include "reference/elementwise.h"

namespace aoe::reference {
namespace {

Formula round_to_small_float(const FormulaContext& context) {
  const Attrs& attrs = context.attrs;
  const Formula x = context.operand(0);
  const auto digits = static_cast<double>(attrs.get_int("mantissa_bits", 0));
  const auto least = static_cast<double>(attrs.get_int("least_exponent", 0));
  const double most = attrs.get_float("most", 1), greatest = std::floor(std::log2(most));
  const double ln2 = std::log(2.0);
  // An exponent that is off by one just below a power of 2 changes nothing: both steps lead there.
  const Formula logarithm = apply(Fn::kLog, {apply(Fn::kAbs, {x})}) * x.like(1 / ln2);
  const Formula exponent =
      min(max(apply(Fn::kFloor, {logarithm}), x.like(least)), x.like(greatest));
  // Of float16, a power of 2 is exact.
  const Formula step =
      apply(Fn::kRoundToFloat16, {apply(Fn::kExp, {(exponent - x.like(digits)) * x.like(ln2)})});
  Formula y = apply(Fn::kRoundEven, {x / step}) * step;
  if (attrs.get_int("no_negative_zero", 0) != 0) y = y + x.like(0);
  const Formula bounded = min(max(y, x.like(-most)), x.like(most));
  const std::string beyond = attrs.get_string("beyond", "most");
  if (beyond == "most")
    return attrs.get_int("no_nan", 0) != 0 ? select(y == y, bounded, x.like(0)) : bounded;
  const Formula other = beyond == "infinity" ? y / x.like(0) : x.like(std::nan(""));
  return select(apply(Fn::kAbs, {y}) <= x.like(most), bounded, other);
}

}  // namespace

void register_round_to_small_float(OpRegistry& registry) {
  registry.add(elementwise("RoundToSmallFloat", "",
                           {"s",
                            "!mantissa_bits=1..8 !least_exponent=-16..0 !most=float:0.. "
                            "beyond=most|infinity|nan no_negative_zero=0..1 no_nan=0..1"},
                           round_to_small_float, infer_like_first));
}

}  // namespace aoe::reference
