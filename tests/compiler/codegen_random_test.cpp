// Random loop nests: machine code against the interpreter, bit for bit.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "tests/compiler/guarded_buffer.h"
#include "tests/compiler/loopnest_eval.h"
#include "tests/compiler/machine_code.h"

namespace aoe::compiler::loopnest {
namespace {

constexpr std::int64_t kElements = 500;
constexpr int kParallel = 3;

/// Writes random statements over a read buffer x, a written buffer y and a scratch buffer s of
/// kElements each. Every index is in range by construction: modulo the room that the access needs.
class RandomNest {
 public:
  explicit RandomNest(unsigned seed)
      : engine_(seed),
        builder_("nest"),
        x_(builder_.buffer("x", Access::kRead)),
        y_(builder_.buffer("y", Access::kReadWrite)),
        s_(builder_.scratch("s", kElements)) {}

  Function make() {
    builder_.parallel(kParallel, [&](Int p) {
      // Iterations may not write the same element, and s begins undefined.
      builder_.loop("clear", 0, kElements, 1,
                    [&](Int i) { builder_.store(s_, i, splat(0.5f, 1)); });
      variables_ = {p};
      lanes_ = pick({1, 3, 4, 8, 16});
      for (int i = 0; i < 3; ++i) locals_.push_back(builder_.local(vector(1)));
      statements(3);
      builder_.loop("out", 0, kElements / kParallel, 1, [&](Int i) {
        builder_.store(y_, p * (kElements / kParallel) + i, builder_.load(s_, i, 1));
      });
    });
    return builder_.finish();
  }

 private:
  int below(int n) { return std::uniform_int_distribution<int>(0, n - 1)(engine_); }
  int pick(std::initializer_list<int> values) {
    return values.begin()[below(static_cast<int>(values.size()))];
  }

  void statements(int depth) {
    const int count = 1 + below(3);
    for (int i = 0; i < count; ++i) statement(depth);
  }

  void statement(int depth) {
    switch (below(depth > 0 ? 5 : 2)) {
      case 0:
        return store();
      case 1:
        return builder_.assign(locals_[static_cast<std::size_t>(below(3))], vector(3));
      case 2:
        return builder_.if_(
            condition(), [&] { statements(depth - 1); }, [&] { statements(depth - 1); });
      default: {
        const Int begin = below(2) == 0 ? Int(below(3)) : index(1, 4);
        builder_.loop("i", begin, begin + below(5), 1 + below(2), [&](Int i) {
          variables_.push_back(i);
          statements(depth - 1);
          variables_.pop_back();
        });
      }
    }
  }

  void store() {
    const std::int64_t stride = pick({1, 1, 2, 5});
    const Int at = index(2, kElements - (lanes_ - 1) * stride);
    builder_.store(s_, at, vector(3), active(), stride);
  }

  std::optional<Int> active() {
    if (below(2) == 0) return {};
    if (below(2) == 0) return Int(below(lanes_ + 2));
    return index(1, lanes_ + 2);
  }

  /// In [0, limit).
  Int index(int depth, std::int64_t limit) {
    if (depth == 0) {
      const Int leaf =
          below(3) == 0
              ? Int(below(40))
              : variables_[static_cast<std::size_t>(below(static_cast<int>(variables_.size())))];
      return leaf % limit;
    }
    const Int a = index(depth - 1, limit), b = index(depth - 1, limit);
    switch (below(5)) {
      case 0:
        return (a + b) % limit;
      case 1:
        return (a * Int(1 + below(20)) + Int(below(9))) % limit;
      case 2:
        return min(a, b);
      case 3:
        return max(a, b) / Int(1 + below(4));
      default:
        return max(a - b, 0);
    }
  }

  Bool condition() {
    const Int a = index(1, 10), b = index(1, 10);
    switch (below(4)) {
      case 0:
        return a < b;
      case 1:
        return a <= b && !(a == Int(3));
      case 2:
        return a != b || b < Int(2);
      default:
        return a == b;
    }
  }

  Vec vector(int depth) {
    if (depth == 0) {
      const std::int64_t stride = pick({0, 1, 1, 2, 3, 6});
      const Int at = index(1, kElements - (lanes_ - 1) * stride);
      switch (below(5)) {
        case 0:
          return splat(static_cast<float>(below(100)) / 8.0f - 6.0f, lanes_);
        case 1:
          return builder_.load(s_, at, lanes_, active(), stride);
        case 2:
          return locals_.empty() ? splat(1.0f, lanes_)
                                 : builder_.get(locals_[static_cast<std::size_t>(
                                       below(static_cast<int>(locals_.size())))]);
        default:
          return builder_.load(x_, at, lanes_, active(), stride);
      }
    }
    const Vec a = vector(depth - 1), b = vector(depth - 1);
    switch (below(18)) {
      case 0:
        return a + b;
      case 1:
        return a - b;
      case 2:
        return a * b;
      case 3:
        return a / b;
      case 4:
        return min(a, b);
      case 5:
        return max(a, b);
      case 6:
        return below(2) == 0 ? fma(a, b, a) : max(a, b, a - b);
      case 7:
        return sqrt(abs(a));
      case 8:
        return floor(a) - round_even(b);
      case 9:
        return select(a < b, a, -b);
      case 10:
        return select(a <= b, b, a);
      case 11:
        return broadcast(reduce_add(a), lanes_);
      case 12:
        return broadcast(reduce_max(a) + reduce_min(b), lanes_);
      case 13:
        return permute(a, b, places());
      case 14:
        return convert(of_reals(convert(a, Type::kDouble), convert(b, Type::kDouble)),
                       Type::kFloat);
      case 15:
        return convert(of_integers(convert(a, Type::kInt32), convert(b, Type::kInt32)),
                       Type::kFloat);
      case 16:
        return convert(of_integers(convert(a, Type::kInt64), convert(b, Type::kInt64)),
                       Type::kFloat);
      default:
        return select(active_lanes(index(1, lanes_ + 1), lanes_), a,
                      broadcast(to_float(index(1, 99)), lanes_));
    }
  }

  /// Of float64.
  Vec of_reals(const Vec& a, const Vec& b) {
    switch (below(7)) {
      case 0:
        return a * b - a;
      case 1:
        return a / max(b, splat(0.1, lanes_, a.type()));
      case 2:
        return fma(a, b, sqrt(abs(a)));
      case 3:
        return select(a < b, floor(a), round_even(-b));
      case 4:
        return broadcast(reduce_add(a) + reduce_min(b), lanes_);
      case 5:
        return permute(min(a, b), a, places());
      default:
        return a + broadcast(to_lane(index(1, 99), a.type()), lanes_);
    }
  }

  /// Of int32 or int64.
  Vec of_integers(const Vec& a, const Vec& b) {
    switch (below(8)) {
      case 0:
        return a * b - a;
      case 1:
        return int_divide(a, b, below(2) == 0);
      case 2:
        return bit_xor(max(a, b), -a);
      case 3:
        return select(a <= b, bit_and(a, b), bit_or(a, b));
      case 4:
        return broadcast(reduce_add(a) + reduce_max(b), lanes_);
      case 5:
        return permute(min(a, b), a, places());
      case 6:
        return shift_left(a, splat(below(8), lanes_, a.type())) + fma(a, b, b);
      default:
        return a + broadcast(to_lane(index(1, 99), a.type()), lanes_);
    }
  }

  /// Any lanes of two vectors.
  std::vector<int> places() {
    std::vector<int> from;
    for (int i = 0; i < lanes_; ++i) from.push_back(below(2 * lanes_));
    return from;
  }

  std::mt19937 engine_;
  Builder builder_;
  Buffer x_, y_, s_;
  int lanes_ = 1;
  std::vector<Int> variables_;
  std::vector<Local> locals_;
};

TEST(RandomNests, RunAsInterpreted) {
  constexpr unsigned kNests = 40;
  for (unsigned seed = 1; seed <= kNests; ++seed) {
    const Function function = RandomNest(seed).make();
    std::mt19937 engine(seed);
    std::vector<float> x(kElements), expected(kElements, 0.0f);
    for (float& v : x) v = static_cast<float>(static_cast<int>(engine() % 64)) / 4.0f - 8.0f;
    const EvalBuffer eval[] = {{x.data(), kElements}, {expected.data(), kElements}};
    evaluate(function, eval);
    for (const Soc& soc : test_socs()) {
      GuardedBuffer input(kElements * sizeof(float)), output(kElements * sizeof(float));
      std::memcpy(input.as(), x.data(), input.size_bytes());
      void* const buffers[] = {input.as(), output.as()};
      compile_and_run(function, soc, buffers);
      for (std::int64_t i = 0; i < kElements; ++i) {
        const float want = expected[static_cast<std::size_t>(i)], got = output.as()[i];
        ASSERT_TRUE(got == want || (std::isnan(got) && std::isnan(want)))
            << "seed " << seed << " " << soc.version << " element " << i << ": " << got
            << ", expected " << want << "\n"
            << to_text(function);
      }
    }
  }
}

}  // namespace
}  // namespace aoe::compiler::loopnest
