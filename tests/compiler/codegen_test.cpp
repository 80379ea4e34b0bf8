// Machine code of loop nests: every construct of the language against the interpreter, memory
// borders, and what the shared object promises.
#include "compiler/loopnest/codegen.h"

#include <gtest/gtest.h>
#include <malloc.h>
#include <sys/resource.h>

#include <cmath>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <random>
#include <vector>

#include "base/error.h"
#include "tests/compiler/guarded_buffer.h"
#include "tests/compiler/loopnest_eval.h"
#include "tests/compiler/machine_code.h"

namespace aoe::compiler::loopnest {
namespace {

std::vector<float> random_floats(std::size_t count, unsigned seed = 1) {
  std::mt19937 engine(seed);
  std::uniform_real_distribution<float> uniform(-4.0f, 4.0f);
  std::vector<float> values(count);
  for (float& v : values) v = uniform(engine);
  return values;
}

/// Runs a function of x (read), y (read and written) by machine code of every Soc and by the
/// interpreter.
void expect_agreement(const Function& function, const std::vector<float>& x, std::size_t y_count) {
  std::vector<float> input = x, expected(y_count, -1.0f);
  const EvalBuffer eval[] = {{input.data(), static_cast<std::int64_t>(x.size())},
                             {expected.data(), static_cast<std::int64_t>(y_count)}};
  evaluate(function, eval);
  for (const Soc& soc : test_socs()) {
    GuardedBuffer guarded(x.size() * sizeof(float));
    std::memcpy(guarded.as(), x.data(), guarded.size_bytes());
    GuardedBuffer output(y_count * sizeof(float));
    std::fill_n(output.as(), y_count, -1.0f);
    void* const buffers[] = {guarded.as(), output.as()};
    compile_and_run(function, soc, buffers);
    for (std::size_t i = 0; i < y_count; ++i) {
      ASSERT_EQ(output.as()[i], expected[i]) << soc.version << " element " << i << " of\n"
                                             << to_text(function);
    }
  }
}

struct Access2 {
  int lanes;
  std::int64_t stride;
  int active;  ///< -1: all lanes

  /// Elements from the lowest to the highest that the access touches.
  std::int64_t reach() const { return ((active < 0 ? lanes : active) - 1) * std::abs(stride) + 1; }
};

std::vector<Access2> strided_cases() {
  std::vector<Access2> cases;
  for (const int lanes : {1, 8, 16, 5}) {
    for (const std::int64_t stride : {0, 1, 2, 3, 4, 7, -1, -3}) {
      for (const int active : {-1, 1, lanes / 2 + 1, lanes}) {
        if (active <= lanes) cases.push_back({lanes, stride, active});
      }
    }
  }
  return cases;
}

/// y gets x through an access at `first` whose count of lanes comes from a variable: constants take
/// another way through the code generator. copy(builder, x, y, count) emits it.
template <typename Copy>
Function strided_function(const Access2& access, Copy copy) {
  Builder b("f");
  const Buffer x = b.buffer("x", Access::kRead), y = b.buffer("y", Access::kReadWrite);
  b.parallel(1, [&](Int) {
    const int used = access.active;
    b.loop("n", used, used + 2, 1, [&](Int n) {
      copy(b, x, y, used < 0 ? std::optional<Int>() : std::optional<Int>(min(n, Int(used))));
    });
  });
  return b.finish();
}

TEST(StridedAccess, LoadsWithoutReadingOutside) {
  for (const Access2& access : strided_cases()) {
    const std::int64_t first = access.stride < 0 ? access.reach() - 1 : 0;
    const Function f = strided_function(access, [&](Builder& b, Buffer x, Buffer y, auto count) {
      b.store(y, 0, b.load(x, first, access.lanes, count, access.stride));
    });
    expect_agreement(f, random_floats(static_cast<std::size_t>(access.reach())),
                     static_cast<std::size_t>(access.lanes));
  }
}

TEST(StridedAccess, StoresWithoutWritingOutside) {
  for (const Access2& access : strided_cases()) {
    if (access.stride == 0) continue;  // a store of all lanes to one element is refused
    const std::int64_t first = access.stride < 0 ? access.reach() - 1 : 0;
    const Function f = strided_function(access, [&](Builder& b, Buffer x, Buffer y, auto count) {
      b.store(y, first, b.load(x, 0, access.lanes), count, access.stride);
    });
    expect_agreement(f, random_floats(static_cast<std::size_t>(access.lanes)),
                     static_cast<std::size_t>(access.reach()));
  }
}

TEST(MaskedAccess, TouchesNothingWhenNoLaneIsActive) {
  for (const Soc& soc : test_socs()) {
    Builder b("f");
    const Buffer x = b.buffer("x", Access::kRead), y = b.buffer("y", Access::kWrite);
    b.parallel(2, [&](Int p) {
      const Int none = p * -5;  // 0 and -5 lanes
      for (const int lanes : {1, soc.vector_lanes()}) {
        b.store(y, 0, b.load(x, 0, lanes, none), none);
        b.store(y, 0, b.load(x, 0, lanes, none, 2), none, 2);
        b.store(y, 0, b.load(x, 0, lanes, none, 0), none);
      }
    });
    GuardedBuffer nothing(0);
    void* const buffers[] = {nothing.as(), nothing.as()};
    compile_and_run(b.finish(), soc, buffers);  // would crash on the guard page
  }
}

TEST(Transpose, OfEverySize) {
  for (const int n : {1, 2, 3, 4, 5, 8, 16}) {
    Builder b("f");
    const Buffer x = b.buffer("x", Access::kRead), y = b.buffer("y", Access::kReadWrite);
    b.parallel(1, [&](Int) {
      std::vector<Vec> rows;
      for (int i = 0; i < n; ++i) rows.push_back(b.get(b.local(b.load(x, i * n, n))));
      for (int i = 0; i < n; ++i) b.store(y, i * n, transpose_row(rows, i));
    });
    expect_agreement(b.finish(), random_floats(static_cast<std::size_t>(n * n)),
                     static_cast<std::size_t>(n * n));
  }
}

TEST(Interleave, OfAnyNumberOfRows) {
  for (const int lanes : {1, 4, 8, 16}) {
    for (const int n : {1, 2, 3, 4, 7}) {
      Builder b("f");
      const Buffer x = b.buffer("x", Access::kRead), y = b.buffer("y", Access::kReadWrite);
      b.parallel(1, [&](Int) {
        std::vector<Vec> rows;
        for (int i = 0; i < n; ++i) rows.push_back(b.get(b.local(b.load(x, i * lanes, lanes))));
        for (int i = 0; i < n; ++i) b.store(y, i * lanes, interleave(rows, i));
      });
      const auto elements = static_cast<std::size_t>(n * lanes);
      expect_agreement(b.finish(), random_floats(elements), elements);
    }
  }
}

TEST(Permute, OneVectorAndTwo) {
  std::mt19937 random(3);
  for (const int lanes : {1, 2, 4, 8, 16}) {
    std::vector<int> one, two;
    for (int i = 0; i < lanes; ++i) {
      one.push_back(static_cast<int>(random()) & (lanes - 1));
      two.push_back(static_cast<int>(random()) & (2 * lanes - 1));
    }
    Builder b("f");
    const Buffer x = b.buffer("x", Access::kRead), y = b.buffer("y", Access::kReadWrite);
    b.parallel(1, [&](Int) {
      const Vec low = b.load(x, 0, lanes), high = b.load(x, lanes, lanes);
      b.store(y, 0, permute(low, one));
      b.store(y, lanes, permute(low, high, two));
    });
    const auto elements = static_cast<std::size_t>(2 * lanes);
    expect_agreement(b.finish(), random_floats(elements), elements);
  }
}

TEST(ControlFlow, LoopsThatMayBeEmptyAndBranches) {
  Builder b("f");
  const Buffer x = b.buffer("x", Access::kRead), y = b.buffer("y", Access::kReadWrite);
  b.parallel(7, [&](Int p) {
    const Local sum = b.local(splat(0.0f, 4));
    b.loop("k", p, p * 2 % 7, 1, [&](Int k) {
      b.assign(sum, b.get(sum) + b.load(x, k, 4));
      b.if_(
          k % 2 == Int(0) && !(k == Int(4)), [&] { b.assign(sum, b.get(sum) * splat(2.0f, 4)); },
          [&] { b.assign(sum, -b.get(sum)); });
    });
    b.if_(Int(3) < p || p == Int(1),
          [&] { b.assign(sum, b.get(sum) + broadcast(to_float(p * 3), 4)); });
    b.store(y, p * 4, b.get(sum));
  });
  expect_agreement(b.finish(), random_floats(16), 28);
}

TEST(Locals, AreReadWhereTheStatementStands) {
  Builder b("f");
  const Buffer x = b.buffer("x", Access::kRead), y = b.buffer("y", Access::kReadWrite);
  b.parallel(1, [&](Int) {
    const Local a = b.local(b.load(x, 0, 4));
    const Vec late = b.get(a) + splat(1.0f, 4);
    b.assign(a, b.load(x, 4, 4));
    b.store(y, 0, late);                 // sees the second value
    const Vec stored = b.load(y, 0, 4);  // of the buffer, read twice: before and after the store
    b.store(y, 4, stored);
    b.store(y, 0, splat(9.0f, 4));
    b.store(y, 8, stored);
  });
  expect_agreement(b.finish(), random_floats(8), 12);
}

TEST(Scratch, IsPrivateMemoryOfTheFunction) {
  Builder b("f");
  const Buffer x = b.buffer("x", Access::kRead);
  const Buffer s = b.scratch("s", 5), t = b.scratch("t", 16);
  const Buffer y = b.buffer("y", Access::kReadWrite);
  b.parallel(3, [&](Int p) {
    b.loop("i", 0, 5, 1, [&](Int i) { b.store(s, i, b.load(x, p * 5 + i, 1)); });
    b.store(t, 0, b.load(x, p, 8) * splat(2.0f, 8));
    b.loop("i", 0, 5, 1,
           [&](Int i) { b.store(y, p * 5 + i, b.load(s, Int(4) - i, 1) + b.load(t, i, 1)); });
  });
  const Function function = b.finish();
  EXPECT_EQ(function.scratch_bytes, 128);
  expect_agreement(function, random_floats(15), 15);
}

TEST(ElementTypes, ConvertOnLoadAndStore) {
  for (const Soc& soc : test_socs()) {
    for (const DataType dtype : {DataType::kInt8, DataType::kUint8, DataType::kInt32}) {
      constexpr int kCount = 24;
      Builder b("f");
      const Buffer x = b.buffer("x", Access::kRead, dtype);
      const Buffer y = b.buffer("y", Access::kWrite), z = b.buffer("z", Access::kWrite, dtype);
      b.parallel(1, [&](Int) {
        vector_loop(b, "i", kCount, soc.vector_lanes(), [&](Int i, std::optional<Int> active) {
          const Vec v = b.load(x, i, soc.vector_lanes(), active);
          b.store(y, i, v, active);
          b.store(z, i, v * splat(3.0f, soc.vector_lanes()), active);
        });
      });
      const Function f = b.finish();
      std::vector<std::int32_t> x_bytes(kCount), z_machine(kCount), z_eval(kCount);
      std::mt19937 engine(7);
      for (auto& v : x_bytes) v = static_cast<std::int32_t>(engine());
      std::vector<float> y_machine(kCount), y_eval(kCount);
      void* const buffers[] = {x_bytes.data(), y_machine.data(), z_machine.data()};
      compile_and_run(f, soc, buffers);
      const EvalBuffer eval[] = {
          {x_bytes.data(), kCount}, {y_eval.data(), kCount}, {z_eval.data(), kCount}};
      evaluate(f, eval);
      EXPECT_EQ(y_machine, y_eval) << name(dtype);
      EXPECT_EQ(z_machine, z_eval) << name(dtype);
    }
  }
}

/// Lanes in any order, a border at both ends of the buffer, and lanes that are off whose indices point outside.
TEST(IndexedLoads, PickElementsByTheirIndices) {
  std::vector<std::int32_t> indices = {0, 9, 3, 3, 7, 1, 8, 0, 2, 9, 9, 4, 5, 6, 0, 9, 1 << 20};
  std::vector<float> x = random_floats(10);
  for (const int lanes : {1, 8, 16, 5}) {
    for (const int active : {-1, 0, 1, 4}) {
      Builder b("f");
      const Buffer from = b.buffer("x", Access::kRead);
      const Buffer table = b.buffer("indices", Access::kRead, DataType::kInt32);
      const Buffer y = b.buffer("y", Access::kWrite);
      b.parallel(2, [&](Int p) {
        const auto count = active < 0 ? std::nullopt : std::optional(p * 0 + active);
        b.store(y, p * 16, b.load_indexed(from, 0, table, p, lanes, count), lanes);
      });
      const Function f = b.finish();
      // With p = 1 the last of 16 lanes is the index outside.
      if (lanes == 16 && active < 0) continue;
      std::vector<float> expected(32, -1.0f);
      const EvalBuffer eval[] = {{x.data(), 10}, {indices.data(), 17}, {expected.data(), 32}};
      evaluate(f, eval);
      for (const Soc& soc : test_socs()) {
        std::vector<float> y_machine(32, -1.0f);
        GuardedBuffer guarded(x.size() * sizeof(float));
        std::memcpy(guarded.as(), x.data(), guarded.size_bytes());
        void* const buffers[] = {guarded.as(), indices.data(), y_machine.data()};
        compile_and_run(f, soc, buffers);
        EXPECT_EQ(y_machine, expected) << soc.version << "\n" << to_text(f);
      }
    }
  }
}

TEST(ElementTypes, HalfPrecisionRoundsToNearestEven) {
  for (const Soc& soc : test_socs()) {
    Builder b("f");
    const Buffer x = b.buffer("x", Access::kRead);
    const Buffer half = b.buffer("half", Access::kReadWrite, DataType::kFloat16);
    const Buffer bf = b.buffer("bf", Access::kReadWrite, DataType::kBFloat16);
    const Buffer y = b.buffer("y", Access::kWrite);
    b.parallel(1, [&](Int) {
      b.store(half, 0, b.load(x, 0, 8));
      b.store(bf, 0, b.load(x, 0, 8));
      b.store(y, 0, b.load(half, 0, 8));
      b.store(y, 8, b.load(bf, 0, 8));
    });
    float in[8] = {1.0f, 65504.0f, 65520.0f, 0x1.002p0f, -2.5f, 0x1.01p0f, 1e30f, std::nanf("")};
    std::uint16_t half_bits[8], bf_bits[8];
    float out[16];
    void* const buffers[] = {in, half_bits, bf_bits, out};
    compile_and_run(b.finish(), soc, buffers);
    EXPECT_EQ(half_bits[0], 0x3c00);
    EXPECT_EQ(half_bits[1], 0x7bff);
    EXPECT_EQ(half_bits[2], 0x7c00);  // halfway to beyond the largest: infinity
    EXPECT_EQ(half_bits[3], 0x3c00);  // halfway: the even one
    EXPECT_EQ(bf_bits[0], 0x3f80);
    EXPECT_EQ(bf_bits[5], 0x3f80);  // halfway: the even one
    EXPECT_EQ(out[4], -2.5f);
    EXPECT_EQ(out[12], -2.5f);
    EXPECT_TRUE(std::isnan(out[7]));
    EXPECT_TRUE(std::isnan(out[15]));
  }
}

TEST(ElementTypes, PairsOfBFloat16AreRoundedAndMultiplied) {
  for (const Soc& soc : test_socs()) {
    if (!soc.has(Feature::kBf16)) continue;
    Builder b("f");
    const Buffer x = b.buffer("x", Access::kRead), y = b.buffer("y", Access::kRead);
    const Buffer z = b.buffer("z", Access::kReadWrite);
    b.parallel(1, [&](Int) {
      const auto pairs = [&](Buffer from) {
        return b.get(b.local(pack_bf16(b.load(from, 0, 16), b.load(from, 16, 16))));
      };
      b.store(z, 0, dot_bf16(pairs(x), pairs(y), b.load(z, 0, 16)));
    });
    const Function f = b.finish();
    std::vector<float> x_in = random_floats(32, 1), y_in = random_floats(32, 2);
    std::vector<float> z_machine = random_floats(16, 3), z_eval = z_machine;
    void* const buffers[] = {x_in.data(), y_in.data(), z_machine.data()};
    compile_and_run(f, soc, buffers);
    const EvalBuffer eval[] = {{x_in.data(), 32}, {y_in.data(), 32}, {z_eval.data(), 16}};
    evaluate(f, eval);
    for (std::size_t i = 0; i < z_eval.size(); ++i)
      EXPECT_NEAR(z_machine[i], z_eval[i], 1e-5f * std::max(1.0f, std::abs(z_eval[i]))) << i;
  }
}

TEST(ElementTypes, PairsOfFloat16AreMultipliedAndAdded) {
  for (const Soc& soc : test_socs()) {
    if (soc.vector_lanes() != 16) continue;
    Builder b("f");
    const Buffer x = b.buffer("x", Access::kRead), y = b.buffer("y", Access::kRead);
    const Buffer z = b.buffer("z", Access::kWrite);
    b.parallel(1, [&](Int) {
      const auto pairs = [&](Buffer from) { return b.get(b.local(pair_f16(b.load(from, 0, 16)))); };
      const Local sum = b.local(fma_f16(pairs(x), pairs(y), pairs(y)));
      b.store(z, 0, low_f16(b.get(sum)));
      b.store(z, 16, high_f16(b.get(sum)));
    });
    const Function f = b.finish();
    std::vector<float> x_in = random_floats(16, 1), y_in = random_floats(16, 2);
    std::vector<float> z_machine(32), z_eval(32);
    void* const buffers[] = {x_in.data(), y_in.data(), z_machine.data()};
    compile_and_run(f, soc, buffers);
    const EvalBuffer eval[] = {{x_in.data(), 16}, {y_in.data(), 16}, {z_eval.data(), 32}};
    evaluate(f, eval);
    EXPECT_EQ(z_machine, z_eval);
  }
}

template <typename T>
void pick_lanes(const Soc& soc, DataType dtype, Type type) {
  const int lanes = soc.vector_lanes();
  Builder b("f");
  const Buffer places = b.buffer("places", Access::kRead, DataType::kInt32);
  const Buffer from = b.buffer("from", Access::kRead, dtype);
  const Buffer y = b.buffer("y", Access::kWrite, dtype);
  b.parallel(4, [&](Int p) {
    const Int at = p * lanes;
    b.store(y, at,
            pick(b.load_as(Type::kInt32, places, at, lanes), b.load_as(type, from, 0, lanes),
                 b.load_as(type, from, lanes, lanes)));
  });
  const Function f = b.finish();
  std::mt19937 random(7);
  std::vector<std::int32_t> in(static_cast<std::size_t>(4 * lanes));
  for (std::int32_t& each : in) each = static_cast<std::int32_t>(random());
  std::vector<T> numbers(in.size() / 2), machine(in.size()), eval(in.size());
  for (T& each : numbers) each = static_cast<T>(static_cast<std::int32_t>(random()));
  void* const buffers[] = {in.data(), numbers.data(), machine.data()};
  compile_and_run(f, soc, buffers);
  const EvalBuffer memory[] = {
      {in.data(), 4 * lanes}, {numbers.data(), 2 * lanes}, {eval.data(), 4 * lanes}};
  evaluate(f, memory);
  EXPECT_EQ(machine, eval) << soc.version;
  for (std::size_t i = 0; i < in.size(); ++i)
    EXPECT_EQ(machine[i], numbers[static_cast<std::uint32_t>(in[i]) % numbers.size()]);
}

TEST(ElementTypes, LanesArePickedByOthers) {
  for (const Soc& soc : test_socs()) {
    pick_lanes<std::int32_t>(soc, DataType::kInt32, Type::kInt32);
    pick_lanes<float>(soc, DataType::kFloat, Type::kFloat);
  }
}

TEST(ElementTypes, QuadsOfBytesAreMultipliedExactly) {
  for (const Soc& soc : quantised_test_socs()) {
    const int lanes = soc.vector_lanes();
    const std::int64_t bytes = 4 * lanes;
    Builder b("f");
    const Buffer x = b.buffer("x", Access::kRead, DataType::kInt8);
    const Buffer w = b.buffer("w", Access::kRead, DataType::kInt8);
    const Buffer y = b.buffer("y", Access::kWrite);
    b.parallel(3, [&](Int p) {
      const Vec from =
          b.get(b.local(flip_signs(b.load_quads(x, p * bytes, lanes, Int(lanes - 1)))));
      const Vec weights = b.load_quads(w, 0, lanes), first = b.load_quad_broadcast(x, 4, lanes);
      const Vec sum = dot_u8s8(from, weights, int_splat(-70000, lanes, Type::kInt32));
      const Vec both = dot_u8s8(quad_splat(0xff80017fu, lanes), first, sum);
      b.store(y, p * lanes, convert(both, Type::kFloat));
    });
    const Function f = b.finish();
    std::mt19937 random(5);
    std::vector<std::int8_t> x_in(static_cast<std::size_t>(3 * bytes)), w_in(x_in.size() / 3);
    for (std::int8_t& each : x_in) each = static_cast<std::int8_t>(random());
    for (std::int8_t& each : w_in)
      each = static_cast<std::int8_t>(random() % 3 == 0 ? -128 : random());
    std::vector<float> machine(static_cast<std::size_t>(3 * lanes)), eval(machine.size());
    void* const buffers[] = {x_in.data(), w_in.data(), machine.data()};
    compile_and_run(f, soc, buffers);
    const EvalBuffer memory[] = {
        {x_in.data(), 3 * bytes}, {w_in.data(), bytes}, {eval.data(), 3 * lanes}};
    evaluate(f, memory);
    EXPECT_EQ(machine, eval) << soc.version;
  }
}

TEST(ElementTypes, PairsOfInt16AreMultipliedExactly) {
  for (const Soc& soc : quantised_test_socs()) {
    const int lanes = soc.vector_lanes();
    Builder b("f");
    const Buffer x = b.buffer("x", Access::kRead, DataType::kInt16);
    const Buffer y = b.buffer("y", Access::kReadWrite, DataType::kInt32);
    const Buffer kept = b.scratch("kept", 2 * lanes, DataType::kInt16);
    b.parallel(1, [&](Int) {
      for (const int half : {0, 1})
        b.store(kept, half * lanes, b.load_as(Type::kInt32, y, half * lanes, lanes));
      const Vec pairs = b.get(b.local(b.load_quads(kept, 0, lanes)));
      const Vec sum = int_splat(-70000, lanes, Type::kInt32);
      b.store(y, 0, dot_i16(b.load_quads(x, 0, lanes), pairs, sum));
      b.store(y, lanes, dot_i16(b.load_quad_broadcast(x, 2, lanes), pairs, sum));
    });
    const Function f = b.finish();
    std::mt19937 random(7);
    std::vector<std::int16_t> x_in(static_cast<std::size_t>(2 * lanes));
    for (std::int16_t& each : x_in)
      each = static_cast<std::int16_t>(random() % 3 == 0 ? -32768 : random());
    std::vector<std::int32_t> machine(x_in.size());
    for (std::int32_t& each : machine) each = static_cast<std::int16_t>(random());
    machine[0] = machine[1] = -32768;
    std::vector<std::int32_t> eval = machine;
    void* const buffers[] = {x_in.data(), machine.data()};
    compile_and_run(f, soc, buffers);
    const EvalBuffer memory[] = {{x_in.data(), 2 * lanes}, {eval.data(), 2 * lanes}};
    evaluate(f, memory);
    EXPECT_EQ(machine, eval) << soc.version;
  }
}

TEST(ElementTypes, RoundingToBytesSaturates) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  std::vector<float> x_in = {0.5f,    1.5f,   -0.5f,     -1.5f,      254.5f,       255.5f,
                             1e9f,    -1e9f,  2.2e9f,    -3e9f,      1e30f,        -1e30f,
                             NAN,     -0.0f,  kInfinity, -kInfinity, 127.5f,       -117.5f,
                             -116.5f, 137.5f, 138.5f,    139.f,      2147483520.f, 100.49f};
  for (const Soc& soc : test_socs()) {
    for (const int lanes : {1, 4, 8, soc.vector_lanes()})
      for (const int zero : {0, 117, 255}) {
        Builder b("f");
        const Buffer x = b.buffer("x", Access::kRead);
        const Buffer y = b.buffer("y", Access::kWrite, DataType::kUint8);
        const Buffer z = b.buffer("z", Access::kWrite, DataType::kInt32);
        const auto count = static_cast<std::int64_t>(x_in.size());
        b.parallel(1, [&](Int) {
          b.loop("i", 0, count, lanes, [&](Int i) {
            const Int active = min(Int(lanes), Int(count) - i);
            const Vec bytes = round_to_byte(b.load(x, i, lanes, active), zero);
            b.store(y, i, bytes, active);
            b.store(z, i, bytes, active);
          });
        });
        const Function f = b.finish();
        std::vector<std::uint8_t> machine(x_in.size()), eval(x_in.size());
        std::vector<std::int32_t> wide(x_in.size()), wide_eval(x_in.size());
        void* const buffers[] = {x_in.data(), machine.data(), wide.data()};
        compile_and_run(f, soc, buffers);
        const EvalBuffer memory[] = {
            {x_in.data(), count}, {eval.data(), count}, {wide_eval.data(), count}};
        evaluate(f, memory);
        EXPECT_EQ(machine, eval) << soc.version << " " << lanes << " lanes, zero " << zero;
        EXPECT_EQ(wide, wide_eval) << soc.version << " " << lanes << " lanes, zero " << zero;
        EXPECT_EQ(wide[12], 0) << "of NaN";
      }
  }
}

TEST(LoadInt, IndexesRows) {
  for (const Soc& soc : test_socs()) {
    Builder b("f");
    const Buffer ids = b.buffer("ids", Access::kRead, DataType::kInt64);
    const Buffer table = b.buffer("table", Access::kRead), y = b.buffer("y", Access::kWrite);
    b.parallel(3, [&](Int p) {
      const Int row = (b.load_int(ids, p) + 5) % 5;
      b.store(y, p * 4, b.load(table, row * 4, 4));
    });
    std::int64_t rows[] = {4, -1, 2};
    std::vector<float> values(20), out(12);
    std::iota(values.begin(), values.end(), 0.0f);
    void* const buffers[] = {rows, values.data(), out.data()};
    compile_and_run(b.finish(), soc, buffers);
    EXPECT_EQ(out, (std::vector<float>{16, 17, 18, 19, 16, 17, 18, 19, 8, 9, 10, 11}));
  }
}

Function scale(const std::string& name, float factor) {
  Builder b(name);
  const Buffer x = b.buffer("x", Access::kRead), y = b.buffer("y", Access::kWrite);
  b.parallel(64, [&](Int p) { b.store(y, p * 8, b.load(x, p * 8, 8) * splat(factor, 8)); });
  return b.finish();
}

TEST(SharedObject, ExportsEachFunctionAndRunsRanges) {
  const std::vector<Function> functions = {scale("twice", 2.0f), scale("thrice", 3.0f)};
  const MachineCode code(compile_shared_object(functions, test_socs().front()));
  std::vector<float> x(512, 1.0f), y(512, 0.0f);
  void* const buffers[] = {x.data(), y.data()};
  code.function("twice")(buffers, 0, 10, nullptr);
  code.function("thrice")(buffers, 10, 20, nullptr);
  EXPECT_EQ(y[79], 2.0f);
  EXPECT_EQ(y[80], 3.0f);
  EXPECT_EQ(y[159], 3.0f);
  EXPECT_EQ(y[160], 0.0f);
}

TEST(SharedObject, HasTheSameBytesWhateverTheThreads) {
  std::vector<Function> functions;
  for (int i = 0; i < 6; ++i)
    functions.push_back(scale("f" + std::to_string(i), 1.0f + static_cast<float>(i)));
  const std::string one = compile_shared_object(functions, test_socs().front(), 1);
  EXPECT_EQ(one, compile_shared_object(functions, test_socs().front(), 4));
  EXPECT_EQ(one, compile_shared_object(functions, test_socs().front(), 1));
}

/// Which may be full, read-only, or not there; and who is killed while linking leaves nothing in it.
TEST(SharedObject, NeedsNoDirectoryForTemporaryFiles) {
  const char* before = std::getenv("TMPDIR");
  const std::string kept = before == nullptr ? "" : before;
  ::setenv("TMPDIR", "/nonexistent", 1);
  const std::vector<Function> functions = {scale("twice", 2.0f)};
  EXPECT_FALSE(compile_shared_object(functions, test_socs().front()).empty());
  before == nullptr ? ::unsetenv("TMPDIR") : ::setenv("TMPDIR", kept.c_str(), 1);
}

/// Of this process, for a while.
class Limit {
 public:
  Limit(__rlimit_resource resource, rlim_t value) : resource_(resource) {
    ::getrlimit(resource, &before_);
    const rlimit lowered = {value, before_.rlim_max};
    ::setrlimit(resource, &lowered);
  }
  ~Limit() { ::setrlimit(resource_, &before_); }

 private:
  __rlimit_resource resource_;
  rlimit before_{};
};

TEST(SharedObject, MayHaveMoreFunctionsThanThereAreDescriptors) {
  std::vector<Function> functions;
  for (int i = 0; i < 40; ++i) functions.push_back(scale("f" + std::to_string(i), 2.0f));
  const Limit few(RLIMIT_NOFILE, 24);
  EXPECT_FALSE(compile_shared_object(functions, test_socs().front()).empty());
}

/// lld would end the process.
TEST(SharedObject, SaysWhichLimitIsTooLow) {
  const std::vector<Function> functions = {scale("twice", 2.0f)};
  const auto refused = [&] {
    try {
      compile_shared_object(functions, test_socs().front());
      return std::string("nothing");
    } catch (const Error& e) {
      return std::string(e.what());
    }
  };
  const auto before = ::signal(SIGXFSZ, SIG_IGN);
  {
    const Limit small(RLIMIT_FSIZE, 1000);
    EXPECT_NE(refused().find("ulimit -f"), std::string::npos) << refused();
  }
  ::signal(SIGXFSZ, before);
  const Limit few(RLIMIT_NOFILE, 3);
  EXPECT_NE(refused().find("ulimit -n"), std::string::npos) << refused();
}

/// A program may tune for long.
TEST(SharedObject, LeavesNoMemoryBehind) {
  constexpr int kLinks = 60;
  const auto links = [] {
    for (int i = 0; i < kLinks; ++i) {
      const std::vector<Function> functions = {scale("twice", 2.0f)};
      compile_shared_object(functions, test_socs().front());
    }
    return static_cast<double>(::mallinfo2().uordblks);
  };
  const double before = links();
  // LLVM goes on listing the temporary files that it had.
  EXPECT_LT((links() - before) / kLinks, 512.0) << "bytes a link";
}

TEST(SharedObject, IsCutOffBetweenFunctions) {
  const std::vector<Function> functions = {scale("twice", 2.0f), scale("thrice", 3.0f)};
  int asked = 0;
  const auto is_second = [&] { return ++asked == 2; };
  EXPECT_THROW(compile_shared_object(functions, test_socs().front(), 1, is_second), CutOff);
  EXPECT_EQ(asked, 2);
}

TEST(SharedObject, OfNoFunctionsIsEmpty) {
  EXPECT_EQ(compile_shared_object({}, test_socs().front()), "");
}

TEST(Dumps, ShowIrAndAssembly) {
  const Function f = scale("twice", 2.0f);
  EXPECT_NE(llvm_ir(f, test_socs().front(), false).find("define void @twice"), std::string::npos);
  EXPECT_NE(assembly(f, test_socs().front()).find("twice:"), std::string::npos);
}

/// An om names an instruction set and no core: code must not use what only this core has.
TEST(Instructions, CoreDecidesScheduleButNoInstruction) {
  for (Soc soc : test_socs()) {
    soc.llvm_cpu = "znver5";
    const std::string text = llvm_ir(scale("twice", 2.0f), soc, false);
    const std::string baseline = soc.target->name() == "avx512" ? "x86-64-v4" : "x86-64-v3";
    EXPECT_NE(text.find("\"target-cpu\"=\"" + baseline + "\""), std::string::npos) << text;
    EXPECT_NE(text.find("\"tune-cpu\"=\"znver5\""), std::string::npos) << text;
    EXPECT_EQ(text.find("target-features"), std::string::npos) << text;
  }
}

/// A loop that copies or clears must stay a loop: the shared object has no memcpy to call.
TEST(SharedObject, NeedsNoLibrary) {
  for (const Soc& soc : test_socs()) {
    Builder b("copy");
    const Buffer x = b.buffer("x", Access::kRead), y = b.buffer("y", Access::kWrite);
    b.parallel(1, [&](Int) {
      b.loop("i", 0, 4096, 1, [&](Int i) { b.store(y, i, b.load(x, i, 1)); });
      b.loop("i", 0, 4096, 1, [&](Int i) { b.store(y, i + 4096, splat(0.0f, 1)); });
      b.store(y, 0, tanh(b.load(x, 0, 1)) + erf(log(exp(floor(sqrt(b.load(x, 1, 1)))))));
    });
    EXPECT_EQ(assembly(b.finish(), soc).find("call"), std::string::npos);
  }
}

/// The register block that convolutions live on: no accumulator may leave its register in the inner
/// loop.
TEST(RegisterBlock, OfFourteenByTwoDoesNotSpill) {
  const Soc* soc = &test_socs().back();
  if (soc->vector_registers() != 32) GTEST_SKIP() << "needs 32 registers";
  Builder b("block");
  const Buffer x = b.buffer("x", Access::kRead), w = b.buffer("w", Access::kRead);
  const Buffer y = b.buffer("y", Access::kWrite);
  b.parallel(4, [&](Int p) {
    std::vector<Local> sums;
    for (int i = 0; i < 28; ++i) sums.push_back(b.local(splat(0.0f, 16)));
    b.loop("k", 0, 256, 1, [&](Int k) {
      const Local w0 = b.local(b.load(w, k * 32, 16)), w1 = b.local(b.load(w, k * 32 + 16, 16));
      for (int i = 0; i < 14; ++i) {
        const Vec column = b.load_broadcast(x, (p * 14 + i) * 256 + k, 16);
        b.assign(sums[2 * i], fma(b.get(w0), column, b.get(sums[2 * i])));
        b.assign(sums[2 * i + 1], fma(b.get(w1), column, b.get(sums[2 * i + 1])));
      }
    });
    for (int i = 0; i < 28; ++i) b.store(y, p * 448 + i * 16, b.get(sums[i]));
  });
  const std::string text = assembly(b.finish(), *soc);
  EXPECT_EQ(text.find("Spill"), std::string::npos) << text;
  EXPECT_EQ(text.find("(%rsp)"), std::string::npos) << text;
}

}  // namespace
}  // namespace aoe::compiler::loopnest
