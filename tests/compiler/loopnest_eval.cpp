// See loopnest_eval.h.
#include "tests/compiler/loopnest_eval.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <optional>
#include <type_traits>
#include <variant>
#include <vector>

#include "base/check.h"
#include "reference/elements/arithmetic.h"
#include "tests/compiler/loopnest_arithmetic.h"
#include "tests/compiler/loopnest_dot.h"
#include "tests/compiler/loopnest_memory.h"
#include "tests/compiler/loopnest_tiles.h"

namespace aoe::compiler::loopnest {
namespace {

class Evaluator {
 public:
  Evaluator(const Function& function, std::span<const EvalBuffer> buffers)
      : function_(function),
        variables_(function.variables.size()),
        locals_(function.locals.size()),
        memory_(function, buffers) {}

  void run() {
    for (std::int64_t i = 0; i < function_.rounds * function_.parallel_extent; ++i) {
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
      case StmtKind::kTile:
        return tiles_.run(s, s.args.empty() ? 0 : integer(s.args[0]));
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
        return memory_.load_index(e->id, arg(0));
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
        return LanesOf<T>(lanes, converted<T>(e->fvalue));
      case Op::kIntSplat:
        return LanesOf<T>(lanes, converted<T>(e->ivalue));
      case Op::kLocal:
        return std::get<LanesOf<T>>(locals_[static_cast<std::size_t>(e->id)]);
      case Op::kLoad:
        return load<T>(*e);
      case Op::kBroadcast: {
        LanesOf<T> all, some = vector<T>(e->args[0]);
        while (all.size() < lanes) std::ranges::copy(some, std::back_inserter(all));
        return all;
      }
      case Op::kIntToLane:
        return {converted<T>(integer(e->args[0]))};
      case Op::kBitsAs:
        return with_lane_type(e->args[0]->type, [&]<typename From>() {
          const LanesOf<From> from = vector<From>(e->args[0]);
          LanesOf<T> to(lanes);
          std::memcpy(static_cast<void*>(to.data()), from.data(), lanes * sizeof(T));
          return to;
        });
      case Op::kConvert:
      case Op::kConvertUnsigned:
        return with_lane_type(e->args[0]->type, [&]<typename From>() {
          LanesOf<T> result;
          for (const Expr& arg : e->args)
            for (const From lane : vector<From>(arg))
              result.push_back(converted<T>(lane, e->op == Op::kConvert));
          return result;
        });
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
    return computed<T>(*e);
  }

  /// What goes by lane, and what makes one lane of all.
  template <typename T>
  LanesOf<T> computed(const ExprNode& e) {
    std::vector<LanesOf<T>> args;
    for (const Expr& arg : e.args) args.push_back(vector<T>(arg));
    switch (e.op) {
      case Op::kReduceAdd:
        return {reduce(args[0], [](T a, T b) { return reference::add(a, b); })};
      case Op::kReduceMax:
        return {reduce(args[0], reference::maximum<T>)};
      case Op::kReduceMin:
        return {reduce(args[0], reference::minimum<T>)};
      default:
        break;
    }
    LanesOf<T> result(static_cast<std::size_t>(e.lanes));
    for (std::size_t i = 0; i < result.size(); ++i) {
      if constexpr (std::is_floating_point_v<T>) {
        result[i] = lane(e.op, args, i);
      } else {
        const std::size_t last = args.size() - 1;
        result[i] = integer_lane(e.op, args[0][i], args[last][i]);
      }
    }
    return result;
  }

  /// Of narrow integers the operations on bits alone, of float16 multiply-adds.
  template <Narrow T>
  LanesOf<T> computed(const ExprNode& e) {
    if constexpr (HalfFloat<T>) {
      AOE_CHECK(e.op == Op::kFma, "arithmetic on half floats");
      LanesOf<T> a = vector<T>(e.args[0]), b = vector<T>(e.args[1]), sum = vector<T>(e.args[2]);
      for (std::size_t i = 0; i < sum.size(); ++i)
        sum[i] = T(std::fma(static_cast<float>(a[i]), static_cast<float>(b[i]),
                            static_cast<float>(sum[i])));
      return sum;
    } else {
      LanesOf<T> a = vector<T>(e.args[0]), b = vector<T>(e.args[1]);
      for (std::size_t i = 0; i < a.size(); ++i)
        a[i] = static_cast<T>(integer_lane<std::int32_t>(e.op, a[i], b[i]));
      return a;
    }
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
      if constexpr (!Narrow<T>)
        for (std::size_t i = 0; i < lanes; ++i) result[i] = is_on(e.op, a[i], b[i]);
    });
    return result;
  }

  /// What pairs give, and what only float32 has.
  std::optional<Lanes> special(const ExprNode& e, Lanes*) {
    switch (e.op) {
      case Op::kLoadIndexed:
        return load_indexed(e);
      case Op::kPick:
        return pick(integers(e.args[0]), floats(e.args[1]), floats(e.args[2]));
      case Op::kDot:
        return dot(vector<BFloat16>(e.args[0]), vector<BFloat16>(e.args[1]), floats(e.args[2]));
      default:
        return {};
    }
  }

  /// Pairs and quads.
  std::optional<Integers> special(const ExprNode& e, Integers*) {
    switch (e.op) {
      case Op::kPick:
        return pick(integers(e.args[0]), integers(e.args[1]), integers(e.args[2]));
      case Op::kDot:
        return e.args[0]->type == Type::kUint8
                   ? dot(vector<std::uint8_t>(e.args[0]), vector<std::int8_t>(e.args[1]),
                         integers(e.args[2]))
                   : dot(vector<std::int16_t>(e.args[0]), vector<std::int16_t>(e.args[1]),
                         integers(e.args[2]));
      default:
        return {};
    }
  }

  std::optional<LanesOf<std::uint8_t>> special(const ExprNode& e, LanesOf<std::uint8_t>*) {
    if (e.op != Op::kRoundToByte) return {};
    LanesOf<std::uint8_t> bytes;
    for (const float each : floats(e.args[0]))
      bytes.push_back(saturate<std::uint8_t>(std::nearbyint(static_cast<double>(each)) +
                                             static_cast<double>(e.ivalue)));
    return bytes;
  }

  template <typename T>
  std::optional<LanesOf<T>> special(const ExprNode&, LanesOf<T>*) {
    return {};
  }

  /// Elements as they lie; those of a word go together.
  template <Narrow T>
  LanesOf<T> load(const ExprNode& e) {
    const std::int64_t index = integer(e.args[0]), parts = parts_of_moved(e.id, e.type);
    const std::int64_t active = e.args.size() > 1 ? integer(e.args[1]) : e.lanes / parts;
    LanesOf<T> lanes(static_cast<std::size_t>(e.lanes));
    for (std::int64_t i = 0; i < std::min(active * parts, std::int64_t{e.lanes}); ++i)
      lanes[static_cast<std::size_t>(i)] =
          memory_.element<T>(e.id, index + i / parts * e.stride, i % parts);
    return lanes;
  }

  /// Narrow lanes in what an index of the buffer counts.
  std::int64_t parts_of_moved(int buffer, Type type) const {
    return function_.buffers[static_cast<std::size_t>(buffer)].elements.are_in_words
               ? per_word(type)
               : 1;
  }

  template <typename T>
  LanesOf<T> load(const ExprNode& e) {
    const std::int64_t index = integer(e.args[0]);
    const std::int64_t active = e.args.size() > 1 ? integer(e.args[1]) : e.lanes;
    LanesOf<T> lanes(static_cast<std::size_t>(e.lanes));
    for (std::int64_t i = 0; i < std::min<std::int64_t>(active, e.lanes); ++i) {
      lanes[static_cast<std::size_t>(i)] = memory_.load<T>(e.id, index + i * e.stride);
    }
    return lanes;
  }

  Lanes load_indexed(const ExprNode& e) {
    const std::int64_t base = integer(e.args[0]), first = integer(e.args[1]);
    const std::int64_t active = e.args.size() > 2 ? integer(e.args[2]) : e.lanes;
    Lanes lanes(static_cast<std::size_t>(e.lanes));
    for (std::int64_t i = 0; i < std::min<std::int64_t>(active, e.lanes); ++i) {
      const std::int64_t index = memory_.load_index(static_cast<int>(e.ivalue), first + i);
      lanes[static_cast<std::size_t>(i)] = memory_.load<float>(e.id, base + index);
    }
    return lanes;
  }

  void store(const StmtNode& s) {
    with_lane_type(s.args[1]->type, [&]<typename T>() { store_lanes(s, vector<T>(s.args[1])); });
  }

  template <Narrow T>
  void store_lanes(const StmtNode& s, const LanesOf<T>& value) {
    const std::int64_t index = integer(s.args[0]), parts = parts_of_moved(s.id, s.args[1]->type);
    const auto lanes = static_cast<std::int64_t>(value.size());
    const std::int64_t active = s.args.size() > 2 ? integer(s.args[2]) : lanes;
    for (std::int64_t i = 0; i < std::min(active * parts, lanes); ++i)
      memory_.element<T>(s.id, index + i / parts * s.step, i % parts) =
          value[static_cast<std::size_t>(i)];
  }

  template <typename T>
  void store_lanes(const StmtNode& s, const LanesOf<T>& value) {
    const std::int64_t index = integer(s.args[0]);
    const auto lanes = static_cast<std::int64_t>(value.size());
    const std::int64_t active = s.args.size() > 2 ? integer(s.args[2]) : lanes;
    for (std::int64_t i = 0; i < std::min(active, lanes); ++i) {
      memory_.store(s.id, index + i * s.step, value[static_cast<std::size_t>(i)]);
    }
  }

  const Function& function_;
  std::vector<std::int64_t> variables_;
  std::vector<AnyLanes> locals_;
  EvalMemory memory_;
  EvalTiles tiles_{function_, memory_};
};

// Clang 19 forgets to instantiate what calls itself from a lambda with a type parameter.
template LanesOf<float> Evaluator::vector<float>(const Expr&);
template LanesOf<double> Evaluator::vector<double>(const Expr&);
template LanesOf<std::int32_t> Evaluator::vector<std::int32_t>(const Expr&);
template LanesOf<std::int64_t> Evaluator::vector<std::int64_t>(const Expr&);
template LanesOf<Float16> Evaluator::vector<Float16>(const Expr&);
template LanesOf<BFloat16> Evaluator::vector<BFloat16>(const Expr&);
template LanesOf<std::int16_t> Evaluator::vector<std::int16_t>(const Expr&);
template LanesOf<std::int8_t> Evaluator::vector<std::int8_t>(const Expr&);
template LanesOf<std::uint8_t> Evaluator::vector<std::uint8_t>(const Expr&);

}  // namespace

void evaluate(const Function& function, std::span<const EvalBuffer> buffers) {
  Evaluator(function, buffers).run();
}

}  // namespace aoe::compiler::loopnest
