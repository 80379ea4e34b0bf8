// evaluate(): the formula as a row of instructions, each run over a block of elements at a time.
#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "base/check.h"
#include "reference/elements/arithmetic.h"
#include "reference/elements/power.h"
#include "reference/elements/typed.h"
#include "reference/formula.h"
#include "reference/tensors/broadcast.h"

namespace aoe::reference {
namespace {

constexpr std::int64_t kBlock = 256;
constexpr std::size_t kWidestBytes = 8;

// ---- one element ----

template <typename T>
T shift(T x, T distance, bool is_left) {
  if (static_cast<std::uint64_t>(distance) >= sizeof(T) * 8) return T{0};
  const auto wide = static_cast<std::uint64_t>(x);
  return static_cast<T>(is_left ? wide << distance : wide >> distance);
}

template <typename T>
T number_of(Fn fn, T a, T b) {
  switch (fn) {
    case Fn::kAdd:
      return add(a, b);
    case Fn::kSub:
      return subtract(a, b);
    case Fn::kMul:
      return multiply(a, b);
    case Fn::kDiv:
      return divide(a, b);
    case Fn::kRemainder:
      return remainder(a, b);
    case Fn::kMin:
      return minimum(a, b);
    case Fn::kMax:
      return maximum(a, b);
    default:
      AOE_CHECK(false, "not a function of two numbers");
  }
}

template <typename T>
T bits_of(Fn fn, T a, T b) {
  switch (fn) {
    case Fn::kAnd:
      return static_cast<T>(a & b);
    case Fn::kOr:
      return static_cast<T>(a | b);
    case Fn::kXor:
      return static_cast<T>(a ^ b);
    case Fn::kShiftLeft:
      return shift(a, b, true);
    case Fn::kShiftRight:
      return shift(a, b, false);
    default:
      AOE_CHECK(false, "not a function of bits");
  }
}

template <typename T>
T real_of(Fn fn, T x) {
  switch (fn) {
    case Fn::kExpm1:
      return std::expm1(x);
    case Fn::kLog1p:
      return std::log1p(x);
    case Fn::kFloor:
      return std::floor(x);
    case Fn::kRoundEven:
      return std::nearbyint(x);  // the processor's default rounding
    case Fn::kRoundToFloat16:
      return static_cast<T>(static_cast<float>(Float16(static_cast<float>(x))));
#define REAL_FUNCTION(fn, function) \
  case Fn::fn:                      \
    return std::function(x);
#include "base/real_functions.inc"
#undef REAL_FUNCTION
    default:
      AOE_CHECK(false, "not a function of real numbers");
  }
}

template <typename T>
T one_of(Fn fn, T x) {
  if (fn == Fn::kNeg) return negate(x);
  if (fn == Fn::kAbs) return absolute(x);
  if constexpr (std::is_floating_point_v<T>) {
    return real_of(fn, x);
  } else {
    AOE_CHECK(false, "a function of real numbers of integers");
  }
}

/// What most formulas of float32 are made of, each as a loop of its own, which compilers make one of vectors.
bool compute_usual(Fn fn, const float* a, const float* b, std::int64_t count, float* y) {
  const auto each = [&](auto f) {
    for (std::int64_t i = 0; i < count; ++i) y[i] = f(a[i], b[i]);
    return true;
  };
  switch (fn) {
    case Fn::kAdd:
      return each([](float x, float z) { return x + z; });
    case Fn::kSub:
      return each([](float x, float z) { return x - z; });
    case Fn::kMul:
      return each([](float x, float z) { return x * z; });
    case Fn::kDiv:
      return each([](float x, float z) { return x / z; });
    case Fn::kMin:
      return each([](float x, float z) { return minimum(x, z); });
    case Fn::kMax:
      return each([](float x, float z) { return maximum(x, z); });
    default:
      return false;
  }
}

template <typename To, typename From>
To saturated(From x) {
  if (std::isnan(x)) return To{0};
  const auto low = static_cast<double>(std::numeric_limits<To>::lowest());
  const auto high = static_cast<double>(std::numeric_limits<To>::max());
  if (x <= low) return std::numeric_limits<To>::lowest();
  return x >= high ? std::numeric_limits<To>::max() : static_cast<To>(x);
}

// ---- a block of them ----

struct Block {
  alignas(64) std::byte bytes[kBlock * kWidestBytes];
  template <typename T>
  T* as() {
    return reinterpret_cast<T*>(bytes);
  }
};

struct Instruction {
  const FormulaNode* node;
  std::vector<std::size_t> args;  ///< of earlier instructions
};

class Program {
 public:
  explicit Program(const Formula& formula) {
    add(formula);
    blocks_.resize(instructions_.size());
  }

  /// `load(operand, block)` fills a block with what an operand holds.
  template <typename Load>
  Block& run(std::int64_t count, Load&& load) {
    for (std::size_t i = 0; i < instructions_.size(); ++i) {
      const FormulaNode& node = *instructions_[i].node;
      if (node.fn == Fn::kOperand) {
        load(node.operand, blocks_[i]);
      } else {
        compute(instructions_[i], count, blocks_[i]);
      }
    }
    return blocks_.back();
  }

 private:
  std::size_t add(const Formula& formula) {
    if (const auto known = place_.find(formula.get()); known != place_.end()) return known->second;
    Instruction instruction{formula.get(), {}};
    for (const Formula& arg : formula->args) instruction.args.push_back(add(arg));
    instructions_.push_back(std::move(instruction));
    return place_[formula.get()] = instructions_.size() - 1;
  }

  template <typename T>
  const T* arg(const Instruction& instruction, std::size_t i) {
    return blocks_[instruction.args[i]].as<T>();
  }

  void compute(const Instruction& instruction, std::int64_t count, Block& result) {
    const FormulaNode& node = *instruction.node;
    switch (node.fn) {
      case Fn::kLess:
      case Fn::kLessEqual:
      case Fn::kEqual:
        return compare(instruction, count, result);
      case Fn::kConvert:
      case Fn::kSaturate:
        return convert_block(instruction, count, result);
      default:
        break;
    }
    visit_type<AllTypes>(node.type, [&]<typename T>() {
      if constexpr (std::is_arithmetic_v<T>) compute_as<T>(instruction, count, result.as<T>());
    });
  }

  template <typename T>
  void compute_as(const Instruction& instruction, std::int64_t count, T* y) {
    const FormulaNode& node = *instruction.node;
    const auto each = [&](auto f) {
      for (std::int64_t i = 0; i < count; ++i) y[i] = f(i);
    };
    if (node.fn == Fn::kNumber) return each([&](auto) { return static_cast<T>(node.number); });
    if (node.fn == Fn::kSelect) {
      const bool* condition = arg<bool>(instruction, 0);
      const T *a = arg<T>(instruction, 1), *b = arg<T>(instruction, 2);
      return each([=](auto i) { return condition[i] ? a[i] : b[i]; });
    }
    const T* a = arg<T>(instruction, 0);
    if constexpr (std::is_integral_v<T>) {
      if (node.fn == Fn::kNot)
        return each([=](auto i) {
          if constexpr (std::is_same_v<T, bool>)
            return !a[i];
          else
            return static_cast<T>(~a[i]);
        });
      if (node.fn >= Fn::kAnd && node.fn <= Fn::kShiftRight) {
        const T* b = arg<T>(instruction, 1);
        return each([=, &node](auto i) { return bits_of(node.fn, a[i], b[i]); });
      }
    }
    if constexpr (!std::is_same_v<T, bool>) {
      if (node.fn == Fn::kPow) return raise(instruction, count, y);
      if (node.args.size() == 1) return each([=, &node](auto i) { return one_of(node.fn, a[i]); });
      const T* b = arg<T>(instruction, 1);
      if constexpr (std::is_same_v<T, float>) {
        if (compute_usual(node.fn, a, b, count, y)) return;
      }
      if constexpr (std::is_floating_point_v<T>) {
        if (node.fn == Fn::kFma) {
          const T* c = arg<T>(instruction, 2);
          return each([=](auto i) { return std::fma(a[i], b[i], c[i]); });
        }
      }
      return each([=, &node](auto i) { return number_of(node.fn, a[i], b[i]); });
    }
    AOE_CHECK(false, "not a function of " + std::string(name(node.type)));
  }

  template <typename T>
  void raise(const Instruction& instruction, std::int64_t count, T* y) {
    const T* base = arg<T>(instruction, 0);
    const bool is_float = std::is_same_v<T, float>;
    for (std::int64_t i = 0; i < count; ++i) {
      const double exponent =
          is_float ? double{arg<float>(instruction, 1)[i]} : arg<double>(instruction, 1)[i];
      y[i] = power(base[i], exponent);
    }
  }

  void compare(const Instruction& instruction, std::int64_t count, Block& result) {
    visit_type<AllTypes>(instruction.node->args[0].type(), [&]<typename T>() {
      if constexpr (std::is_arithmetic_v<T>) {
        const T *a = arg<T>(instruction, 0), *b = arg<T>(instruction, 1);
        bool* y = result.as<bool>();
        const Fn fn = instruction.node->fn;
        for (std::int64_t i = 0; i < count; ++i)
          y[i] = fn == Fn::kLess ? a[i] < b[i] : fn == Fn::kEqual ? a[i] == b[i] : a[i] <= b[i];
      }
    });
  }

  void convert_block(const Instruction& instruction, std::int64_t count, Block& result) {
    visit_type<AllTypes>(instruction.node->args[0].type(), [&]<typename From>() {
      visit_type<AllTypes>(instruction.node->type, [&]<typename To>() {
        if constexpr (std::is_arithmetic_v<From> && std::is_arithmetic_v<To>) {
          const From* x = arg<From>(instruction, 0);
          To* y = result.as<To>();
          if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
            if (instruction.node->fn == Fn::kSaturate) {
              for (std::int64_t i = 0; i < count; ++i) y[i] = saturated<To>(x[i]);
              return;
            }
          }
          for (std::int64_t i = 0; i < count; ++i) y[i] = convert<To>(x[i]);
        }
      });
    });
  }

  std::map<const FormulaNode*, std::size_t> place_;
  std::vector<Instruction> instructions_;
  std::vector<Block> blocks_;
};

// ---- memory ----

/// Memory of somebody else may hold any byte where a bool should be: all but 0 are true.
template <typename T>
ComputeType<T> value_at(const T* at) {
  if constexpr (std::is_same_v<T, bool>)
    return *reinterpret_cast<const std::uint8_t*>(at) != 0;
  else
    return static_cast<ComputeType<T>>(*at);
}

void load_block(const Tensor& tensor, std::int64_t offset, std::int64_t step, std::int64_t count,
                Block& block) {
  visit_type<AllTypes>(tensor.desc.dtype, [&]<typename T>() {
    const T* from = tensor.as<T>() + offset;
    auto* to = block.as<ComputeType<T>>();
    if (step == 0) {
      std::fill_n(to, count, value_at(from));
    } else if (step == 1) {  // a loop of its own is one of vectors
      for (std::int64_t i = 0; i < count; ++i) to[i] = value_at(from + i);
    } else {
      for (std::int64_t i = 0; i < count; ++i) to[i] = value_at(from + i * step);
    }
  });
}

void store_block(const Tensor& tensor, std::int64_t offset, std::int64_t count, Block& block) {
  visit_type<AllTypes>(tensor.desc.dtype, [&]<typename T>() {
    const auto* from = block.as<ComputeType<T>>();
    T* to = tensor.as<T>() + offset;
    for (std::int64_t i = 0; i < count; ++i) to[i] = static_cast<T>(from[i]);
  });
}

}  // namespace

void evaluate(const Formula& formula, std::span<const Tensor> inputs, const Tensor& output) {
  evaluate(formula, inputs, output, 0, output.elements());
}

void evaluate(const Formula& formula, std::span<const Tensor> inputs, const Tensor& output,
              std::int64_t begin, std::int64_t end) {
  Shape shape = output.desc.shape;
  if (begin == end) return;
  AOE_CHECK(formula.type() == compute_type(output.desc.dtype), "a formula of another type");
  std::vector<Strides> strides = {dense_strides(shape)};
  for (const Tensor& input : inputs) {
    // One number may have more axes than the result: bounds of a Clip, for one.
    const bool is_spread = input.is_present() && input.elements() != 1;
    strides.push_back(is_spread ? broadcast_strides(input.desc.shape, shape)
                                : Strides(shape.size(), 0));
  }
  collapse(shape, strides);
  Program program(formula);
  const std::size_t last = shape.size() - 1;
  std::vector<std::int64_t> offsets(strides.size());
  for (std::int64_t count = 0; begin < end; begin += count) {
    const std::int64_t column = begin % shape[last];
    count = std::min({kBlock, shape[last] - column, end - begin});
    std::ranges::fill(offsets, 0);
    for (std::int64_t left = begin / shape[last], d = std::ssize(shape) - 2; d >= 0; --d) {
      const auto dim = static_cast<std::size_t>(d);
      for (std::size_t n = 0; n < strides.size(); ++n)
        offsets[n] += left % shape[dim] * strides[n][dim];
      left /= shape[dim];
    }
    Block& result = program.run(count, [&](int operand, Block& block) {
      const auto n = static_cast<std::size_t>(operand) + 1;
      load_block(inputs[n - 1], offsets[n] + column * strides[n][last], strides[n][last], count,
                 block);
    });
    store_block(output, offsets[0] + column * strides[0][last], count, result);
  }
}

}  // namespace aoe::reference
