// Element types in machine code: what is read, written, converted and multiplied, against the interpreter and by hand.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <numeric>
#include <random>
#include <vector>

#include "compiler/loopnest/codegen.h"
#include "tests/compiler/guarded_buffer.h"
#include "tests/compiler/loopnest_eval.h"
#include "tests/compiler/machine_code.h"
#include "tests/compiler/random_floats.h"

namespace aoe::compiler::loopnest {
namespace {

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

TEST(ElementTypes, BFloat16IsRoundedAndMultiplied) {
  for (const Soc& soc : test_socs()) {
    if (!soc.has(Feature::kBf16)) continue;
    Builder b("f");
    const Buffer x = b.buffer("x", Access::kRead), y = b.buffer("y", Access::kRead);
    const Buffer z = b.buffer("z", Access::kReadWrite);
    b.parallel(1, [&](Int) {
      const auto pairs = [&](Buffer from) {
        return b.get(b.local(convert(b.load(from, 0, 16), b.load(from, 16, 16), Type::kBfloat16)));
      };
      b.store(z, 0, dot(pairs(x), pairs(y), b.load(z, 0, 16)));
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

TEST(ElementTypes, Float16IsMultipliedAndAdded) {
  for (const Soc& soc : test_socs()) {
    if (soc.vector_lanes() != 16) continue;
    Builder b("f");
    const Buffer x = b.buffer("x", Access::kRead), y = b.buffer("y", Access::kRead);
    const Buffer z = b.buffer("z", Access::kWrite);
    b.parallel(1, [&](Int) {
      const auto halves = [&](Buffer from) {
        return b.get(b.local(convert(b.load(from, 0, 32), Type::kFloat16)));
      };
      b.store(z, 0, convert(fma(halves(x), halves(y), halves(y)), Type::kFloat));
    });
    const Function f = b.finish();
    std::vector<float> x_in = random_floats(32, 1), y_in = random_floats(32, 2);
    std::vector<float> z_machine(32), z_eval(32);
    void* const buffers[] = {x_in.data(), y_in.data(), z_machine.data()};
    compile_and_run(f, soc, buffers);
    const EvalBuffer eval[] = {{x_in.data(), 32}, {y_in.data(), 32}, {z_eval.data(), 32}};
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
      const Vec read = b.load_as(Type::kInt8, x, p * bytes, 4 * lanes, Int(4 * lanes - 4));
      const Vec flipped = bit_xor(read, int_splat(-128, 4 * lanes, Type::kInt8));
      const Vec from = b.get(b.local(bits_as(flipped, Type::kUint8)));
      const Vec weights = b.load_as(Type::kInt8, w, 0, 4 * lanes);
      const Vec first = broadcast(b.load_as(Type::kInt8, x, 4, 4), 4 * lanes);
      const Vec sum = dot(from, weights, int_splat(-70000, lanes, Type::kInt32));
      const Vec four = bits_as(int_splat(0x7f01807f, lanes, Type::kInt32), Type::kUint8);
      const Vec both = dot(int_splat(255, 4 * lanes, Type::kUint8), first, dot(four, first, sum));
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
      const Vec pairs = b.get(b.local(b.load_as(Type::kInt16, kept, 0, 2 * lanes)));
      const Vec sum = int_splat(-70000, lanes, Type::kInt32);
      b.store(y, 0, dot(b.load_as(Type::kInt16, x, 0, 2 * lanes), pairs, sum));
      const Vec pair = broadcast(b.load_as(Type::kInt16, x, 2, 2), 2 * lanes);
      b.store(y, lanes, dot(pair, pairs, sum));
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
            b.store(z, i, convert(bytes, Type::kInt32), active);
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

}  // namespace
}  // namespace aoe::compiler::loopnest
