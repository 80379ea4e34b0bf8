// The training step of make_model: its gradients are those of finite differences.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "tests/graph/interpret.h"
#include "tests/graph/model_text.h"
#include "tools/make_model/models.h"

namespace aoe::tests {
namespace {

constexpr float kLearningRate = 0.01f;

graph::Graph training_graph() {
  const auto model =
      std::ranges::find(make_model::models(), "mlp-training", &make_model::Model::name);
  make_model::OnnxWriter writer(model->name, {.opset = model->opset, .seed = 3});
  model->write(writer, {.batch = 4, .is_small = true});
  return import_bytes(writer.serialize());
}

std::vector<float> floats(const ConstantPtr& tensor) {
  const auto* data = static_cast<const float*>(tensor->data());
  return {data, data + element_count(tensor->desc().shape)};
}

ConstantPtr changed(const ConstantPtr& tensor, std::size_t element, float by) {
  std::vector<float> values = floats(tensor);
  values[element] += by;
  return std::make_shared<Constant>(tensor->desc(), values.data());
}

std::size_t index_of(const std::vector<graph::ValueId>& ids, const graph::Graph& graph,
                     const std::string& name) {
  for (std::size_t i = 0; i < ids.size(); ++i)
    if (graph.values[ids[i]].name == name) return i;
  ADD_FAILURE() << "no value " << name;
  return 0;
}

TEST(TrainingGraph, GradientsAreThoseOfFiniteDifferences) {
  const graph::Graph graph = training_graph();
  const std::vector<ConstantPtr> inputs = random_inputs(graph, 7);
  const std::vector<ConstantPtr> outputs = interpret(graph, inputs);
  const std::size_t loss = index_of(graph.outputs, graph, "loss");
  for (const char* name : {"fc1.weight", "fc1.bias", "fc2.weight", "fc2.bias"}) {
    const std::size_t in = index_of(graph.inputs, graph, name);
    const std::vector<float> old_values = floats(inputs[in]);
    const std::vector<float> new_values =
        floats(outputs[index_of(graph.outputs, graph, std::string(name) + ".new")]);
    double largest = 0;
    for (std::size_t i = 0; i < old_values.size(); ++i)
      largest = std::max<double>(largest, std::abs(old_values[i] - new_values[i]) / kLearningRate);
    EXPECT_GT(largest, 0.1) << name;
    for (std::size_t i = 0; i < old_values.size(); ++i) {
      constexpr float kStep = 1e-2f;  // smaller ones drown in the rounding of the loss
      const auto loss_at = [&](float by) {
        std::vector<ConstantPtr> moved = inputs;
        moved[in] = changed(inputs[in], i, by);
        return static_cast<double>(floats(interpret(graph, moved)[loss])[0]);
      };
      const double difference = (loss_at(kStep) - loss_at(-kStep)) / (2 * kStep);
      const double gradient = (old_values[i] - new_values[i]) / kLearningRate;
      EXPECT_NEAR(gradient, difference, 0.02 * largest) << name << "[" << i << "]";
    }
  }
}

}  // namespace
}  // namespace aoe::tests
