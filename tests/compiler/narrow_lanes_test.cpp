// Lanes of less than 32 bits: what is refused, how they are written, and that machine code and interpreter move and convert them alike.
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "base/check.h"
#include "tests/compiler/loopnest_eval.h"
#include "tests/compiler/machine_code.h"

namespace aoe::compiler::loopnest {
namespace {

Vec zeros(Type type, int lanes) {
  return splat(0.0, lanes, type);
}

TEST(NarrowLanes, TypesSayWhatIsMultiplied) {
  const Vec floats = zeros(Type::kFloat, 16), integers = zeros(Type::kInt32, 16);
  const Vec bf16 = zeros(Type::kBfloat16, 32), i16 = zeros(Type::kInt16, 32);
  const Vec u8 = zeros(Type::kUint8, 64), s8 = zeros(Type::kInt8, 64);
  EXPECT_EQ(dot(bf16, bf16, floats).type(), Type::kFloat);
  EXPECT_EQ(dot(i16, i16, integers).type(), Type::kInt32);
  EXPECT_EQ(dot(u8, s8, integers).lanes(), 16);
  EXPECT_THROW(dot(s8, u8, integers), InternalError);
  EXPECT_THROW(dot(u8, u8, integers), InternalError);
  EXPECT_THROW(dot(bf16, bf16, integers), InternalError);
  EXPECT_THROW(dot(i16, i16, floats), InternalError);
  EXPECT_THROW(dot(i16, i16, zeros(Type::kInt32, 32)), InternalError);
  EXPECT_THROW(dot(integers, integers, integers), InternalError);
}

TEST(NarrowLanes, HaveNoOtherArithmetic) {
  const Vec bytes = zeros(Type::kInt8, 4), halves = zeros(Type::kFloat16, 2);
  EXPECT_THROW(bytes + bytes, InternalError);
  EXPECT_THROW(halves * halves, InternalError);
  EXPECT_THROW(-bytes, InternalError);
  EXPECT_THROW(bytes < bytes, InternalError);
  EXPECT_THROW(reduce_add(bytes), InternalError);
  EXPECT_THROW(select(active_lanes(2, 4), bytes, bytes), InternalError) << "masks are of words";
  EXPECT_THROW(shift_left(bytes, bytes), InternalError);
  EXPECT_THROW(fma(bytes, bytes, bytes), InternalError);
  const Vec pair = zeros(Type::kBfloat16, 2);
  EXPECT_THROW(fma(pair, pair, pair), InternalError);
  EXPECT_EQ(fma(halves, halves, halves).type(), Type::kFloat16);
}

TEST(NarrowLanes, AreMadeOfFloatsAndIntegersOf32Bits) {
  const Vec floats = zeros(Type::kFloat, 8), integers = zeros(Type::kInt32, 8);
  EXPECT_EQ(convert(floats, Type::kFloat16).lanes(), 8);
  EXPECT_EQ(convert(floats, floats, Type::kBfloat16).lanes(), 16);
  EXPECT_THROW(convert(floats, Type::kInt8), InternalError);
  EXPECT_THROW(convert(integers, Type::kFloat16), InternalError);
  EXPECT_THROW(convert(floats, floats, Type::kFloat16), InternalError);
  EXPECT_THROW(convert(zeros(Type::kInt8, 8), Type::kFloat), InternalError);
  EXPECT_THROW(int_splat(128, 4, Type::kInt8), InternalError);
  EXPECT_THROW(int_splat(-1, 4, Type::kUint8), InternalError);
  EXPECT_THROW(bits_as(zeros(Type::kInt8, 2), Type::kInt32), InternalError);
}

TEST(NarrowLanes, AreElementsOfTheirBuffer) {
  Builder b("f");
  const Buffer bytes = b.buffer("bytes", Access::kReadWrite, DataType::kInt8);
  const Buffer words = b.buffer("words", Access::kReadWrite, words_of(DataType::kInt8));
  const Buffer ids = b.buffer("ids", Access::kRead, words_of(DataType::kInt8));
  b.parallel(2, [&](Int p) {
    EXPECT_EQ(b.load_as(Type::kInt8, bytes, 0, 8).lanes(), 8);
    EXPECT_THROW(b.load_as(Type::kUint8, bytes, 0, 8), InternalError);
    EXPECT_THROW(b.load_as(Type::kInt8, bytes, 0, 8, Int(5)), InternalError) << "a word in pieces";
    EXPECT_THROW(b.load_as(Type::kInt8, bytes, 0, 8, p + 4), InternalError);
    EXPECT_THROW(b.load_as(Type::kInt8, bytes, 0, 8, {}, 0), InternalError);
    EXPECT_THROW(b.store(bytes, 0, zeros(Type::kUint8, 8)), InternalError);
    EXPECT_EQ(b.load_as(Type::kInt8, words, 0, 8, Int(1), 0).lanes(), 8);
    EXPECT_THROW(b.load_as(Type::kInt8, words, 0, 7), InternalError);
    EXPECT_THROW(b.load(words, 0, 8), InternalError);
    EXPECT_THROW(b.load_int(ids, 0), InternalError);
    EXPECT_THROW(b.store(words, 0, zeros(Type::kInt32, 2)), InternalError);
  });
}

TEST(NarrowLanes, AreWrittenWithTheirTypes) {
  Builder b("f");
  const Buffer x = b.buffer("x", Access::kRead, DataType::kInt8);
  const Buffer w = b.buffer("w", Access::kRead, words_of(DataType::kInt8));
  const Buffer y = b.buffer("y", Access::kWrite, DataType::kInt32);
  b.parallel(1, [&](Int) {
    const Local quad = b.local(broadcast(b.load_as(Type::kInt8, x, 4, 4), 8));
    const Vec flipped = bit_xor(b.get(quad), int_splat(-128, 8, Type::kInt8));
    b.store(y, 0,
            dot(bits_as(flipped, Type::kUint8), b.load_as(Type::kInt8, w, 3, 8),
                int_splat(1, 2, Type::kInt32)));
  });
  EXPECT_EQ(to_text(b.finish()),
            "buffer x: int8 read\n"
            "buffer w: words of int8 read\n"
            "buffer y: int32 write\n"
            "parallel p0 in [0, 1)\n"
            "  %0 = broadcast(x[4]x4:int8, 8)\n"
            "  y[0] = dot(bits_as(xor(%0, -128x8:int8)):uint8, w[3]x8:int8, 1x2:int32)\n");
}

/// Runs `f` over a buffer of bytes and one that they are moved to, in machine code and in the interpreter.
void expect_alike(const Function& f, const Soc& soc) {
  std::mt19937 random(11);
  std::vector<std::uint32_t> x(64), y(64), expected(64);
  for (std::uint32_t& each : x) each = static_cast<std::uint32_t>(random()) & 0xbfffbfffu;
  void* const buffers[] = {x.data(), y.data()};
  compile_and_run(f, soc, buffers);
  const auto count = [&](std::size_t i) { return 256 / f.buffers[i].elements.bytes(); };
  const EvalBuffer memory[] = {{x.data(), count(0)}, {expected.data(), count(1)}};
  evaluate(f, memory);
  EXPECT_EQ(y, expected) << soc.version << "\n" << to_text(f);
}

constexpr DataType kNarrow[] = {DataType::kFloat16, DataType::kBFloat16, DataType::kInt16,
                                DataType::kInt8, DataType::kUint8};

TEST(NarrowLanes, MoveAsTheyLie) {
  for (const Soc& soc : test_socs())
    for (const DataType dtype : kNarrow) {
      const Type type = narrow_type(dtype);
      const int lanes = 8 * per_word(type);
      Builder b("f");
      const Buffer x = b.buffer("x", Access::kRead, dtype);
      const Buffer y = b.buffer("y", Access::kWrite, dtype);
      b.parallel(1, [&](Int) {
        b.store(y, 0, b.get(b.local(b.load_as(type, x, 3, lanes))));
        b.store(y, lanes, b.load_as(type, x, 1, lanes, Int(3 * per_word(type))), Int(lanes - 1));
        b.store(y, 2 * lanes, broadcast(b.load_as(type, x, 5, per_word(type)), lanes));
        b.store(y, 3 * lanes, broadcast(b.load_as(type, x, 7, 1), lanes));
        b.store(y, 4 * lanes, b.load_as(type, x, 2, 3));
      });
      expect_alike(b.finish(), soc);
    }
}

TEST(NarrowLanes, MoveInWords) {
  for (const Soc& soc : test_socs())
    for (const DataType dtype : kNarrow) {
      const Type type = narrow_type(dtype);
      const int lanes = 8 * per_word(type);
      Builder b("f");
      const Buffer x = b.buffer("x", Access::kRead, words_of(dtype));
      const Buffer y = b.buffer("y", Access::kWrite, words_of(dtype));
      b.parallel(2, [&](Int p) {
        const Int to = p * 32;
        b.store(y, to, b.load_as(type, x, 3, lanes, p + 5));
        b.store(y, to + 8, b.load_as(type, x, 3, lanes, {}, 0), p + 3);
        b.store(y, to + 16, b.load_as(type, x, 1, lanes, {}, 3), Int(4), 4);
      });
      expect_alike(b.finish(), soc);
    }
}

TEST(NarrowLanes, AreConvertedThereAndBack) {
  for (const Soc& soc : test_socs()) {
    for (const DataType dtype : kNarrow) {
      const Type type = narrow_type(dtype);
      const bool is_half = dtype == DataType::kFloat16 || dtype == DataType::kBFloat16;
      const Type wide = is_half ? Type::kFloat : Type::kInt32;
      const DataType in_memory = is_half ? DataType::kFloat : DataType::kInt32;
      Builder b("f");
      const Buffer x = b.buffer("x", Access::kRead, in_memory);
      const Buffer y = b.buffer("y", Access::kWrite, in_memory);
      b.parallel(1, [&](Int) {
        const Vec narrow = b.get(b.local(convert(b.load_as(wide, x, 0, 16), type)));
        b.store(y, 0, convert(narrow, wide));
        if (!is_half) b.store(y, 16, convert(narrow, wide, false));
        b.store(y, 32, convert(convert(b.load_as(wide, x, 3, 1), type), wide));
      });
      expect_alike(b.finish(), soc);
    }
  }
}

}  // namespace
}  // namespace aoe::compiler::loopnest
