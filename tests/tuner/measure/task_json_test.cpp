// A task survives the way to the worker; large weights arrive as others of the same kind.
#include "tuner/measure/task_json.h"

#include <gtest/gtest.h>

#include <cstring>
#include <nlohmann/json.hpp>

#include "base/json_text.h"
#include "base/random_tensor.h"

namespace aoe::tuner {
namespace {
using compiler::Task;

Task convolution(std::int64_t channels) {
  Task task;
  reference::OpCall anchor{.type = "Conv2D"};
  anchor.attrs.set("pads", std::vector<std::int64_t>{1, 1, 1, 1});
  task.op = reference::fused_call(
      {.inputs = 3, .steps = {{anchor, {0, 1, 2}}, {{.type = "Relu", .version = 6}, {3}}}});
  const TensorDesc x{DataType::kFloat, {1, channels, 8, 8}, Format::kND, 0};
  const TensorDesc w{DataType::kFloat, {channels, channels, 3, 3}, Format::kND, 0};
  const TensorDesc b{DataType::kFloat, {channels}, Format::kND, 0};
  task.inputs = {{x, nullptr}, {w, random_tensor(w, 3, -0.5, 0.25)}, {b, random_tensor(b, 4)}};
  task.outputs = {x};
  return task;
}

Task over_the_wire(const Task& task) {
  return task_from_json(parse_cbor(cbor_bytes(to_json(task))));
}

bool same_bytes(const Constant& a, const Constant& b) {
  return a.size_bytes() == b.size_bytes() && std::memcmp(a.data(), b.data(), a.size_bytes()) == 0;
}

TEST(TaskJson, SmallTasksArriveAsTheyAre) {
  const Task task = convolution(8);
  const Task arrived = over_the_wire(task);
  EXPECT_EQ(arrived.op, task.op);
  ASSERT_EQ(arrived.inputs.size(), 3U);
  EXPECT_EQ(arrived.inputs[0].desc, task.inputs[0].desc);
  EXPECT_EQ(arrived.inputs[0].constant, nullptr);
  EXPECT_TRUE(same_bytes(*arrived.inputs[1].constant, *task.inputs[1].constant));
  EXPECT_TRUE(same_bytes(*arrived.inputs[2].constant, *task.inputs[2].constant));
  EXPECT_EQ(arrived.outputs, task.outputs);
}

TEST(TaskJson, LargeWeightsAreDrawnAnewInTheirRange) {
  const Task task = convolution(64);
  EXPECT_LT(cbor_bytes(to_json(task)).size(), 4096U);
  const Task arrived = over_the_wire(task);
  const Constant& weights = *arrived.inputs[1].constant;
  EXPECT_EQ(weights.desc(), task.inputs[1].desc);
  EXPECT_FALSE(same_bytes(weights, *task.inputs[1].constant));
  for (std::int64_t i = 0; i < element_count(weights.desc().shape); ++i) {
    const float value = weights.view().as<float>()[i];
    ASSERT_TRUE(value >= -0.5f && value <= 0.25f) << value;
  }
  EXPECT_TRUE(same_bytes(*arrived.inputs[2].constant, *task.inputs[2].constant));
  const Task again = over_the_wire(task);
  EXPECT_TRUE(same_bytes(*again.inputs[1].constant, weights));
}

TEST(TaskJson, ConstantWeightsBecomeVariedOnes) {
  Task task = convolution(64);
  auto zeros = std::make_shared<Constant>(task.inputs[1].desc);
  task.inputs[1].constant = zeros;
  const Task arrived = over_the_wire(task);
  const Constant& weights = *arrived.inputs[1].constant;
  EXPECT_NE(weights.view().as<float>()[0], weights.view().as<float>()[1]);
}

TEST(TaskJson, CountsItsConstants) {
  EXPECT_EQ(constant_bytes(convolution(8)), (8 * 8 * 9 + 8) * sizeof(float));
}

}  // namespace
}  // namespace aoe::tuner
