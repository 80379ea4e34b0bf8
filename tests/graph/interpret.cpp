// A graph interpreter on top of the reference.
#include "tests/graph/interpret.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>

#include "reference/typed.h"
#include "reference/widen.h"

namespace aoe::tests {

using graph::Graph;
using graph::kNone;
using graph::Node;
using graph::ValueId;

std::vector<ConstantPtr> interpret(const Graph& graph, const std::vector<ConstantPtr>& inputs) {
  std::vector<ConstantPtr> values(graph.values.size());
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = graph.values[i].constant;
  for (std::size_t i = 0; i < graph.inputs.size(); ++i) values[graph.inputs[i]] = inputs[i];
  for (const graph::NodeId id : graph.topological_order()) {
    const Node& node = graph.nodes[id];
    std::vector<Tensor> operands;
    for (const ValueId input : node.inputs)
      operands.push_back(input == kNone ? Tensor{} : values[input]->view());
    const auto descs = reference::infer(node.op, operands, node.outputs.size());
    std::vector<Tensor> results;
    for (std::size_t i = 0; i < descs.size(); ++i) {
      if (node.outputs[i] == kNone) {
        results.push_back({descs[i], nullptr});
        continue;
      }
      auto result = std::make_shared<Constant>(descs[i]);
      results.push_back({descs[i], result->mutable_data()});
      values[node.outputs[i]] = std::move(result);
    }
    reference::run(node.op, operands, results);
  }
  std::vector<ConstantPtr> outputs;
  for (const ValueId output : graph.outputs) outputs.push_back(values[output]);
  return outputs;
}

std::vector<ConstantPtr> random_inputs(const Graph& graph, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<ConstantPtr> inputs;
  for (const ValueId id : graph.inputs) {
    const TensorDesc& desc = graph.values[id].desc;
    auto input = std::make_shared<Constant>(desc);
    reference::visit_type<reference::AllTypes>(desc.dtype, [&]<typename T>() {
      T* to = static_cast<T*>(input->mutable_data());
      for (std::int64_t i = 0; i < element_count(desc.shape); ++i) {
        if (is_floating(desc.dtype))
          to[i] = reference::convert<T>(static_cast<float>(random() % 4000) / 1000.0f - 2.0f);
        else
          to[i] = reference::convert<T>(static_cast<std::int64_t>(random() % 2));
      }
    });
    inputs.push_back(std::move(input));
  }
  return inputs;
}

namespace {

/// Of the range. Types of 16 bits are rounded behind every operator, or once where the graph computes in float32.
double tolerance_of(DataType dtype) {
  constexpr double kRoundings = 4;
  if (dtype == DataType::kFloat16) return kRoundings * 0x1p-10;
  return dtype == DataType::kBFloat16 ? kRoundings * 0x1p-7 : 1e-5;
}

void expect_close(const Constant& expected, const Constant& actual, const std::string& what) {
  ASSERT_EQ(to_string(expected.desc()), to_string(actual.desc())) << what;
  if (!is_floating(expected.desc().dtype)) {
    EXPECT_EQ(std::memcmp(expected.data(), actual.data(), expected.size_bytes()), 0) << what;
    return;
  }
  const std::vector<double> e = reference::to_doubles(expected.view());
  const std::vector<double> a = reference::to_doubles(actual.view());
  double range = 0;
  for (const double each : e)
    if (std::isfinite(each)) range = std::max(range, std::abs(each));
  const double tolerance = tolerance_of(expected.desc().dtype);
  for (std::size_t i = 0; i < e.size(); ++i) {
    const bool is_same = e[i] == a[i] || (std::isnan(e[i]) && std::isnan(a[i]));
    ASSERT_TRUE(is_same || std::abs(e[i] - a[i]) <= tolerance * range)
        << what << ", element " << i << ": expected " << e[i] << ", is " << a[i];
  }
}

}  // namespace

void expect_same_outputs(const Graph& before, const Graph& after, std::uint32_t seed) {
  const std::vector<ConstantPtr> inputs = random_inputs(before, seed);
  const auto expected = interpret(before, inputs);
  const auto actual = interpret(after, inputs);
  ASSERT_EQ(expected.size(), actual.size());
  for (std::size_t i = 0; i < expected.size(); ++i)
    expect_close(
        *expected[i], *actual[i],
        "output " + before.values[before.outputs[i]].name + ", seed " + std::to_string(seed));
}

}  // namespace aoe::tests
