// Parts that threads carry out alone: any number of slices, threads and lengths, stretched inputs, and how slices are shared out.
#include "runtime/whole_parts.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/file.h"
#include "runtime/executor.h"
#include "tests/runtime/om_bodies.h"

namespace aoe::runtime::tests {
namespace {

constexpr std::int64_t kChannels = 3;

/// y = x + z, and what add_iterations() adds, of slices along two dimensions in front of three channels.
Om body_of(std::int64_t slices) {
  OmBuilder b("body");
  const TensorDesc desc = floats({1, slices, kChannels});
  const int x = b.input("x", desc), z = b.input("z", desc);
  const int sum = b.arena("sum", desc);
  b.jit({{"add", slices * kChannels}}, {x, z}, {sum});
  b.jit({{"add_iterations", slices * kChannels}}, {sum}, {b.output("y", desc)});
  b.om.code = read_file(AOE_TEST_KERNELS, ExitCode::kFailure);
  return b.om;
}

Om model_of(const std::vector<std::int64_t>& lengths, std::int64_t longest_piece,
            float shared_part_cost = 1e6f) {
  OmBuilder b("model");
  const TensorDesc open = floats({-1, -1, kChannels});
  const int x = b.input("x", open), z = b.input("z", open);
  std::vector<int> bodies;
  for (const std::int64_t slices : lengths)
    bodies.push_back(add_body(b, "part" + std::to_string(slices), body_of(slices)));
  OmStep& step = control(b, "MapSlices", {x, z}, {b.dynamic_output("y", open)}, bodies);
  step.call.attrs = {};
  step.call.attrs.set("axes", std::vector<std::int64_t>{1, 1});
  step.call.attrs.set("output_axes", std::vector<std::int64_t>{1});
  step.call.attrs.set("dims", std::int64_t{2});
  step.call.attrs.set("longest_piece", longest_piece);
  step.call.attrs.set("part_cost", shared_part_cost);
  return b.om;
}

/// Each part, of as many slices as one of `lengths`, was one thread's from its first iteration to its last.
void expect_sums(Executor& model, const Shape& x_shape, const Shape& z_shape,
                 const std::vector<std::int64_t>& lengths) {
  std::vector<float> x = counting(element_count(x_shape)), z = counting(element_count(z_shape));
  for (float& value : z) value *= 1000;
  const Tensor inputs[] = {{floats(x_shape), x.data()}, {floats(z_shape), z.data()}};
  Tensor outputs[] = {{floats({-1, -1, kChannels}), nullptr}};
  model.run(inputs, outputs);
  ASSERT_EQ(outputs[0].desc.shape, x_shape);
  const float* y = outputs[0].as<float>();
  for (std::int64_t row = 0, i = 0; row < x_shape[0]; ++row)
    for (std::int64_t column = 0; column < x_shape[1]; ++column)
      for (std::int64_t c = 0; c < kChannels; ++c, ++i) {
        const std::int64_t from = row % z_shape[0] * z_shape[1] + column % z_shape[1];
        const float sum =
            x[static_cast<std::size_t>(i)] + z[static_cast<std::size_t>(from * kChannels + c)];
        ASSERT_TRUE(std::ranges::any_of(
            lengths,
            [&](std::int64_t slices) {
              return y[i] == sum + static_cast<float>(slices * kChannels) / 1024;
            }))
            << i << " of " << to_string(x_shape) << " is " << y[i] << ", the sum is " << sum;
      }
}

TEST(WholeParts, TakeAnyNumberOfSlices) {
  for (const int threads : {1, 2, 3, 8})
    for (const std::vector<std::int64_t>& lengths :
         {std::vector<std::int64_t>{8, 1}, {16, 4}, {12, 5, 2}, {3}}) {
      Executor model(model_of(lengths, lengths.front()), {.threads = threads});
      for (const std::int64_t rows : {1, 2, 5})
        for (const std::int64_t columns : {0, 1, 3, 17, 40})
          for (const Shape& z : {Shape{rows, columns, kChannels}, Shape{rows, 1, kChannels},
                                 Shape{1, columns, kChannels}, Shape{1, 1, kChannels}}) {
            if (columns == 0 && z[1] != 0) continue;
            SCOPED_TRACE(std::to_string(threads) + " threads");
            expect_sums(model, {rows, columns, kChannels}, z, lengths);
          }
    }
}

/// Those of the longest are not for one thread.
TEST(WholeParts, AreNoLongerThanTheModelSays) {
  Executor model(model_of({32, 16, 4}, 8), {.threads = 2});
  for (const std::int64_t columns : {1, 4, 40, 100})
    expect_sums(model, {1, columns, kChannels}, {1, 1, kChannels}, {4});
}

/// A single part that threads share is faster than one that one of them has.
TEST(WholeParts, AreLeftWhereSlicesAreFew) {
  Executor model(model_of({16}, 16, 4), {.threads = 4});
  std::vector<float> x(16 * kChannels), z(16 * kChannels);
  const Tensor inputs[] = {{floats({1, 16, kChannels}), x.data()},
                           {floats({1, 16, kChannels}), z.data()}};
  Tensor outputs[] = {{floats({-1, -1, kChannels}), nullptr}};
  model.run(inputs, outputs);
  EXPECT_EQ(outputs[0].as<float>()[0], static_cast<float>(16 * kChannels) / 4096);
}

TEST(SliceShares, AreEvenAndOfPartsThatFill) {
  const auto shares_of = [](std::int64_t slices, int threads, std::int64_t longest = 256) {
    const std::vector<std::int64_t> lengths = {512, 256, 64, 16, 4};
    std::vector<std::vector<std::int64_t>> counts;
    std::int64_t next = 0;
    for (const auto& share :
         slice_shares(lengths, slices, threads, {.piece = 1, .share = 2, .longest_piece = longest})
             .shares) {
      auto& pieces = counts.emplace_back();
      for (const SlicePiece& piece : share) {
        EXPECT_EQ(piece.first, next);
        EXPECT_LE(piece.count, lengths[piece.length]);
        next += piece.count;
        pieces.push_back(piece.count);
      }
    }
    EXPECT_EQ(next, longest < 4 ? 0 : slices);
    return counts;
  };
  using Counts = std::vector<std::vector<std::int64_t>>;
  EXPECT_EQ(shares_of(196, 2), (Counts{{64, 16, 16, 2}, {64, 16, 16, 2}}));
  EXPECT_EQ(shares_of(49, 2), (Counts{{16, 4, 4, 1}, {16, 4, 4}}));
  EXPECT_EQ(shares_of(784, 2), (Counts{{256, 64, 64, 4, 4}, {256, 64, 64, 4, 4}}));
  EXPECT_EQ(shares_of(63, 1), (Counts{{16, 16, 16, 15}}));
  EXPECT_EQ(shares_of(11, 1), (Counts{{4, 4, 3}}));
  EXPECT_EQ(shares_of(3, 8), (Counts{{1}, {1}, {1}}));
  EXPECT_EQ(shares_of(300, 2, 64), (Counts{{64, 64, 16, 4, 2}, {64, 64, 16, 4, 2}}));
  EXPECT_EQ(shares_of(300, 2, 3), Counts{});
  EXPECT_EQ(shares_of(0, 2), Counts{});
}

}  // namespace
}  // namespace aoe::runtime::tests
