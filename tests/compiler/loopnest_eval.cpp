// See loopnest_eval.h.
#include "tests/compiler/loopnest_eval.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <stdexcept>
#include <type_traits>
#include <variant>
#include <vector>

#include "base/check.h"
#include "reference/arithmetic.h"
#include "reference/float16.h"

namespace aoe::compiler::loopnest {
namespace {

template <typename T>
using LanesOf = std::vector<T>;
using Lanes = LanesOf<float>;  ///< of kFloat; of kMask 1 and 0
using Integers = LanesOf<std::int32_t>;
using AnyLanes = std::variant<Lanes, LanesOf<double>, LanesOf<std::int32_t>, LanesOf<std::int64_t>>;

template <typename T>
T nan_min(T a, T b) {
  return std::isnan(a) || b > a ? a : b;
}
template <typename T>
T nan_max(T a, T b) {
  return std::isnan(a) || b < a ? a : b;
}

template <typename T, typename From>
T saturate(From value) {
  if (std::isnan(value)) return 0;
  const double low = static_cast<double>(std::numeric_limits<T>::lowest());
  const double high = static_cast<double>(std::numeric_limits<T>::max());
  return value <= low    ? std::numeric_limits<T>::lowest()
         : value >= high ? std::numeric_limits<T>::max()
                         : static_cast<T>(value);
}

/// What a lane of one type is as a lane, or as an element of memory, of another.
template <typename To, typename From>
To converted(From value, bool is_signed = true) {
  if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    return saturate<To>(value);
  } else if constexpr (std::is_integral_v<From>) {
    return is_signed ? static_cast<To>(value)
                     : static_cast<To>(static_cast<std::make_unsigned_t<From>>(value));
  } else {
    return static_cast<To>(value);
  }
}

/// Calls visit.operator()<T>() with the type that lanes are kept in.
template <typename Visit>
auto with_lane_type(Type type, Visit visit) {
  switch (type) {
    case Type::kFloat:
    case Type::kMask:
      return visit.template operator()<float>();
    case Type::kDouble:
      return visit.template operator()<double>();
    case Type::kInt32:
      return visit.template operator()<std::int32_t>();
    case Type::kInt64:
      return visit.template operator()<std::int64_t>();
    default:
      AOE_CHECK(false, "no lanes");
  }
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
        locals_[static_cast<std::size_t>(s.id)] = with_lane_type(
            s.args[0]->type, [&]<typename T>() -> AnyLanes { return vector<T>(s.args[0]); });
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

  Lanes floats(const Expr& e) { return vector<float>(e); }
  Integers integers(const Expr& e) { return vector<std::int32_t>(e); }

  /// Of an expression whose lanes are kept in T.
  template <typename T>
  LanesOf<T> vector(const Expr& e) {
    const auto lanes = static_cast<std::size_t>(e->lanes);
    switch (e->op) {
      case Op::kFloatConst:
        return LanesOf<T>(lanes, static_cast<T>(e->fvalue));
      case Op::kIntSplat:
        return LanesOf<T>(lanes, static_cast<T>(e->ivalue));
      case Op::kLocal:
        return std::get<LanesOf<T>>(locals_[static_cast<std::size_t>(e->id)]);
      case Op::kLoad:
        return load<T>(*e);
      case Op::kBroadcast:
        return LanesOf<T>(lanes, vector<T>(e->args[0])[0]);
      case Op::kIntToLane:
        return {static_cast<T>(integer(e->args[0]))};
      case Op::kConvert:
      case Op::kConvertUnsigned:
        return with_lane_type(e->args[0]->type, [&]<typename From>() {
          LanesOf<T> result;
          for (const From lane : vector<From>(e->args[0]))
            result.push_back(converted<T>(lane, e->op == Op::kConvert));
          return result;
        });
      case Op::kReduceAdd:
        return {reduce(vector<T>(e->args[0]), [](T a, T b) { return reference::add(a, b); })};
      case Op::kReduceMax:
        return {reduce(vector<T>(e->args[0]), reference::maximum<T>)};
      case Op::kReduceMin:
        return {reduce(vector<T>(e->args[0]), reference::minimum<T>)};
      case Op::kTransposeRow: {
        LanesOf<T> row;
        for (const Expr& arg : e->args)
          row.push_back(vector<T>(arg)[static_cast<std::size_t>(e->ivalue)]);
        return row;
      }
      case Op::kInterleave: {
        std::vector<LanesOf<T>> rows;
        for (const Expr& arg : e->args) rows.push_back(vector<T>(arg));
        LanesOf<T> part;
        for (std::size_t i = 0; i < lanes; ++i) {
          const std::size_t at = static_cast<std::size_t>(e->ivalue) * lanes + i;
          part.push_back(rows[at % rows.size()][at / rows.size()]);
        }
        return part;
      }
      case Op::kPermute: {
        LanesOf<T> sources, result;
        for (const Expr& arg : e->args)
          std::ranges::copy(vector<T>(arg), std::back_inserter(sources));
        for (const int place : e->from) result.push_back(sources[static_cast<std::size_t>(place)]);
        return result;
      }
      case Op::kSelect: {
        const Lanes mask = floats(e->args[0]);
        LanesOf<T> on = vector<T>(e->args[1]), off = vector<T>(e->args[2]);
        for (std::size_t i = 0; i < lanes; ++i)
          if (mask[i] == 0) on[i] = off[i];
        return on;
      }
      default:
        break;
    }
    if constexpr (std::is_same_v<T, float>) {
      if (e->type == Type::kMask) return mask(*e);
    }
    if (const auto made = special(*e, static_cast<LanesOf<T>*>(nullptr))) return *made;
    std::vector<LanesOf<T>> args;
    for (const Expr& arg : e->args) args.push_back(vector<T>(arg));
    LanesOf<T> result(lanes);
    for (std::size_t i = 0; i < lanes; ++i) {
      if constexpr (std::is_floating_point_v<T>) {
        result[i] = lane(e->op, args, i);
      } else {
        const std::size_t last = args.size() - 1;
        result[i] = integer_lane(e->op, args[0][i], args[last][i]);
      }
    }
    return result;
  }

  Lanes mask(const ExprNode& e) {
    const auto lanes = static_cast<std::size_t>(e.lanes);
    Lanes result(lanes);
    if (e.op == Op::kActiveLanes) {
      const std::int64_t count = integer(e.args[0]);
      for (std::size_t i = 0; i < lanes; ++i) result[i] = static_cast<std::int64_t>(i) < count;
      return result;
    }
    with_lane_type(e.args[0]->type, [&]<typename T>() {
      const LanesOf<T> a = vector<T>(e.args.front()), b = vector<T>(e.args.back());
      for (std::size_t i = 0; i < lanes; ++i) result[i] = is_on(e.op, a[i], b[i]);
    });
    return result;
  }

  template <typename T>
  static bool is_on(Op op, T a, T b) {
    switch (op) {
      case Op::kFloatLess:
        return a < b;
      case Op::kFloatLessEqual:
        return a <= b;
      case Op::kFloatEqual:
        return a == b;
      case Op::kMaskNot:
        return a == 0;
      case Op::kBitAnd:
        return a != 0 && b != 0;
      case Op::kBitOr:
        return a != 0 || b != 0;
      case Op::kBitXor:
        return (a != 0) != (b != 0);
      default:
        AOE_CHECK(false, "not a mask");
    }
  }

  /// What pairs give, and what only float32 has.
  std::optional<Lanes> special(const ExprNode& e, Lanes*) {
    switch (e.op) {
      case Op::kLoadIndexed:
        return load_indexed(e);
      case Op::kLowF16:
        return half_f16(integers(e.args[0]), 0);
      case Op::kHighF16:
        return half_f16(integers(e.args[0]), 16);
      case Op::kDotBf16:
        return dot_bf16(integers(e.args[0]), integers(e.args[1]), floats(e.args[2]));
      default:
        return {};
    }
  }

  /// Pairs and quads.
  std::optional<Integers> special(const ExprNode& e, Integers*) {
    switch (e.op) {
      case Op::kPackBf16:
        return pack_bf16(floats(e.args[0]), floats(e.args[1]));
      case Op::kPairF16:
        return pair_f16(floats(e.args[0]));
      case Op::kFmaF16:
        return fma_f16(integers(e.args[0]), integers(e.args[1]), integers(e.args[2]));
      case Op::kLoadQuads:
        return load_quads(e);
      case Op::kPick:
        return pick(integers(e.args[0]), integers(e.args[1]), integers(e.args[2]));
      case Op::kDotU8S8:
        return dot_u8s8(integers(e.args[0]), integers(e.args[1]), integers(e.args[2]));
      case Op::kRoundToByte:
        return round_to_byte(floats(e.args[0]), static_cast<int>(e.ivalue));
      case Op::kDotI16:
        return dot_i16(integers(e.args[0]), integers(e.args[1]), integers(e.args[2]));
      default:
        return {};
    }
  }

  template <typename T>
  std::optional<LanesOf<T>> special(const ExprNode&, LanesOf<T>*) {
    return {};
  }

  static std::uint32_t round_to_bf16(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    return (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
  }

  static Integers pack_bf16(Lanes low, const Lanes& high) {
    low.insert(low.end(), high.begin(), high.end());
    Integers pairs;
    for (std::size_t i = 0; i < low.size(); i += 2)
      pairs.push_back(
          static_cast<std::int32_t>(round_to_bf16(low[i]) | round_to_bf16(low[i + 1]) << 16));
    return pairs;
  }

  static Lanes dot_bf16(const Integers& a, const Integers& b, Lanes sum) {
    for (std::size_t i = 0; i < sum.size(); ++i) {
      const auto x = static_cast<std::uint32_t>(a[i]), y = static_cast<std::uint32_t>(b[i]);
      const auto product = [&](std::uint32_t u, std::uint32_t v) {
        return std::bit_cast<float>(u) * std::bit_cast<float>(v);
      };
      sum[i] += product(x << 16, y << 16) + product(x & 0xffff0000u, y & 0xffff0000u);
    }
    return sum;
  }

  static Integers pair_f16(const Lanes& a) {
    Integers pairs;
    for (const float x : a) {
      const std::uint32_t half = reference::Float16(x).bits;
      pairs.push_back(static_cast<std::int32_t>(half | half << 16));
    }
    return pairs;
  }

  static float half_f16(std::int32_t pair, int shift) {
    reference::Float16 half;
    half.bits = static_cast<std::uint16_t>(static_cast<std::uint32_t>(pair) >> shift);
    return static_cast<float>(half);
  }

  static Lanes half_f16(const Integers& pairs, int shift) {
    Lanes halves;
    for (const std::int32_t pair : pairs) halves.push_back(half_f16(pair, shift));
    return halves;
  }

  static Integers fma_f16(const Integers& a, const Integers& b, Integers sum) {
    for (std::size_t i = 0; i < sum.size(); ++i) {
      std::uint32_t bits = 0;
      for (const int shift : {0, 16}) {
        const float x = half_f16(a[i], shift), y = half_f16(b[i], shift);
        const float z = std::fma(x, y, half_f16(sum[i], shift));
        bits |= std::uint32_t{reference::Float16(z).bits} << shift;
      }
      sum[i] = static_cast<std::int32_t>(bits);
    }
    return sum;
  }

  static Integers pick(Integers places, Integers sources, const Integers& behind) {
    sources.insert(sources.end(), behind.begin(), behind.end());
    for (std::int32_t& lane : places)
      lane = sources[static_cast<std::uint32_t>(lane) % sources.size()];
    return places;
  }

  static Integers dot_u8s8(const Integers& a, const Integers& b, Integers sum) {
    for (std::size_t i = 0; i < sum.size(); ++i) {
      const auto x = std::bit_cast<std::array<std::uint8_t, 4>>(a[i]);
      const auto y = std::bit_cast<std::array<std::int8_t, 4>>(b[i]);
      for (std::size_t k = 0; k < x.size(); ++k)
        sum[i] = reference::add<std::int32_t>(sum[i], x[k] * y[k]);
    }
    return sum;
  }

  static Integers dot_i16(const Integers& a, const Integers& b, Integers sum) {
    for (std::size_t i = 0; i < sum.size(); ++i) {
      const auto x = std::bit_cast<std::array<std::int16_t, 2>>(a[i]);
      const auto y = std::bit_cast<std::array<std::int16_t, 2>>(b[i]);
      for (std::size_t k = 0; k < x.size(); ++k)
        sum[i] = reference::add<std::int32_t>(sum[i], x[k] * y[k]);
    }
    return sum;
  }

  static Integers round_to_byte(const Lanes& a, int zero) {
    Integers bytes;
    for (const float each : a) {
      const double whole = std::nearbyint(static_cast<double>(each)) + zero;
      bytes.push_back(std::isnan(each) ? 0
                                       : static_cast<std::int32_t>(std::clamp(whole, 0.0, 255.0)));
    }
    return bytes;
  }

  template <typename T>
  static T lane(Op op, const std::vector<LanesOf<T>>& args, std::size_t i) {
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
      default:
        AOE_CHECK(false, "not an operation on lanes");
    }
  }

  /// `b` is `a` itself where there is one operand.
  template <typename T>
  static T integer_lane(Op op, T a, T b) {
    using Bits = std::make_unsigned_t<T>;
    switch (op) {
      case Op::kAdd:
        return reference::add(a, b);
      case Op::kSub:
        return reference::subtract(a, b);
      case Op::kMul:
        return reference::multiply(a, b);
      case Op::kMin:
        return std::min(a, b);
      case Op::kMax:
        return std::max(a, b);
      case Op::kNeg:
        return reference::negate(a);
      case Op::kDiv:
        return b == 0 ? T{0} : b == -1 ? reference::negate(a) : a / b;
      case Op::kUnsignedDiv:
        return b == 0 ? T{0} : static_cast<T>(static_cast<Bits>(a) / static_cast<Bits>(b));
      case Op::kShiftLeft:
        return static_cast<T>(static_cast<Bits>(a) << b);
      case Op::kShiftRight:
        return static_cast<T>(static_cast<Bits>(a) >> b);
      case Op::kBitAnd:
        return a & b;
      case Op::kBitOr:
        return a | b;
      case Op::kBitXor:
        return a ^ b;
      default:
        AOE_CHECK(false, "not an operation on integer lanes");
    }
  }

  /// Halves first, as the language says.
  template <typename T, typename Combine>
  static T reduce(LanesOf<T> lanes, Combine combine) {
    LanesOf<T> odd;
    while (lanes.size() > 1) {
      if (lanes.size() % 2 == 1) {
        odd.push_back(lanes.back());
        lanes.pop_back();
      }
      const std::size_t half = lanes.size() / 2;
      for (std::size_t i = 0; i < half; ++i) lanes[i] = combine(lanes[i], lanes[i + half]);
      lanes.resize(half);
    }
    T result = lanes[0];
    for (const T lane : odd) result = combine(result, lane);
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

  template <typename T>
  LanesOf<T> load(const ExprNode& e) {
    const std::int64_t index = integer(e.args[0]);
    const std::int64_t active = e.args.size() > 1 ? integer(e.args[1]) : e.lanes;
    LanesOf<T> lanes(static_cast<std::size_t>(e.lanes));
    for (std::int64_t i = 0; i < std::min<std::int64_t>(active, e.lanes); ++i) {
      lanes[static_cast<std::size_t>(i)] = load_one<T>(e.id, index + i * e.stride);
    }
    return lanes;
  }

  Lanes load_indexed(const ExprNode& e) {
    const std::int64_t base = integer(e.args[0]), first = integer(e.args[1]);
    const std::int64_t active = e.args.size() > 2 ? integer(e.args[2]) : e.lanes;
    Lanes lanes(static_cast<std::size_t>(e.lanes));
    for (std::int64_t i = 0; i < std::min<std::int64_t>(active, e.lanes); ++i) {
      const std::int64_t index = load_int(static_cast<int>(e.ivalue), first + i);
      lanes[static_cast<std::size_t>(i)] = load_one<float>(e.id, base + index);
    }
    return lanes;
  }

  Integers load_quads(const ExprNode& e) {
    const std::int64_t index = integer(e.args[0]);
    const std::int64_t active = e.args.size() > 1 ? integer(e.args[1]) : e.lanes;
    Integers lanes(static_cast<std::size_t>(e.lanes));
    const bool is_pair = size_bytes(decl(e.id).dtype) == 2;
    for (std::int64_t i = 0; i < std::min<std::int64_t>(active, e.lanes); ++i)
      lanes[static_cast<std::size_t>(i)] = is_pair ? load_parts<std::uint16_t>(e.id, index + 2 * i)
                                                   : load_parts<std::uint8_t>(e.id, index + 4 * i);
    return lanes;
  }

  /// Neighbouring elements that make an int32.
  template <typename Element>
  std::int32_t load_parts(int id, std::int64_t index) {
    std::array<Element, sizeof(std::int32_t) / sizeof(Element)> parts{};
    for (Element& part : parts) part = element<Element>(id, index++);
    return std::bit_cast<std::int32_t>(parts);
  }

  template <typename T>
  T load_one(int id, std::int64_t index) {
    switch (decl(id).dtype) {
      case DataType::kFloat:
        return static_cast<T>(element<float>(id, index));
      case DataType::kDouble:
        return static_cast<T>(element<double>(id, index));
      case DataType::kInt8:
        return element<std::int8_t>(id, index);
      case DataType::kUint8:
        return element<std::uint8_t>(id, index);
      case DataType::kInt32:
        return static_cast<T>(element<std::int32_t>(id, index));
      case DataType::kInt64:
        return static_cast<T>(element<std::int64_t>(id, index));
      case DataType::kBFloat16: {
        const std::uint32_t bits = std::uint32_t{element<std::uint16_t>(id, index)} << 16;
        return static_cast<T>(std::bit_cast<float>(bits));
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
    with_lane_type(s.args[1]->type, [&]<typename T>() { store_lanes(s, vector<T>(s.args[1])); });
  }

  template <typename T>
  void store_lanes(const StmtNode& s, const LanesOf<T>& value) {
    const std::int64_t index = integer(s.args[0]);
    const auto lanes = static_cast<std::int64_t>(value.size());
    const std::int64_t active = s.args.size() > 2 ? integer(s.args[2]) : lanes;
    for (std::int64_t i = 0; i < std::min(active, lanes); ++i) {
      store_one(s.id, index + i * s.step, value[static_cast<std::size_t>(i)]);
    }
  }

  template <typename T>
  void store_one(int id, std::int64_t index, T value) {
    switch (decl(id).dtype) {
      case DataType::kFloat:
        element<float>(id, index) = converted<float>(value);
        return;
      case DataType::kDouble:
        element<double>(id, index) = converted<double>(value);
        return;
      case DataType::kInt8:
        element<std::int8_t>(id, index) = converted<std::int8_t>(value);
        return;
      case DataType::kUint8:
        element<std::uint8_t>(id, index) = converted<std::uint8_t>(value);
        return;
      case DataType::kInt32:
        element<std::int32_t>(id, index) = converted<std::int32_t>(value);
        return;
      case DataType::kInt64:
        element<std::int64_t>(id, index) = converted<std::int64_t>(value);
        return;
      default:
        AOE_CHECK(false, "element type without interpreter");
    }
  }

  const Function& function_;
  std::vector<EvalBuffer> buffers_;  ///< by buffer id
  std::vector<std::int64_t> variables_;
  std::vector<AnyLanes> locals_;
  std::vector<float> scratch_;
};

// Clang 19 forgets to instantiate what calls itself from a lambda with a type parameter.
template LanesOf<float> Evaluator::vector<float>(const Expr&);
template LanesOf<double> Evaluator::vector<double>(const Expr&);
template LanesOf<std::int32_t> Evaluator::vector<std::int32_t>(const Expr&);
template LanesOf<std::int64_t> Evaluator::vector<std::int64_t>(const Expr&);

}  // namespace

void evaluate(const Function& function, std::span<const EvalBuffer> buffers) {
  Evaluator(function, buffers).run();
}

}  // namespace aoe::compiler::loopnest
