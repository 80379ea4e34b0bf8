// One buffer as an input and an output of a run: the result is that of two buffers, and a cache is appended to in place.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <numeric>
#include <optional>

#include "runtime/executor.h"
#include "tests/compiler/guarded_buffer.h"
#include "tests/runtime/om_builder.h"

namespace aoe::runtime {
namespace {

using compiler::GuardedBuffer;
using tests::counting;
using tests::floats;
using tests::OmBuilder;

TEST(SharedBuffers, AreRightWhereAnOpReadsWhatItHasWritten) {
  OmBuilder b;
  const int x = b.input("x", floats({2, 3})), y = b.output("y", floats({3, 2}));
  b.reference("Transpose", {x}, {y});
  Executor model(b.om, {});
  std::vector<float> both = counting(6);
  const Tensor inputs[] = {{floats({2, 3}), both.data()}};
  Tensor outputs[] = {{floats({3, 2}), both.data()}};
  model.run(inputs, outputs);
  EXPECT_EQ(both, (std::vector<float>{0, 3, 1, 4, 2, 5}));
}

TEST(SharedBuffers, AreRightWhereTheyOverlapInPart) {
  OmBuilder b;
  const int x = b.input("x", floats({6})), y = b.output("y", floats({6}));
  b.reference("Neg", {x}, {y});
  Executor model(b.om, {});
  std::vector<float> bytes = counting(8);
  const Tensor inputs[] = {{floats({6}), bytes.data()}};
  Tensor outputs[] = {{floats({6}), bytes.data() + 2}};
  model.run(inputs, outputs);
  EXPECT_EQ(bytes, (std::vector<float>{0, 1, -0.0f, -1, -2, -3, -4, -5}));
}

constexpr std::int64_t kRoom = 64, kSize = 64;  // four pages of rows

/// present = past with one row at `place`, and another reader of past, before that or behind it.
class Cache {
 public:
  enum class Reader { kNone, kPastBefore, kPastBehind };

  explicit Cache(Reader reader) {
    OmBuilder b;
    past_ = b.input("past", desc());
    row_ = b.input("row", floats({1, 1, 1, kSize}));
    place_ = b.input("place", {.dtype = DataType::kInt64, .shape = {1}});
    const int present = b.output("present", desc());
    const int read = reader == Reader::kNone ? -1 : b.output("read", desc());
    if (reader == Reader::kPastBefore) b.reference("Neg", {past_}, {read});
    b.reference("TensorScatter", {past_, row_, place_}, {present}, {}, 24);
    if (reader == Reader::kPastBehind) b.reference("Neg", {past_}, {read});
    model_.emplace(b.om, ExecutorOptions{});
  }

  /// Writes a row of `number` at `place`; `read` is the negative of past.
  void step(float* past, float* present, std::int64_t place, float number,
            std::vector<float>* read = nullptr) {
    std::vector<float> row(kSize, number);
    const Tensor inputs[] = {{desc(), past},
                             {floats({1, 1, 1, kSize}), row.data()},
                             {{.dtype = DataType::kInt64, .shape = {1}}, &place}};
    std::vector<Tensor> outputs = {{desc(), present}};
    if (read != nullptr) {
      read->resize(static_cast<std::size_t>(kRoom * kSize));
      outputs.push_back({desc(), read->data()});
    }
    model_->run(inputs, outputs);
  }

 private:
  static TensorDesc desc() { return floats({1, 1, kRoom, kSize}); }

  int past_ = -1, row_ = -1, place_ = -1;
  std::optional<Executor> model_;
};

TEST(SharedBuffers, ACacheIsAppendedToWithoutTouchingTheRest) {
  Cache cache(Cache::Reader::kNone);
  const GuardedBuffer memory(kRoom * kSize * sizeof(float), GuardedBuffer::Edge::kBegin);
  auto* rows = memory.as<float>();
  const std::int64_t half = kRoom / 2;
  for (std::int64_t place = 0; place < half; ++place)
    cache.step(rows, rows, place, static_cast<float>(place));
  // Whoever copied the cache would write to the first half.
  ASSERT_EQ(mprotect(rows, half * kSize * sizeof(float), PROT_READ), 0);
  for (std::int64_t place = half; place < kRoom; ++place)
    cache.step(rows, rows, place, static_cast<float>(place));
  for (std::int64_t i = 0; i < kRoom * kSize; ++i)
    ASSERT_EQ(rows[i], static_cast<float>(i / kSize)) << "element " << i;
}

TEST(SharedBuffers, ACacheOfTwoBuffersIsCopied) {
  Cache cache(Cache::Reader::kNone);
  std::vector<float> past = counting(kRoom * kSize), present(past.size());
  cache.step(past.data(), present.data(), 3, -1);
  EXPECT_EQ(past, counting(kRoom * kSize));
  std::vector<float> expected = past;
  std::fill_n(expected.begin() + 3 * kSize, kSize, -1.0f);
  EXPECT_EQ(present, expected);
}

TEST(SharedBuffers, WhatElseReadsTheCacheReadsThePast) {
  for (const auto reader : {Cache::Reader::kPastBefore, Cache::Reader::kPastBehind}) {
    Cache cache(reader);
    std::vector<float> shared = counting(kRoom * kSize), read;
    cache.step(shared.data(), shared.data(), 3, 7, &read);
    EXPECT_EQ(shared[3 * kSize], 7);
    for (std::size_t i = 0; i < read.size(); ++i) ASSERT_EQ(read[i], -static_cast<float>(i));
  }
}

}  // namespace
}  // namespace aoe::runtime
