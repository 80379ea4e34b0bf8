#include "native/typed_formula.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <memory>
#include <type_traits>
#include <vector>

#include "base/check.h"
#include "native/division.h"
#include "native/wide.h"
#include "reference/arithmetic.h"
#include "reference/broadcast.h"
#include "reference/strided.h"

namespace aoe::native {
namespace {

using reference::Fn;
using reference::Formula;
using reference::FormulaNode;

bool is_comparison(Fn fn) {
  return fn == Fn::kLess || fn == Fn::kLessEqual || fn == Fn::kEqual;
}

/// Whether there is a loop for it.
bool has_loop(Fn fn, DataType type) {
  const bool is_real = is_floating(type);
  switch (fn) {
    case Fn::kAdd:
    case Fn::kSub:
    case Fn::kMul:
    case Fn::kMin:
    case Fn::kMax:
    case Fn::kNeg:
    case Fn::kAbs:
      return type != DataType::kBool;
    case Fn::kDiv:
    case Fn::kRemainder:
      return type != DataType::kBool;
    case Fn::kFma:
    case Fn::kSqrt:
      return is_real;
    case Fn::kShiftLeft:
    case Fn::kShiftRight:
      return !is_real && type != DataType::kBool;
    case Fn::kAnd:
    case Fn::kOr:
    case Fn::kXor:
    case Fn::kNot:
      return !is_real;
    default:
      return fn == Fn::kSelect || is_comparison(fn);
  }
}

bool joins_conditions(Fn fn) {
  return fn == Fn::kAnd || fn == Fn::kOr || fn == Fn::kXor || fn == Fn::kNot;
}

/// Whether all values are of `type`, but for conditions, which are results or choose, or become others.
bool takes(const FormulaNode& node, DataType type, bool may_be_condition) {
  const bool is_condition = node.type == DataType::kBool && type != DataType::kBool;
  if (is_condition ? !may_be_condition : node.type != type) return false;
  if (node.fn == Fn::kOperand) return true;
  if (node.fn == Fn::kNumber) return !is_condition;
  const bool joins = is_condition && joins_conditions(node.fn);
  if (!joins && !has_loop(node.fn, type)) return false;
  if (is_condition && !joins && !is_comparison(node.fn)) return false;
  for (std::size_t i = 0; i < node.args.size(); ++i)
    if (!takes(*node.args[i].get(), type, joins || (node.fn == Fn::kSelect && i == 0)))
      return false;
  return true;
}

/// That of its operands which are no conditions; bool where all are.
DataType type_of(const FormulaNode& node) {
  if (node.type != DataType::kBool) return node.type;
  for (const Formula& arg : node.args)
    if (const DataType type = type_of(*arg.get()); type != DataType::kBool) return type;
  return DataType::kBool;
}

// ---- loops ----

template <typename T, typename F>
AOE_WIDE void write(const T* x, std::int64_t count, T* to, F f) {
  for (std::int64_t i = 0; i < count; ++i) to[i] = f(x[i]);
}

template <typename T, typename F>
AOE_WIDE void write(const T* a, const T* b, std::int64_t count, T* to, F f) {
  for (std::int64_t i = 0; i < count; ++i) to[i] = f(a[i], b[i]);
}

template <typename T, typename F>
AOE_WIDE void write(const T* a, const T* b, const T* c, std::int64_t count, T* to, F f) {
  for (std::int64_t i = 0; i < count; ++i) to[i] = f(a[i], b[i], c[i]);
}

template <typename T>
AOE_WIDE void gather(const T* from, std::int64_t stride, std::int64_t count, T* to) {
  for (std::int64_t i = 0; i < count; ++i) to[i] = from[i * stride];
}

/// 1 and 0. Of somebody else's bool any byte but 0 is true.
template <typename T>
AOE_WIDE void widen(const std::uint8_t* from, std::int64_t stride, std::int64_t count, T* to) {
  if (stride == 1) {
    for (std::int64_t i = 0; i < count; ++i) to[i] = from[i] != 0 ? T{1} : T{0};
    return;
  }
  for (std::int64_t i = 0; i < count; ++i) to[i] = from[i * stride] != 0 ? T{1} : T{0};
}

template <typename T>
AOE_WIDE void narrow(const T* from, std::int64_t count, std::uint8_t* to) {
  for (std::int64_t i = 0; i < count; ++i) to[i] = from[i] != 0 ? std::uint8_t{1} : std::uint8_t{0};
}

/// Those of two numbers. False: it is none.
template <typename T>
bool compute_two(Fn fn, const T* a, const T* b, std::int64_t count, T* to) {
  const auto all = [&](auto f) {
    write(a, b, count, to, f);
    return true;
  };
  switch (fn) {
    case Fn::kAdd:
      return all([](T x, T y) { return reference::add(x, y); });
    case Fn::kSub:
      return all([](T x, T y) { return reference::subtract(x, y); });
    case Fn::kMul:
      return all([](T x, T y) { return reference::multiply(x, y); });
    case Fn::kMin:
      return all([](T x, T y) { return (x < y) | (x != x) ? x : y; });
    case Fn::kMax:
      return all([](T x, T y) { return (x > y) | (x != x) ? x : y; });
    case Fn::kLess:
      return all([](T x, T y) { return x < y ? T{1} : T{0}; });
    case Fn::kLessEqual:
      return all([](T x, T y) { return x <= y ? T{1} : T{0}; });
    case Fn::kEqual:
      return all([](T x, T y) { return x == y ? T{1} : T{0}; });
    default:
      break;
  }
  if (fn == Fn::kRemainder) return take_remainders(a, b, count, to), true;
  if constexpr (std::is_floating_point_v<T>) {
    if (fn == Fn::kDiv) return all([](T x, T y) { return x / y; });
  } else {
    constexpr auto kBits = static_cast<std::make_unsigned_t<T>>(sizeof(T) * 8);
    using Bits = std::make_unsigned_t<T>;
    if (fn == Fn::kDiv) return divide_all(a, b, count, to), true;
    if (fn == Fn::kShiftLeft)
      return all([](T x, T y) {
        const Bits wide = static_cast<Bits>(x), by = static_cast<Bits>(y);
        return by < kBits ? static_cast<T>(wide << (by % kBits)) : T{0};
      });
    if (fn == Fn::kShiftRight)
      return all([](T x, T y) {
        const Bits wide = static_cast<Bits>(x), by = static_cast<Bits>(y);
        return by < kBits ? static_cast<T>(wide >> (by % kBits)) : T{0};
      });
    if (fn == Fn::kAnd) return all([](T x, T y) { return static_cast<T>(x & y); });
    if (fn == Fn::kOr) return all([](T x, T y) { return static_cast<T>(x | y); });
    if (fn == Fn::kXor) return all([](T x, T y) { return static_cast<T>(x ^ y); });
  }
  return false;
}

/// Conditions of conditions, which are 1 and 0.
template <typename T>
void join_conditions(Fn fn, const T* a, const T* b, std::int64_t count, T* to) {
  if (fn == Fn::kNot) return write(a, count, to, [](T x) { return x != 0 ? T{0} : T{1}; });
  if (fn == Fn::kXor) return write(a, b, count, to, [](T x, T y) { return x != y ? T{1} : T{0}; });
  if (fn == Fn::kAnd) return write(a, b, count, to, [](T x, T y) { return x < y ? x : y; });
  return write(a, b, count, to, [](T x, T y) { return x < y ? y : x; });
}

// ---- the formula ----

/// Of T, which is std::uint8_t for bool too.
template <typename T>
class TypedFormula {
 public:
  explicit TypedFormula(const Formula& formula) { add(formula); }

  /// Elements [begin, end) of the output.
  void evaluate(std::span<const Tensor> inputs, const Tensor& output, std::int64_t begin,
                std::int64_t end);

 private:
  static constexpr std::int64_t kBlock = 1024;

  /// Of a block of elements: an operand, a number, or a function of earlier steps.
  struct Step {
    const FormulaNode* node;
    std::array<std::size_t, 3> args = {};
    std::unique_ptr<T[]> values;  ///< kBlock of them
    const T* from = nullptr;      ///< where its values lie now
    const T* repeated = nullptr;  ///< the operand's element that all values are
  };

  std::size_t add(const Formula& formula);
  static void load(Step& step, const Tensor& tensor, std::int64_t offset, std::int64_t stride,
                   std::int64_t count, std::int64_t most);
  void compute(const Step& step, std::int64_t count, T* to) const;

  std::map<const FormulaNode*, std::size_t> places_;
  std::vector<Step> steps_;
};

template <typename T>
std::size_t TypedFormula<T>::add(const Formula& formula) {
  if (const auto known = places_.find(formula.get()); known != places_.end()) return known->second;
  Step step{.node = formula.get(), .values = std::make_unique<T[]>(kBlock)};
  for (std::size_t i = 0; i < formula->args.size(); ++i) step.args[i] = add(formula->args[i]);
  if (formula->fn == Fn::kNumber)
    std::fill_n(step.values.get(), kBlock, static_cast<T>(formula->number));
  step.from = step.values.get();
  steps_.push_back(std::move(step));
  return places_[formula.get()] = steps_.size() - 1;
}

/// `count` elements of an operand from `offset` on; of one that stands still as many as `most`, for later blocks of the row.
template <typename T>
void TypedFormula<T>::load(Step& step, const Tensor& tensor, std::int64_t offset,
                           std::int64_t stride, std::int64_t count, std::int64_t most) {
  T* values = step.values.get();
  step.from = values;
  if (step.node->type == DataType::kBool)
    return widen(tensor.as<std::uint8_t>() + offset, stride, count, values);
  const T* from = tensor.as<T>() + offset;
  if (stride == 1) {
    step.from = from;
  } else if (stride != 0) {
    gather(from, stride, count, values);
  } else if (step.repeated != from) {
    std::fill_n(values, most, *from);
    step.repeated = from;
  }
}

/// Conditions are 1 and 0.
template <typename T>
void TypedFormula<T>::compute(const Step& step, std::int64_t count, T* to) const {
  const T *a = steps_[step.args[0]].from, *b = steps_[step.args[1]].from,
          *c = steps_[step.args[2]].from;
  const Fn fn = step.node->fn;
  if (step.node->type == DataType::kBool && joins_conditions(fn))
    return join_conditions(fn, a, b, count, to);
  if (compute_two(fn, a, b, count, to)) return;
  if (fn == Fn::kNeg) return write(a, count, to, [](T x) { return reference::negate(x); });
  if (fn == Fn::kAbs) return write(a, count, to, [](T x) { return reference::absolute(x); });
  if (fn == Fn::kSelect)
    return write(a, b, c, count, to, [](T x, T y, T z) { return x != 0 ? y : z; });
  if constexpr (std::is_floating_point_v<T>) {
    if (fn == Fn::kSqrt) return write(a, count, to, [](T x) { return std::sqrt(x); });
    if (fn == Fn::kFma)
      return write(a, b, c, count, to, [](T x, T y, T z) { return std::fma(x, y, z); });
  } else if (fn == Fn::kNot) {
    return write(a, count, to, [](T x) { return static_cast<T>(~x); });
  }
  AOE_CHECK(false, "a function that has no loop");
}

template <typename T>
void TypedFormula<T>::evaluate(std::span<const Tensor> inputs, const Tensor& output,
                               std::int64_t begin, std::int64_t end) {
  Shape shape = output.desc.shape;
  std::vector<reference::Strides> strides;
  for (const Tensor& input : inputs) {
    // One number may have more axes than the result: bounds of a Clip, for one.
    const bool is_spread = input.is_present() && input.elements() != 1;
    strides.push_back(is_spread ? reference::broadcast_strides(input.desc.shape, shape)
                                : reference::Strides(shape.size(), 0));
  }
  reference::collapse(shape, strides);
  const std::size_t last = shape.size() - 1;
  const bool gives_bool = output.desc.dtype == DataType::kBool;
  for (std::int64_t count = 0; begin < end; begin += count) {
    const std::int64_t column = begin % shape[last], row = begin / shape[last];
    count = std::min({kBlock, shape[last] - column, end - begin});
    for (Step& step : steps_) {
      const bool is_result = &step == &steps_.back() && !gives_bool;
      if (step.node->fn == Fn::kNumber) continue;
      if (step.node->fn != Fn::kOperand) {
        compute(step, count, is_result ? output.as<T>() + begin : step.values.get());
        continue;
      }
      const auto n = static_cast<std::size_t>(step.node->operand);
      std::int64_t offset = column * strides[n][last], left = row;
      for (std::size_t d = last; d-- > 0; left /= shape[d])
        offset += left % shape[d] * strides[n][d];
      load(step, inputs[n], offset, strides[n][last], count, std::min(kBlock, shape[last]));
    }
    if (gives_bool) narrow(steps_.back().values.get(), count, output.as<std::uint8_t>() + begin);
  }
}

template <typename T>
bool run_as(const Formula& formula, std::span<const Tensor> inputs, const Tensor& output,
            Threads& threads) {
  constexpr double kElementNs = 0.3;
  threads.share(output.elements(), kElementNs, [&](std::int64_t begin, std::int64_t end) {
    TypedFormula<T>(formula).evaluate(inputs, output, begin, end);
  });
  return true;
}

}  // namespace

bool evaluate_typed(const Formula& formula, std::span<const Tensor> inputs, const Tensor& output,
                    Threads& threads) {
  const DataType type = type_of(*formula.get());
  const bool is_function = formula->fn != Fn::kOperand && formula->fn != Fn::kNumber;
  const bool has_types = std::ranges::all_of(inputs, [&](const Tensor& input) {
    return !input.is_present() || input.desc.dtype == type || input.desc.dtype == DataType::kBool;
  });
  if (!is_function || !has_types || !takes(*formula.get(), type, true)) return false;
  switch (type) {
    case DataType::kFloat:
      return run_as<float>(formula, inputs, output, threads);
    case DataType::kDouble:
      return run_as<double>(formula, inputs, output, threads);
    case DataType::kInt32:
      return run_as<std::int32_t>(formula, inputs, output, threads);
    case DataType::kInt64:
      return run_as<std::int64_t>(formula, inputs, output, threads);
    case DataType::kInt8:
      return run_as<std::int8_t>(formula, inputs, output, threads);
    case DataType::kInt16:
      return run_as<std::int16_t>(formula, inputs, output, threads);
    case DataType::kUint16:
      return run_as<std::uint16_t>(formula, inputs, output, threads);
    case DataType::kUint32:
      return run_as<std::uint32_t>(formula, inputs, output, threads);
    case DataType::kUint64:
      return run_as<std::uint64_t>(formula, inputs, output, threads);
    case DataType::kUint8:
    case DataType::kBool:
      return run_as<std::uint8_t>(formula, inputs, output, threads);
    default:
      return false;
  }
}

}  // namespace aoe::native
