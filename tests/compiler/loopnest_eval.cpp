// See loopnest_eval.h.
#include "tests/compiler/loopnest_eval.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <vector>

#include "base/check.h"
#include "reference/float16.h"

namespace aoe::compiler::loopnest {
namespace {

using Lanes = std::vector<float>;

float nan_min(float a, float b) {
  return std::isnan(a) || b > a ? a : b;
}
float nan_max(float a, float b) {
  return std::isnan(a) || b < a ? a : b;
}

template <typename T>
T saturate(float value) {
  if (std::isnan(value)) return 0;
  const double low = static_cast<double>(std::numeric_limits<T>::lowest());
  const double high = static_cast<double>(std::numeric_limits<T>::max());
  return value <= low    ? std::numeric_limits<T>::lowest()
         : value >= high ? std::numeric_limits<T>::max()
                         : static_cast<T>(value);
}

class Evaluator {
 public:
  Evaluator(const Function& function, std::span<const EvalBuffer> buffers)
      : function_(function),
        variables_(function.variables.size()),
        locals_(function.locals.size()),
        scratch_(static_cast<std::size_t>(function.scratch_bytes) / sizeof(float)) {
    std::size_t next = 0;
    for (const BufferDecl& decl : function.buffers) {
      if (decl.scratch_offset < 0) {
        buffers_.push_back(buffers[next++]);
        continue;
      }
      const auto offset = static_cast<std::size_t>(decl.scratch_offset) / sizeof(float);
      buffers_.push_back({.data = scratch_.data() + offset,
                          .elements = static_cast<std::int64_t>(scratch_.size() - offset)});
    }
  }

  void run() {
    for (std::int64_t i = 0; i < function_.parallel_extent; ++i) {
      variable(function_.parallel_variable) = i;
      run(function_.body->body);
    }
  }

 private:
  void run(const std::vector<Stmt>& statements) {
    for (const Stmt& s : statements) run(*s);
  }

  void run(const StmtNode& s) {
    switch (s.kind) {
      case StmtKind::kBlock:
        return run(s.body);
      case StmtKind::kLoop: {
        const std::int64_t end = integer(s.args[1]);
        for (std::int64_t i = integer(s.args[0]); i < end; i += s.step) {
          variable(s.id) = i;
          run(s.body);
        }
        return;
      }
      case StmtKind::kIf:
        return run(condition(s.args[0]) ? s.body : s.otherwise);
      case StmtKind::kStore:
        return store(s);
      case StmtKind::kAssign:
        locals_[static_cast<std::size_t>(s.id)] = vector(s.args[0]);
        return;
      case StmtKind::kPrefetch:
        return;
    }
  }

  std::int64_t& variable(int id) { return variables_[static_cast<std::size_t>(id)]; }

  std::int64_t integer(const Expr& e) {
    const auto arg = [&](std::size_t i) { return integer(e->args[i]); };
    switch (e->op) {
      case Op::kIntConst:
        return e->ivalue;
      case Op::kVar:
        return variable(e->id);
      case Op::kIntAdd:
        return arg(0) + arg(1);
      case Op::kIntSub:
        return arg(0) - arg(1);
      case Op::kIntMul:
        return arg(0) * arg(1);
      case Op::kIntDiv:
        return arg(0) / arg(1);
      case Op::kIntMod:
        return arg(0) % arg(1);
      case Op::kIntMin:
        return std::min(arg(0), arg(1));
      case Op::kIntMax:
        return std::max(arg(0), arg(1));
      case Op::kIntLoad:
        return load_int(e->id, arg(0));
      default:
        AOE_CHECK(false, "not an index");
    }
  }

  bool condition(const Expr& e) {
    switch (e->op) {
      case Op::kIntConst:
        return e->ivalue != 0;
      case Op::kAnd:
        return condition(e->args[0]) && condition(e->args[1]);
      case Op::kOr:
        return condition(e->args[0]) || condition(e->args[1]);
      case Op::kNot:
        return !condition(e->args[0]);
      case Op::kLess:
        return integer(e->args[0]) < integer(e->args[1]);
      case Op::kLessEqual:
        return integer(e->args[0]) <= integer(e->args[1]);
      case Op::kEqual:
        return integer(e->args[0]) == integer(e->args[1]);
      case Op::kNotEqual:
        return integer(e->args[0]) != integer(e->args[1]);
      default:
        AOE_CHECK(false, "not a condition");
    }
  }

  /// Of kMask: 1 and 0.
  Lanes vector(const Expr& e) {
    const auto lanes = static_cast<std::size_t>(e->lanes);
    switch (e->op) {
      case Op::kFloatConst:
        return Lanes(lanes, e->fvalue);
      case Op::kLocal:
        return locals_[static_cast<std::size_t>(e->id)];
      case Op::kLoad:
        return load(*e);
      case Op::kLoadIndexed:
        return load_indexed(*e);
      case Op::kBroadcast:
        return Lanes(lanes, vector(e->args[0])[0]);
      case Op::kIntToFloat:
        return {static_cast<float>(integer(e->args[0]))};
      case Op::kActiveLanes: {
        const std::int64_t count = integer(e->args[0]);
        Lanes mask(lanes);
        for (std::size_t i = 0; i < lanes; ++i) mask[i] = static_cast<std::int64_t>(i) < count;
        return mask;
      }
      case Op::kReduceAdd:
        return {reduce(vector(e->args[0]), [](float a, float b) { return a + b; })};
      case Op::kReduceMax:
        return {reduce(vector(e->args[0]), nan_max)};
      case Op::kReduceMin:
        return {reduce(vector(e->args[0]), nan_min)};
      case Op::kTransposeRow: {
        Lanes row;
        for (const Expr& arg : e->args)
          row.push_back(vector(arg)[static_cast<std::size_t>(e->ivalue)]);
        return row;
      }
      case Op::kInterleave: {
        std::vector<Lanes> rows;
        for (const Expr& arg : e->args) rows.push_back(vector(arg));
        Lanes part;
        for (std::size_t i = 0; i < lanes; ++i) {
          const std::size_t at = static_cast<std::size_t>(e->ivalue) * lanes + i;
          part.push_back(rows[at % rows.size()][at / rows.size()]);
        }
        return part;
      }
      case Op::kPermute: {
        Lanes sources, result;
        for (const Expr& arg : e->args) std::ranges::copy(vector(arg), std::back_inserter(sources));
        for (const int place : e->from) result.push_back(sources[static_cast<std::size_t>(place)]);
        return result;
      }
      case Op::kPackBf16:
        return pack_bf16(vector(e->args[0]), vector(e->args[1]));
      case Op::kPairF16:
        return pair_f16(vector(e->args[0]));
      case Op::kFmaF16:
        return fma_f16(vector(e->args[0]), vector(e->args[1]), vector(e->args[2]));
      case Op::kLowF16:
        return half_f16(vector(e->args[0]), 0);
      case Op::kHighF16:
        return half_f16(vector(e->args[0]), 16);
      case Op::kLoadQuads:
        return load_quads(*e);
      case Op::kQuadConst:
        return Lanes(lanes, std::bit_cast<float>(static_cast<std::uint32_t>(e->ivalue)));
      case Op::kDotU8S8:
        return dot_u8s8(vector(e->args[0]), vector(e->args[1]), vector(e->args[2]));
      case Op::kDotBf16:
        return dot_bf16(vector(e->args[0]), vector(e->args[1]), vector(e->args[2]));
      default:
        break;
    }
    std::vector<Lanes> args;
    for (const Expr& arg : e->args) args.push_back(vector(arg));
    Lanes result(lanes);
    for (std::size_t i = 0; i < lanes; ++i) result[i] = lane(e->op, args, i);
    return result;
  }

  static std::uint32_t round_to_bf16(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    return (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
  }

  static Lanes pack_bf16(Lanes low, const Lanes& high) {
    low.insert(low.end(), high.begin(), high.end());
    Lanes pairs;
    for (std::size_t i = 0; i < low.size(); i += 2)
      pairs.push_back(
          std::bit_cast<float>(round_to_bf16(low[i]) | round_to_bf16(low[i + 1]) << 16));
    return pairs;
  }

  static Lanes dot_bf16(const Lanes& a, const Lanes& b, Lanes sum) {
    for (std::size_t i = 0; i < sum.size(); ++i) {
      const auto x = std::bit_cast<std::uint32_t>(a[i]), y = std::bit_cast<std::uint32_t>(b[i]);
      const auto product = [&](std::uint32_t u, std::uint32_t v) {
        return std::bit_cast<float>(u) * std::bit_cast<float>(v);
      };
      sum[i] += product(x << 16, y << 16) + product(x & 0xffff0000u, y & 0xffff0000u);
    }
    return sum;
  }

  static Lanes pair_f16(Lanes a) {
    for (float& x : a) {
      const std::uint32_t half = reference::Float16(x).bits;
      x = std::bit_cast<float>(half | half << 16);
    }
    return a;
  }

  static float half_f16(float pair, int shift) {
    const std::uint32_t bits = std::bit_cast<std::uint32_t>(pair) >> shift;
    reference::Float16 half;
    half.bits = static_cast<std::uint16_t>(bits);
    return static_cast<float>(half);
  }

  static Lanes half_f16(Lanes pairs, int shift) {
    for (float& pair : pairs) pair = half_f16(pair, shift);
    return pairs;
  }

  static Lanes fma_f16(const Lanes& a, const Lanes& b, Lanes sum) {
    for (std::size_t i = 0; i < sum.size(); ++i) {
      std::uint32_t bits = 0;
      for (const int shift : {0, 16}) {
        const float x = half_f16(a[i], shift), y = half_f16(b[i], shift);
        const float z = std::fma(x, y, half_f16(sum[i], shift));
        bits |= std::uint32_t{reference::Float16(z).bits} << shift;
      }
      sum[i] = std::bit_cast<float>(bits);
    }
    return sum;
  }

  static Lanes dot_u8s8(const Lanes& a, const Lanes& b, Lanes sum) {
    for (std::size_t i = 0; i < sum.size(); ++i) {
      const auto x = std::bit_cast<std::array<std::uint8_t, 4>>(a[i]);
      const auto y = std::bit_cast<std::array<std::int8_t, 4>>(b[i]);
      auto total = std::bit_cast<std::int32_t>(sum[i]);
      for (std::size_t k = 0; k < x.size(); ++k) total += x[k] * y[k];
      sum[i] = std::bit_cast<float>(total);
    }
    return sum;
  }

  static float lane(Op op, const std::vector<Lanes>& args, std::size_t i) {
    const auto at = [&](std::size_t arg) { return args[arg][i]; };
    switch (op) {
      case Op::kAdd:
        return at(0) + at(1);
      case Op::kSub:
        return at(0) - at(1);
      case Op::kMul:
        return at(0) * at(1);
      case Op::kDiv:
        return at(0) / at(1);
      case Op::kMin:
        return nan_min(at(0), at(1));
      case Op::kMax:
        return nan_max(at(0), at(1));
      case Op::kMax3:
        return nan_max(nan_max(at(0), at(1)), at(2));
      case Op::kFma:
        return std::fma(at(0), at(1), at(2));
      case Op::kFlipSigns:
        return std::bit_cast<float>(std::bit_cast<std::uint32_t>(at(0)) ^ 0x80808080u);
      case Op::kIntBitsToFloat:
        return static_cast<float>(std::bit_cast<std::int32_t>(at(0)));
      case Op::kFloatToIntBits:
        return std::bit_cast<float>(static_cast<std::int32_t>(at(0)));
      case Op::kNeg:
        return -at(0);
      case Op::kAbs:
        return std::fabs(at(0));
      case Op::kSqrt:
        return std::sqrt(at(0));
      case Op::kExp:
        return std::exp(at(0));
      case Op::kLog:
        return std::log(at(0));
      case Op::kTanh:
        return std::tanh(at(0));
      case Op::kErf:
        return std::erf(at(0));
      case Op::kSin:
        return std::sin(at(0));
      case Op::kCos:
        return std::cos(at(0));
      case Op::kTan:
        return std::tan(at(0));
      case Op::kAsin:
        return std::asin(at(0));
      case Op::kAcos:
        return std::acos(at(0));
      case Op::kAtan:
        return std::atan(at(0));
      case Op::kSinh:
        return std::sinh(at(0));
      case Op::kCosh:
        return std::cosh(at(0));
      case Op::kAsinh:
        return std::asinh(at(0));
      case Op::kAcosh:
        return std::acosh(at(0));
      case Op::kAtanh:
        return std::atanh(at(0));
      case Op::kFmod:
        return std::fmod(at(0), at(1));
      case Op::kPow:
        return std::pow(at(0), at(1));
      case Op::kFloor:
        return std::floor(at(0));
      case Op::kRoundEven:
        return std::nearbyint(at(0));
      case Op::kFloatLess:
        return at(0) < at(1);
      case Op::kFloatLessEqual:
        return at(0) <= at(1);
      case Op::kFloatEqual:
        return at(0) == at(1);
      case Op::kSelect:
        return at(0) != 0 ? at(1) : at(2);
      default:
        AOE_CHECK(false, "not an operation on lanes");
    }
  }

  /// Halves first, as the language says.
  template <typename Combine>
  static float reduce(Lanes lanes, Combine combine) {
    Lanes odd;
    while (lanes.size() > 1) {
      if (lanes.size() % 2 == 1) {
        odd.push_back(lanes.back());
        lanes.pop_back();
      }
      const std::size_t half = lanes.size() / 2;
      for (std::size_t i = 0; i < half; ++i) lanes[i] = combine(lanes[i], lanes[i + half]);
      lanes.resize(half);
    }
    float result = lanes[0];
    for (float lane : odd) result = combine(result, lane);
    return result;
  }

  template <typename T>
  T& element(int id, std::int64_t index) {
    const EvalBuffer& buffer = buffers_[static_cast<std::size_t>(id)];
    if (index < 0 || index >= buffer.elements) {
      throw std::out_of_range(decl(id).name + "[" + std::to_string(index) + "] of " +
                              std::to_string(buffer.elements));
    }
    return static_cast<T*>(buffer.data)[index];
  }
  const BufferDecl& decl(int id) const { return function_.buffers[static_cast<std::size_t>(id)]; }

  Lanes load(const ExprNode& e) {
    const std::int64_t index = integer(e.args[0]);
    const std::int64_t active = e.args.size() > 1 ? integer(e.args[1]) : e.lanes;
    Lanes lanes(static_cast<std::size_t>(e.lanes));
    for (std::int64_t i = 0; i < std::min<std::int64_t>(active, e.lanes); ++i) {
      lanes[static_cast<std::size_t>(i)] = load_one(e.id, index + i * e.stride);
    }
    return lanes;
  }

  Lanes load_indexed(const ExprNode& e) {
    const std::int64_t base = integer(e.args[0]), first = integer(e.args[1]);
    const std::int64_t active = e.args.size() > 2 ? integer(e.args[2]) : e.lanes;
    Lanes lanes(static_cast<std::size_t>(e.lanes));
    for (std::int64_t i = 0; i < std::min<std::int64_t>(active, e.lanes); ++i) {
      const std::int64_t index = load_int(static_cast<int>(e.ivalue), first + i);
      lanes[static_cast<std::size_t>(i)] = load_one(e.id, base + index);
    }
    return lanes;
  }

  Lanes load_quads(const ExprNode& e) {
    const std::int64_t index = integer(e.args[0]);
    const std::int64_t active = e.args.size() > 1 ? integer(e.args[1]) : e.lanes;
    Lanes lanes(static_cast<std::size_t>(e.lanes));
    for (std::int64_t i = 0; i < std::min<std::int64_t>(active, e.lanes); ++i) {
      std::array<std::uint8_t, 4> quad{};
      for (std::int64_t k = 0; k < 4; ++k)
        quad[static_cast<std::size_t>(k)] = element<std::uint8_t>(e.id, index + 4 * i + k);
      lanes[static_cast<std::size_t>(i)] = std::bit_cast<float>(quad);
    }
    return lanes;
  }

  float load_one(int id, std::int64_t index) {
    switch (decl(id).dtype) {
      case DataType::kFloat:
        return element<float>(id, index);
      case DataType::kInt8:
        return element<std::int8_t>(id, index);
      case DataType::kUint8:
        return element<std::uint8_t>(id, index);
      case DataType::kInt32:
        return static_cast<float>(element<std::int32_t>(id, index));
      case DataType::kInt64:
        return static_cast<float>(element<std::int64_t>(id, index));
      case DataType::kBFloat16: {
        const std::uint32_t bits = std::uint32_t{element<std::uint16_t>(id, index)} << 16;
        float value;
        std::memcpy(&value, &bits, sizeof(value));
        return value;
      }
      default:
        AOE_CHECK(false, "element type without interpreter");
    }
  }

  std::int64_t load_int(int id, std::int64_t index) {
    switch (decl(id).dtype) {
      case DataType::kInt32:
        return element<std::int32_t>(id, index);
      case DataType::kInt64:
        return element<std::int64_t>(id, index);
      default:
        AOE_CHECK(false, "index type without interpreter");
    }
  }

  void store(const StmtNode& s) {
    const std::int64_t index = integer(s.args[0]);
    const Lanes value = vector(s.args[1]);
    const auto lanes = static_cast<std::int64_t>(value.size());
    const std::int64_t active = s.args.size() > 2 ? integer(s.args[2]) : lanes;
    for (std::int64_t i = 0; i < std::min(active, lanes); ++i) {
      store_one(s.id, index + i * s.step, value[static_cast<std::size_t>(i)]);
    }
  }

  void store_one(int id, std::int64_t index, float value) {
    switch (decl(id).dtype) {
      case DataType::kFloat:
        element<float>(id, index) = value;
        return;
      case DataType::kInt8:
        element<std::int8_t>(id, index) = saturate<std::int8_t>(value);
        return;
      case DataType::kUint8:
        element<std::uint8_t>(id, index) = saturate<std::uint8_t>(value);
        return;
      case DataType::kInt32:
        element<std::int32_t>(id, index) = saturate<std::int32_t>(value);
        return;
      default:
        AOE_CHECK(false, "element type without interpreter");
    }
  }

  const Function& function_;
  std::vector<EvalBuffer> buffers_;  ///< by buffer id
  std::vector<std::int64_t> variables_;
  std::vector<Lanes> locals_;
  std::vector<float> scratch_;
};

}  // namespace

void evaluate(const Function& function, std::span<const EvalBuffer> buffers) {
  Evaluator(function, buffers).run();
}

}  // namespace aoe::compiler::loopnest
