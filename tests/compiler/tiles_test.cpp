// Statements on tiles: what they mean, in the interpreter and, where the machine has them, in machine code.
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cstddef>
#include <vector>

#include "base/check.h"
#include "compiler/loopnest/codegen.h"
#include "tests/compiler/loopnest_eval.h"
#include "tests/compiler/machine_code.h"

namespace aoe::compiler::loopnest {
namespace {

constexpr int kRows = 5, kWords = 7, kColumns = 16;

std::int32_t at(const std::vector<std::int32_t>& words, std::ptrdiff_t place) {
  return words[static_cast<std::size_t>(place)];
}

/// y = two times a b, by rows of words: `a` lies in rows of 9, `y` in rows of 20.
Function product(Elements left, Elements right, DataType sum) {
  Builder b("tiles");
  const std::int64_t words = 4 / left.bytes();  // elements of one
  const Buffer a = b.buffer("a", Access::kRead, left);
  const Buffer w = b.buffer("b", Access::kRead, right);
  const Buffer y = b.buffer("y", Access::kReadWrite, sum);
  b.parallel(1, [&](Int) {
    b.tile_shapes({{kRows, kColumns}, {kRows, kWords}, {kWords, kColumns}});
    b.tile_zero(0);
    b.loop("twice", 0, 2, 1, [&](Int) {
      b.tile_load(1, a, 2 * words, 9 * words);
      b.tile_load(2, w, 0, kColumns);
      b.tile_dot(0, 1, 2);
    });
    b.tile_store(0, y, 3, 20);
  });
  return b.finish();
}

Function product_of_pairs() {
  const Elements pairs = words_of(DataType::kBFloat16);
  return product(pairs, pairs, DataType::kFloat);
}

std::vector<std::int32_t> words(std::size_t count) {
  std::vector<std::int32_t> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<std::int32_t>(i * 2654435761u);
  return values;
}

/// Pairs of small whole numbers, whose products are exact.
std::vector<std::int32_t> pairs(std::size_t count) {
  std::vector<std::int32_t> values;
  for (std::size_t i = 0; i < count; ++i) {
    const auto bits = [](std::size_t n) {
      return std::bit_cast<std::uint32_t>(static_cast<float>(n % 9) - 4) >> 16;
    };
    values.push_back(static_cast<std::int32_t>(bits(i) | bits(3 * i + 1) << 16));
  }
  return values;
}

float half(std::int32_t pair, int shift) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(pair) >> shift << 16);
}

/// Row `row` and column `column` of what product() makes of pairs.
float expected_pair(const std::vector<std::int32_t>& a, const std::vector<std::int32_t>& b, int row,
                    int column) {
  float sum = 0;
  for (int k = 0; k < kWords; ++k) {
    const std::int32_t x = at(a, row * 9 + 2 + k), y = at(b, k * kColumns + column);
    sum += half(x, 0) * half(y, 0) + half(x, 16) * half(y, 16);
  }
  return 2 * sum;
}

std::int32_t expected_quad(const std::vector<std::int32_t>& a, const std::vector<std::int32_t>& b,
                           int row, int column) {
  std::int32_t sum = 0;
  for (int k = 0; k < kWords; ++k) {
    const auto x = std::bit_cast<std::array<std::uint8_t, 4>>(at(a, row * 9 + 2 + k));
    const auto y = std::bit_cast<std::array<std::int8_t, 4>>(at(b, k * kColumns + column));
    for (std::size_t i = 0; i < x.size(); ++i) sum += x[i] * y[i];
  }
  return 2 * sum;
}

/// Runs it in the interpreter, or in machine code; `y` is as it was but for the sums.
std::vector<std::int32_t> run(const Function& f, std::vector<std::int32_t> a,
                              std::vector<std::int32_t> b, bool is_machine_code) {
  std::vector<std::int32_t> y(3 + 4 * 20 + kColumns, 77);
  void* const buffers[] = {a.data(), b.data(), y.data()};
  if (is_machine_code) {
    compile_and_run(f, tile_soc(), buffers);
    return y;
  }
  const auto count = [](const std::vector<std::int32_t>& v) {
    return static_cast<std::int64_t>(v.size());
  };
  const std::int64_t words = 4 / f.buffers[0].elements.bytes();
  const EvalBuffer eval[] = {
      {a.data(), words * count(a)}, {b.data(), count(b)}, {y.data(), count(y)}};
  evaluate(f, eval);
  return y;
}

std::vector<bool> ways() {
  return is_interpreted(tile_soc()) ? std::vector<bool>{false} : std::vector<bool>{false, true};
}

TEST(Tiles, MultiplyPairsOfBfloat16) {
  const auto a = pairs(5 * 9), b = pairs(kWords * kColumns);
  const Function f = product_of_pairs();
  for (const bool is_machine_code : ways()) {
    const auto y = run(f, a, b, is_machine_code);
    for (int row = 0; row < kRows; ++row)
      for (int column = 0; column < kColumns; ++column)
        ASSERT_EQ(std::bit_cast<float>(at(y, 3 + row * 20 + column)),
                  expected_pair(a, b, row, column))
            << row << " " << column;
    EXPECT_EQ(y[2], 77);
    EXPECT_EQ(y[3 + kColumns], 77) << "between rows";
  }
}

TEST(Tiles, MultiplyQuadsOfBytes) {
  const auto a = words(5 * 9), b = words(kWords * kColumns);
  for (const Elements left : {words_of(DataType::kUint8), Elements(DataType::kUint8)}) {
    const Function f = product(left, words_of(DataType::kInt8), DataType::kInt32);
    for (const bool is_machine_code : ways()) {
      const auto y = run(f, a, b, is_machine_code);
      for (int row = 0; row < kRows; ++row)
        for (int column = 0; column < kColumns; ++column)
          ASSERT_EQ(at(y, 3 + row * 20 + column), expected_quad(a, b, row, column))
              << row << " " << column;
    }
  }
}

TEST(Tiles, OfTypesThatAreNotMultipliedAreRefused) {
  const Elements bytes = words_of(DataType::kInt8), pairs = words_of(DataType::kBFloat16);
  EXPECT_THROW(product(bytes, bytes, DataType::kInt32), InternalError);
  EXPECT_THROW(product(pairs, bytes, DataType::kFloat), InternalError);
  EXPECT_THROW(product(pairs, DataType::kInt32, DataType::kFloat), InternalError);
}

TEST(Tiles, AreWrittenAsText) {
  const std::string text = to_text(product_of_pairs());
  for (const char* line :
       {"tiles 5x16 5x7 7x16\n", "tile0 = 0\n", "tile1 = a[2, stride 9]\n",
        "tile0 += dot(tile1:bfloat16, tile2:bfloat16)\n", "y[3, stride 20] = tile0\n"})
    EXPECT_NE(text.find(line), std::string::npos) << line << text;
}

/// On any machine: its instructions are those of the Soc, and it gives the tiles back.
TEST(Tiles, AreCompiledAnywhere) {
  const Function f = product_of_pairs();
  EXPECT_FALSE(compile_shared_object({&f, 1}, tile_soc()).empty());
  EXPECT_ANY_THROW(compile_shared_object({&f, 1}, test_socs().front())) << "AVX2 has none";
}

}  // namespace
}  // namespace aoe::compiler::loopnest
