// Tasks: cut from a graph, named, weighed, and made into graphs again.
#include "compiler/task.h"

#include <gtest/gtest.h>

#include <functional>

#include "tests/graph/model_text.h"

namespace aoe::compiler {
namespace {

TaskInput activation(Shape shape, DataType dtype = DataType::kFloat) {
  return {{.dtype = dtype, .shape = std::move(shape)}, nullptr};
}

template <typename T>
TaskInput constant(Shape shape, DataType dtype, const std::vector<T>& values) {
  const TensorDesc desc{.dtype = dtype, .shape = std::move(shape)};
  return {desc, std::make_shared<const Constant>(desc, values.data())};
}

TaskInput weights(Shape shape, float value) {
  const auto count = static_cast<std::size_t>(element_count(shape));
  return constant(std::move(shape), DataType::kFloat, std::vector<float>(count, value));
}

TensorDesc result(Shape shape) {
  return {.dtype = DataType::kFloat, .shape = std::move(shape)};
}

/// 8x4x4 -> 16x4x4, kernel 3x3, then Relu.
Task convolution() {
  Task task;
  reference::OpCall anchor{.type = "Conv2D"};
  anchor.attrs.set("pads", std::vector<std::int64_t>{1, 1, 1, 1});
  task.op =
      reference::fused_call({.inputs = 3, .steps = {{anchor, {0, 1, 2}}, {{.type = "Relu"}, {3}}}});
  task.inputs = {activation({1, 8, 4, 4}), weights({16, 8, 3, 3}, 0.5f), TaskInput{}};
  task.outputs = {result({1, 16, 4, 4})};
  return task;
}

void change_epilogue(Task& task, const reference::OpCall& call) {
  reference::Body body = *task.op.body;
  body.steps.back().call = call;
  task.op = reference::fused_call(std::move(body));
}

Soc soc_of(int threads) {
  Soc soc;
  soc.version = "x86_64-test-" + std::to_string(threads) + "t";
  return soc;
}

std::string key(const Task& task) {
  return key_of(task, soc_of(2)).description;
}

// ---- keys ----

TEST(TaskKey, IsTheSameForTheSameTaskWithOtherWeights) {
  Task other = convolution();
  other.inputs[1] = weights({16, 8, 3, 3}, 0.25f);
  EXPECT_EQ(key(convolution()), key(other));
}

TEST(TaskKey, HoldsTheThreadsInTheSocVersionOnly) {
  const bank::TaskKey two = key_of(convolution(), soc_of(2));
  const bank::TaskKey four = key_of(convolution(), soc_of(4));
  EXPECT_EQ(two.description, four.description);
  EXPECT_EQ(two.soc_version, "x86_64-test-2t");
  EXPECT_EQ(four.soc_version, "x86_64-test-4t");
}

TEST(TaskKey, DiffersInAllThatMattersToAKernel) {
  struct Case {
    const char* what;
    std::function<void(Task&)> change;
  };
  const Case cases[] = {
      {"type", [](Task& t) { reference::edit_anchor(t.op).type = "Conv2DTranspose"; }},
      {"attribute",
       [](Task& t) { reference::edit_anchor(t.op).attrs.set("group", std::int64_t{2}); }},
      {"epilogue type", [](Task& t) { change_epilogue(t, {.type = "Sigmoid"}); }},
      {"no epilogue", [](Task& t) { t.op = reference::OpCall(t.anchor()); }},
      {"epilogue attribute",
       [](Task& t) {
         reference::OpCall relu{.type = "Relu"};
         relu.attrs.set("alpha", 0.1f);
         change_epilogue(t, relu);
       }},
      {"input shape", [](Task& t) { t.inputs[0].desc.shape[3] = 5; }},
      {"output shape", [](Task& t) { t.outputs[0].shape[3] = 5; }},
      {"type of an element", [](Task& t) { t.inputs[0].desc.dtype = DataType::kDouble; }},
      {"weights that are no constant", [](Task& t) { t.inputs[1].constant = nullptr; }},
      {"bias", [](Task& t) { t.inputs[2] = weights({16}, 0); }},
      {"unwanted output", [](Task& t) { t.outputs[0] = {}; }},
  };
  for (const Case& each : cases) {
    Task changed = convolution();
    each.change(changed);
    EXPECT_NE(key(convolution()), key(changed)) << each.what;
  }
}

TEST(TaskKey, HoldsTheValuesOfParameters) {
  const auto task_with = [](TaskInput parameter) {
    Task task;
    task.op.type = "Add";
    task.inputs = {activation({4}), std::move(parameter)};
    task.outputs = {result({4})};
    return task;
  };
  const auto integers = [&](std::vector<std::int64_t> values) {
    return key(
        task_with(constant({static_cast<std::int64_t>(values.size())}, DataType::kInt64, values)));
  };
  EXPECT_NE(integers({1, 2}), integers({1, 3}));
  EXPECT_EQ(integers({1, 2}), integers({1, 2}));
  EXPECT_NE(key(task_with(weights({1}, 2))), key(task_with(weights({1}, 3)))) << "a scalar";
  EXPECT_EQ(key(task_with(weights({2}, 2))), key(task_with(weights({2}, 3)))) << "weights";

  std::vector<std::int64_t> many(1000, 7), others = many;
  others.back() = 8;
  EXPECT_NE(integers(many), integers(others)) << "long values enter by their digest";
  EXPECT_LT(integers(many).size(), 1000u);
}

// ---- weights of a task ----

TEST(Task, CountsTheArithmeticOfItsAnchorAndEpilogue) {
  const double products = 16.0 * 4 * 4 * 8 * 3 * 3;
  EXPECT_DOUBLE_EQ(flops(convolution()), 2 * products + 16 * 4 * 4);

  Task grouped = convolution();
  reference::edit_anchor(grouped.op).attrs.set("group", std::int64_t{4});
  grouped.inputs[1] = weights({16, 2, 3, 3}, 0);
  EXPECT_DOUBLE_EQ(flops(grouped), 2 * products / 4 + 16 * 4 * 4);
}

TEST(Task, CountsTheArithmeticOfOtherOps) {
  const auto flops_of = [](const std::string& type, std::vector<TaskInput> inputs, Shape output,
                           reference::Attrs attrs = {}) {
    Task task;
    task.op.type = type;
    task.op.attrs = std::move(attrs);
    task.inputs = std::move(inputs);
    task.outputs = {result(std::move(output))};
    return flops(task);
  };
  reference::Attrs transposed, window;
  transposed.set("transA", std::int64_t{1});
  window.set("kernel_shape", std::vector<std::int64_t>{3, 2});
  EXPECT_DOUBLE_EQ(flops_of("MatMulV2", {activation({5, 2, 7}), activation({5, 7, 3})}, {5, 2, 3}),
                   2.0 * 5 * 2 * 7 * 3);
  EXPECT_DOUBLE_EQ(flops_of("Gemm", {activation({7, 2}), activation({7, 3})}, {2, 3}, transposed),
                   2.0 * 2 * 7 * 3);
  EXPECT_DOUBLE_EQ(flops_of("Conv2DTranspose", {activation({1, 4, 5, 5}), weights({4, 6, 2, 2}, 0)},
                            {1, 6, 10, 10}),
                   2.0 * 5 * 5 * 4 * 6 * 2 * 2);
  EXPECT_DOUBLE_EQ(flops_of("DynamicGRUV2",
                            {activation({9, 2, 4}), weights({1, 15, 4}, 0), weights({1, 15, 5}, 0)},
                            {9, 1, 2, 5}),
                   2.0 * 9 * 2 * (15 * 4 + 15 * 5));
  EXPECT_DOUBLE_EQ(flops_of("MaxPoolV3", {activation({1, 2, 6, 6})}, {1, 2, 3, 3}, window),
                   2.0 * 3 * 3 * 6);
  EXPECT_DOUBLE_EQ(flops_of("ReduceSum", {activation({6, 7})}, {6}), 6.0 * 7);
  EXPECT_DOUBLE_EQ(flops_of("GlobalAveragePool", {activation({1, 5, 7, 7})}, {1, 5, 1, 1}),
                   5.0 * 7 * 7);
  EXPECT_DOUBLE_EQ(flops_of("Transpose", {activation({6, 7})}, {7, 6}), 0) << "moves only";
}

TEST(Task, CountsEachTensorsBytesOnce) {
  const double elements = 8 * 4 * 4 + 16 * 8 * 3 * 3 + 16 * 4 * 4;
  EXPECT_DOUBLE_EQ(bytes_moved(convolution()), 4 * elements);
}

TEST(Task, MovesNothingWhereNothingIsMade) {
  Task task = convolution();
  task.inputs[0].desc.shape[0] = task.outputs[0].shape[0] = 0;
  EXPECT_EQ(flops(task), 0);
  EXPECT_EQ(bytes_moved(task), 0) << "weights are not read either";
}

TEST(Task, WeighsNothingWhileAShapeIsUnknown) {
  Task task = convolution();
  task.inputs[0].desc.shape[0] = kUnknownDim;
  EXPECT_FALSE(task.is_static());
  EXPECT_EQ(flops(task), 0);
  EXPECT_EQ(bytes_moved(task), 0);
}

TEST(Task, RowsThatAreNotChosenAreNotMoved) {
  Task task{.op = {.type = "GatherV2"}};
  task.inputs = {activation({50000, 64}), activation({10}, DataType::kInt64)};
  task.outputs = {result({10, 64})};
  EXPECT_DOUBLE_EQ(bytes_moved(task), 2 * 10 * 64 * 4 + 10 * 8);
}

// ---- graphs ----

TEST(Task, SurvivesTheWayIntoAGraphAndBack) {
  Task task = convolution();
  task.outputs.push_back({});  // an output nobody wants keeps its place
  const graph::Graph graph = graph_of(task);
  ASSERT_EQ(graph.nodes.size(), 1u);
  EXPECT_EQ(graph.inputs.size(), 1u) << "constants are no inputs";
  EXPECT_EQ(graph.outputs.size(), 1u);
  const Task again = task_of(graph, 0);
  EXPECT_EQ(again.op, task.op);
  EXPECT_EQ(again.inputs[1].constant, task.inputs[1].constant);
  EXPECT_FALSE(again.inputs[2].is_present());
  EXPECT_EQ(key(again), key(task));
}

TEST(Task, OfTwoModelsIsOneTask) {
  const auto first_key = [](const std::string& text) {
    const graph::Graph graph = tests::import_text(text);
    return key(task_of(graph, graph.topological_order().front()));
  };
  EXPECT_EQ(first_key("one (float[2,3] a) => (float[2,3] b) { b = Relu (a) }"),
            first_key("two (float[2,3] x) => (float[2,3] z) { y = Relu (x) z = Exp (y) }"));
  EXPECT_NE(first_key("one (float[2,3] a) => (float[2,3] b) { b = Relu (a) }"),
            first_key("two (float[3,2] a) => (float[3,2] b) { b = Relu (a) }"));
}

}  // namespace
}  // namespace aoe::compiler
