// Steps of sizes that only a run knows, run again: what was found out of one run holds in the next as far as nothing has changed
// that it was made of.
#include <gtest/gtest.h>

#include "base/error.h"
#include "runtime/executor.h"
#include "tests/runtime/om_builder.h"

namespace aoe::runtime::tests {
namespace {

using Ints = std::vector<std::int64_t>;

TensorDesc ints(Shape shape) {
  return {.dtype = DataType::kInt64, .shape = std::move(shape)};
}

/// z = -(x in the shape that `sizes` says), twice: by an output of its own, and by one that lies where x does.
Om negated_reshape(const std::string& backend_name) {
  OmBuilder b;
  const int x = b.input("x", floats({kUnknownDim})), sizes = b.input("sizes", ints({2}));
  const int y = b.dynamic("y", floats({kUnknownDim, kUnknownDim}));
  const int z = b.dynamic_output("z", floats({kUnknownDim, kUnknownDim}));
  b.reference("Reshape", {x, sizes}, {y}).backend = &backend(backend_name);
  b.reference("Neg", {y}, {z}).backend = &backend(backend_name);
  return b.om;
}

struct Given {
  std::vector<float> x;
  Ints sizes;

  Shape run(Executor& model, std::vector<float>& z) {
    const Tensor inputs[] = {{floats({std::ssize(x)}), x.data()}, {ints({2}), sizes.data()}};
    Tensor outputs[] = {{floats({kUnknownDim, kUnknownDim}), nullptr}};
    model.run(inputs, outputs);
    z.assign(outputs[0].as<float>(), outputs[0].as<float>() + outputs[0].elements());
    return outputs[0].desc.shape;
  }
};

class OpenSteps : public testing::TestWithParam<const char*> {};

TEST_P(OpenSteps, FollowValuesThatChangeWhileShapesDoNot) {
  Executor model(negated_reshape(GetParam()), {});
  for (const Ints& sizes : {Ints{2, 3}, {2, 3}, {3, 2}, {1, 6}, {-1, 2}, {2, 3}}) {
    Given given{{1, 2, 3, 4, 5, 6}, sizes};
    std::vector<float> z;
    EXPECT_EQ(given.run(model, z), (Shape{sizes[0] < 0 ? 3 : sizes[0], sizes[1]}));
    EXPECT_EQ(z, (std::vector<float>{-1, -2, -3, -4, -5, -6}));
  }
}

TEST_P(OpenSteps, FollowShapesAndBuffers) {
  Executor model(negated_reshape(GetParam()), {});
  for (const std::size_t rows : {2, 2, 5, 1, 0, 2, 300, 300, 2}) {
    Given given{counting(static_cast<std::int64_t>(rows) * 2),
                {-1, 2}};  // another buffer each time
    std::vector<float> z;
    if (rows == 0) given.sizes = {0, 2};
    EXPECT_EQ(given.run(model, z), (Shape{static_cast<std::int64_t>(rows), 2}));
    for (std::size_t i = 0; i < 2 * rows; ++i) EXPECT_EQ(z[i], -given.x[i]);
  }
}

TEST_P(OpenSteps, RefuseAgainAndRunAgain) {
  Executor model(negated_reshape(GetParam()), {});
  std::vector<float> z;
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ((Given{{1, 2, 3, 4}, {2, 2}}.run(model, z)), (Shape{2, 2}));
    EXPECT_THROW((Given{{1, 2, 3, 4}, {3, 2}}.run(model, z)), Error);
    EXPECT_THROW((Given{{1, 2, 3, 4}, {3, 2}}.run(model, z)), Error);
    EXPECT_EQ((Given{{1, 2, 3, 4}, {2, 2}}.run(model, z)), (Shape{2, 2}));
    EXPECT_EQ(z, (std::vector<float>{-1, -2, -3, -4}));
  }
}

INSTANTIATE_TEST_SUITE_P(Backends, OpenSteps, testing::Values("reference", "native"));

/// Lengths of parts that contradict each other in one run do no harm in the next.
TEST(OpenSteps, SumsOfOtherLengthsAreRefusedAndForgotten) {
  OmBuilder b;
  const int x = b.input("x", floats({kUnknownDim})), w = b.input("w", floats({kUnknownDim}));
  b.reference("Add", {x, w}, {b.dynamic_output("y", floats({kUnknownDim}))}).backend =
      &backend("native");
  Executor model(b.om, {});
  const auto run = [&](std::int64_t left, std::int64_t right) {
    std::vector<float> a = counting(left), c = counting(right);
    const Tensor inputs[] = {{floats({left}), a.data()}, {floats({right}), c.data()}};
    Tensor outputs[] = {{floats({kUnknownDim}), nullptr}};
    model.run(inputs, outputs);
    return std::vector<float>(outputs[0].as<float>(),
                              outputs[0].as<float>() + outputs[0].elements());
  };
  const std::vector<float> twice = run(3, 3);
  EXPECT_THROW(run(3, 2), Error);
  EXPECT_EQ(run(3, 3), twice);
  EXPECT_EQ(run(3, 1).size(), 3U);
  EXPECT_EQ(run(1, 2000).size(), 2000U);
  EXPECT_EQ(run(3, 3), twice);
}

}  // namespace
}  // namespace aoe::runtime::tests
