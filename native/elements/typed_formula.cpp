#include "native/elements/typed_formula.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <memory>
#include <type_traits>
#include <vector>

#include "base/ceil_div.h"
#include "base/check.h"
#include "native/elements/formula_loops.h"
#include "native/scratch.h"
#include "reference/elements/arithmetic.h"
#include "reference/tensors/broadcast.h"
#include "reference/tensors/strided.h"

namespace aoe::native {
namespace {

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

/// The functions in the order in which they can be computed, each once.
class Order {
 public:
  std::size_t add(const Formula& formula) {
    if (const auto known = places_.find(formula.get()); known != places_.end())
      return known->second;
    TypedFormula::Step step{.node = formula.get()};
    for (std::size_t i = 0; i < formula->args.size(); ++i) step.args[i] = add(formula->args[i]);
    steps_.push_back(step);
    return places_[formula.get()] = steps_.size() - 1;
  }

  std::vector<TypedFormula::Step> steps() && { return std::move(steps_); }

 private:
  std::map<const FormulaNode*, std::size_t> places_;
  std::vector<TypedFormula::Step> steps_;
};

// ---- where elements lie ----

struct Place {
  std::int64_t offset, stride;
};

/// The output's elements in rows, along which each input has one stride. One row where inputs are as long as the output or one number.
class InputRows {
 public:
  InputRows(std::span<const Tensor> inputs, const Tensor& output)
      : inputs_(inputs), row_(output.elements()) {
    const auto is_flat = [&](const Tensor& input) {
      return !input.is_present() || is_one(input) || input.elements() == row_;
    };
    if (std::ranges::all_of(inputs, is_flat)) return;
    shape_ = output.desc.shape;
    for (const Tensor& input : inputs)
      strides_.push_back(input.is_present() && !is_one(input)
                             ? reference::broadcast_strides(input.desc.shape, shape_)
                             : reference::Strides(shape_.size(), 0));
    reference::collapse(shape_, strides_);
    row_ = shape_.back();
  }

  std::int64_t length() const { return row_; }

  /// Of the output's element `at` in input n.
  Place place(std::size_t n, std::int64_t at) const {
    if (strides_.empty()) return is_one(inputs_[n]) ? Place{0, 0} : Place{at, 1};
    const reference::Strides& own = strides_[n];
    const std::size_t last = shape_.size() - 1;
    std::int64_t offset = at % row_ * own[last], left = at / row_;
    for (std::size_t d = last; d-- > 0; left /= shape_[d]) offset += left % shape_[d] * own[d];
    return {offset, own[last]};
  }

 private:
  /// It may have more axes than the result: bounds of a Clip, for one.
  static bool is_one(const Tensor& input) { return input.elements() == 1; }

  std::span<const Tensor> inputs_;
  std::int64_t row_;
  Shape shape_ = {};                              ///< empty: flat
  std::vector<reference::Strides> strides_ = {};  ///< by input; empty: flat
};

// ---- a part of the output ----

/// Of T, which is std::uint8_t for bool too.
template <typename T>
class FormulaPart {
 public:
  FormulaPart(std::span<const TypedFormula::Step> steps, std::span<const Tensor> inputs,
              const InputRows& rows)
      : steps_(steps),
        inputs_(inputs),
        rows_(rows),
        room_(round_up(std::min(kBlock, rows.length()), kLine)),
        values_(steps.size() * sizeof(Values)),
        memory_(steps.size() * static_cast<std::size_t>(room_) * sizeof(T)) {
    for (std::size_t s = 0; s < steps.size(); ++s) {
      Values& own = values(s);
      own = {memory_.as<T>() + static_cast<std::int64_t>(s) * room_, nullptr, nullptr};
      own.from = own.room;
      if (steps[s].node->fn == Fn::kNumber)
        std::fill_n(own.room, room_, static_cast<T>(steps[s].node->number));
    }
  }

  /// Elements [begin, end) of the output.
  void evaluate(const Tensor& output, std::int64_t begin, std::int64_t end) const {
    const bool gives_bool = output.desc.dtype == DataType::kBool;
    const std::size_t last = steps_.size() - 1;
    const std::int64_t row = rows_.length();
    for (std::int64_t count = 0; begin < end; begin += count) {
      count = std::min({kBlock, row - begin % row, end - begin});
      for (std::size_t s = 0; s <= last; ++s) {
        const Fn fn = steps_[s].node->fn;
        if (fn == Fn::kOperand)
          load(s, begin, count);
        else if (fn != Fn::kNumber)
          compute(s, count, s == last && !gives_bool ? output.as<T>() + begin : values(s).room);
      }
      if (gives_bool) narrow(values(last).room, count, output.as<std::uint8_t>() + begin);
    }
  }

 private:
  static constexpr std::int64_t kBlock = 1024, kLine = 64 / sizeof(T);

  /// Of a step, for the elements of a block.
  struct Values {
    T* room;
    const T* from;      ///< where they lie now
    const T* repeated;  ///< the operand's element that all in the room are
  };
  Values& values(std::size_t step) const { return values_.as<Values>()[step]; }

  /// `count` elements of an operand for those of the output from `at` on; of one that stands still all that the room takes, for later blocks.
  void load(std::size_t step, std::int64_t at, std::int64_t count) const {
    Values& own = values(step);
    const FormulaNode& node = *steps_[step].node;
    const auto n = static_cast<std::size_t>(node.operand);
    const auto [offset, stride] = rows_.place(n, at);
    own.from = own.room;
    if (node.type == DataType::kBool)
      return widen(inputs_[n].as<std::uint8_t>() + offset, stride, count, own.room);
    const T* from = inputs_[n].as<T>() + offset;
    if (stride == 1) {
      own.from = from;
    } else if (stride != 0) {
      gather(from, stride, count, own.room);
    } else if (own.repeated != from) {
      std::fill_n(own.room, std::min(room_, rows_.length()), *from);
      own.repeated = from;
    }
  }

  void compute(std::size_t step, std::int64_t count, T* to) const;

  std::span<const TypedFormula::Step> steps_;
  std::span<const Tensor> inputs_;
  const InputRows& rows_;
  const std::int64_t room_;  ///< elements, for each step
  Scratch values_, memory_;
};

/// Conditions are 1 and 0.
template <typename T>
void FormulaPart<T>::compute(std::size_t step, std::int64_t count, T* to) const {
  const auto& args = steps_[step].args;
  const T *a = values(args[0]).from, *b = values(args[1]).from, *c = values(args[2]).from;
  const Fn fn = steps_[step].node->fn;
  if (steps_[step].node->type == DataType::kBool && joins_conditions(fn))
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

/// Calls f.operator()<T>(); false where there are no loops of the type.
template <typename F>
bool with_type(DataType type, const F& f) {
  switch (type) {
    case DataType::kFloat:
      return f.template operator()<float>(), true;
    case DataType::kDouble:
      return f.template operator()<double>(), true;
    case DataType::kInt8:
      return f.template operator()<std::int8_t>(), true;
    case DataType::kInt16:
      return f.template operator()<std::int16_t>(), true;
    case DataType::kInt32:
      return f.template operator()<std::int32_t>(), true;
    case DataType::kInt64:
      return f.template operator()<std::int64_t>(), true;
    case DataType::kUint16:
      return f.template operator()<std::uint16_t>(), true;
    case DataType::kUint32:
      return f.template operator()<std::uint32_t>(), true;
    case DataType::kUint64:
      return f.template operator()<std::uint64_t>(), true;
    case DataType::kUint8:
    case DataType::kBool:
      return f.template operator()<std::uint8_t>(), true;
    default:
      return false;
  }
}

}  // namespace

TypedFormula::TypedFormula(Formula formula, DataType type)
    : formula_(std::move(formula)), type_(type) {
  Order order;
  order.add(formula_);
  steps_ = std::move(order).steps();
}

std::optional<TypedFormula> TypedFormula::of(Formula formula, std::span<const Tensor> inputs) {
  const DataType type = type_of(*formula.get());
  const bool is_function = formula->fn != Fn::kOperand && formula->fn != Fn::kNumber;
  const bool has_types = std::ranges::all_of(inputs, [&](const Tensor& input) {
    return !input.is_present() || input.desc.dtype == type || input.desc.dtype == DataType::kBool;
  });
  if (!is_function || !has_types || !takes(*formula.get(), type, true)) return {};
  if (!with_type(type, []<typename T>() {})) return {};
  return TypedFormula(std::move(formula), type);
}

void TypedFormula::evaluate(std::span<const Tensor> inputs, const Tensor& output,
                            Threads& threads) const {
  const InputRows rows(inputs, output);
  with_type(type_, [&]<typename T>() {
    constexpr double kElementNs = 0.3;
    threads.share(output.elements(), kElementNs, [&](std::int64_t begin, std::int64_t end) {
      FormulaPart<T>(steps_, inputs, rows).evaluate(output, begin, end);
    });
  });
}

}  // namespace aoe::native
