#include "native/float_formula.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "native/wide.h"
#include "reference/arithmetic.h"
#include "reference/broadcast.h"
#include "reference/strided.h"

namespace aoe::native {
namespace {

using reference::Fn;
using reference::Formula;
using reference::FormulaNode;

std::size_t arguments_of(Fn fn) {
  switch (fn) {
    case Fn::kNeg:
    case Fn::kAbs:
    case Fn::kSqrt:
      return 1;
    case Fn::kAdd:
    case Fn::kSub:
    case Fn::kMul:
    case Fn::kDiv:
    case Fn::kMin:
    case Fn::kMax:
    case Fn::kLess:
    case Fn::kLessEqual:
    case Fn::kEqual:
      return 2;
    case Fn::kFma:
    case Fn::kSelect:
      return 3;
    default:
      return 0;
  }
}

bool is_condition(const FormulaNode& node) {
  return node.fn == Fn::kLess || node.fn == Fn::kLessEqual || node.fn == Fn::kEqual;
}

/// A condition may be the first argument of a choice, and nothing else.
bool takes_node(const FormulaNode& node) {
  if (node.fn == Fn::kOperand || node.fn == Fn::kNumber) return node.type == DataType::kFloat;
  if (arguments_of(node.fn) == 0 || (node.type != DataType::kFloat && !is_condition(node)))
    return false;
  for (std::size_t i = 0; i < node.args.size(); ++i)
    if (is_condition(*node.args[i].get()) != (node.fn == Fn::kSelect && i == 0)) return false;
  return std::ranges::all_of(node.args, [](const Formula& arg) { return takes_node(*arg.get()); });
}

template <typename F>
AOE_WIDE void write(const float* x, std::int64_t count, float* to, F f) {
  for (std::int64_t i = 0; i < count; ++i) to[i] = f(x[i]);
}

template <typename F>
AOE_WIDE void write(const float* a, const float* b, std::int64_t count, float* to, F f) {
  for (std::int64_t i = 0; i < count; ++i) to[i] = f(a[i], b[i]);
}

template <typename F>
AOE_WIDE void write(const float* a, const float* b, const float* c, std::int64_t count, float* to,
                    F f) {
  for (std::int64_t i = 0; i < count; ++i) to[i] = f(a[i], b[i], c[i]);
}

AOE_WIDE void gather(const float* from, std::int64_t stride, std::int64_t count, float* to) {
  for (std::int64_t i = 0; i < count; ++i) to[i] = from[i * stride];
}

}  // namespace

bool FloatFormula::takes(const Formula& formula, std::span<const Tensor> inputs) {
  if (arguments_of(formula->fn) == 0 || is_condition(*formula.get())) return false;
  return takes_node(*formula.get()) && std::ranges::all_of(inputs, [](const Tensor& input) {
           return !input.is_present() || input.desc.dtype == DataType::kFloat;
         });
}

FloatFormula::FloatFormula(const Formula& formula) : formula_(formula) {
  add(formula_);
}

std::size_t FloatFormula::add(const Formula& formula) {
  if (const auto known = places_.find(formula.get()); known != places_.end()) return known->second;
  Step step{.node = formula.get(), .values = std::make_unique<float[]>(kBlock)};
  for (std::size_t i = 0; i < formula->args.size(); ++i) step.args[i] = add(formula->args[i]);
  if (formula->fn == Fn::kNumber)
    std::fill_n(step.values.get(), kBlock, static_cast<float>(formula->number));
  step.from = step.values.get();
  steps_.push_back(std::move(step));
  return places_[formula.get()] = steps_.size() - 1;
}

double FloatFormula::element_ns() const {
  return 0.1 * static_cast<double>(steps_.size());
}

void FloatFormula::load(Step& step, const float* from, std::int64_t stride, std::int64_t count) {
  if (stride == 1) {
    step.from = from;
    return;
  }
  step.from = step.values.get();
  if (stride != 0) return gather(from, stride, count, step.values.get());
  if (step.repeated != from) std::fill_n(step.values.get(), kBlock, *from);
  step.repeated = from;
}

/// Conditions are 1 and 0.
void FloatFormula::compute(const Step& step, std::int64_t count, float* to) const {
  const float *a = steps_[step.args[0]].from, *b = steps_[step.args[1]].from,
              *c = steps_[step.args[2]].from;
  switch (step.node->fn) {
    case Fn::kNeg:
      return write(a, count, to, [](float x) { return -x; });
    case Fn::kAbs:
      return write(a, count, to, [](float x) { return std::fabs(x); });
    case Fn::kSqrt:
      return write(a, count, to, [](float x) { return std::sqrt(x); });
    case Fn::kAdd:
      return write(a, b, count, to, [](float x, float y) { return x + y; });
    case Fn::kSub:
      return write(a, b, count, to, [](float x, float y) { return x - y; });
    case Fn::kMul:
      return write(a, b, count, to, [](float x, float y) { return x * y; });
    case Fn::kDiv:
      return write(a, b, count, to, [](float x, float y) { return x / y; });
    case Fn::kMin:
      return write(a, b, count, to, [](float x, float y) { return (x < y) | (x != x) ? x : y; });
    case Fn::kMax:
      return write(a, b, count, to, [](float x, float y) { return (x > y) | (x != x) ? x : y; });
    case Fn::kLess:
      return write(a, b, count, to, [](float x, float y) { return x < y ? 1.0f : 0.0f; });
    case Fn::kLessEqual:
      return write(a, b, count, to, [](float x, float y) { return x <= y ? 1.0f : 0.0f; });
    case Fn::kEqual:
      return write(a, b, count, to, [](float x, float y) { return x == y ? 1.0f : 0.0f; });
    case Fn::kFma:
      return write(a, b, c, count, to, [](float x, float y, float z) { return std::fma(x, y, z); });
    case Fn::kSelect:
      return write(a, b, c, count, to, [](float x, float y, float z) { return x != 0 ? y : z; });
    default:
      AOE_CHECK(false, "a function that takes() refuses");
  }
}

void FloatFormula::evaluate(std::span<const Tensor> inputs, const Tensor& output,
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
  for (std::int64_t count = 0; begin < end; begin += count) {
    const std::int64_t column = begin % shape[last], row = begin / shape[last];
    count = std::min({kBlock, shape[last] - column, end - begin});
    for (Step& step : steps_) {
      const bool is_result = &step == &steps_.back();
      float* to = is_result ? output.as<float>() + begin : step.values.get();
      if (step.node->fn == Fn::kNumber) continue;
      if (step.node->fn != Fn::kOperand) {
        compute(step, count, to);
        continue;
      }
      const auto n = static_cast<std::size_t>(step.node->operand);
      std::int64_t offset = column * strides[n][last], left = row;
      for (std::size_t d = last; d-- > 0; left /= shape[d])
        offset += left % shape[d] * strides[n][d];
      load(step, inputs[n].as<float>() + offset, strides[n][last], count);
    }
  }
}

}  // namespace aoe::native
