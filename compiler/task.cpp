// Tasks: cut from a graph, named canonically, weighed, and turned back into a graph of one node.
// Tested by tests/compiler/task_test.cpp.
#include "compiler/task.h"

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <set>

#include "base/check.h"
#include "base/json_text.h"
#include "compiler/rnn/rnn_shape.h"
#include "graph/subgraphs/operand_json.h"

namespace aoe::compiler {
namespace {

using nlohmann::json;

/// Of the call, and of the ops of its body: inputs whose values the code does not depend on.
std::set<std::size_t> free_inputs(const Task& task) {
  std::set<std::size_t> inputs;
  const auto add = [&](const std::string& type, const auto& input_of) {
    const reference::OpDef* def = reference::ops().find(type);
    if (def == nullptr) return;
    for (const std::size_t i : def->free_values)
      if (const std::size_t input = input_of(i); input < task.inputs.size()) inputs.insert(input);
  };
  add(task.op.type, [](std::size_t i) { return i; });
  for (const reference::BodyStep& step : reference::flat_steps(task.op))
    add(step.call.type, [&](std::size_t i) {
      return i < step.operands.size() ? static_cast<std::size_t>(step.operands[i])
                                      : task.inputs.size();
    });
  return inputs;
}

bool is_one(const Constant& constant) {
  return constant.desc().dtype == DataType::kFloat && element_count(constant.desc().shape) == 1 &&
         constant.view().as<float>()[0] == 1.0f;
}

/// Of values that the code does not depend on only a 1 shows: it spares code.
json input_json(const TaskInput& input, bool is_free) {
  if (!is_free || !input.constant || is_one(*input.constant))
    return graph::operand_json(input.desc, input.constant);
  json j = graph::tensor_json(input.desc);
  j["constant"] = true;
  return j;
}

/// Outputs without elements: for them nothing is read, weights neither.
bool makes_nothing(const Task& task) {
  return std::ranges::all_of(task.outputs, [](const TensorDesc& output) {
    return output.dtype == DataType::kUndefined || element_count(output.shape) == 0;
  });
}

}  // namespace

bool Task::is_static() const {
  const auto known = [](const TensorDesc& desc) {
    return desc.dtype == DataType::kUndefined || aoe::is_static(desc.shape);
  };
  return std::all_of(inputs.begin(), inputs.end(),
                     [&](const TaskInput& input) { return known(input.desc); }) &&
         std::all_of(outputs.begin(), outputs.end(), known);
}

std::vector<Tensor> Task::tensors() const {
  std::vector<Tensor> tensors;
  for (const TaskInput& input : inputs) tensors.push_back(input.tensor());
  return tensors;
}

Task task_of(const graph::Graph& graph, graph::NodeId id) {
  const graph::Node& node = graph.nodes[id];
  Task task{.op = node.op};
  for (const graph::ValueId input : node.inputs) {
    if (input == graph::kNone) {
      task.inputs.emplace_back();
    } else {
      task.inputs.push_back({graph.values[input].desc, graph.values[input].constant});
    }
  }
  for (const graph::ValueId output : node.outputs)
    task.outputs.push_back(output == graph::kNone ? TensorDesc{} : graph.values[output].desc);
  return task;
}

bank::TaskKey key_of(const Task& task, const Soc& soc) {
  json inputs = json::array(), outputs = json::array();
  const std::set<std::size_t> free = free_inputs(task);
  for (std::size_t i = 0; i < task.inputs.size(); ++i)
    inputs.push_back(input_json(task.inputs[i], free.contains(i)));
  for (const TensorDesc& output : task.outputs) outputs.push_back(graph::tensor_json(output));
  const json description = {
      {"op", reference::to_json(task.op)}, {"inputs", inputs}, {"outputs", outputs}};
  return {json_text(description), soc.version};
}

double flops(const Task& task) {
  if (!task.is_static()) return 0.0;
  std::vector<TensorDesc> inputs;
  for (const TaskInput& input : task.inputs) inputs.push_back(input.desc);
  return reference::flops(task.op, inputs, task.outputs);
}

double bytes_moved(const Task& task) {
  if (!task.is_static() || makes_nothing(task)) return 0.0;
  double written = 0, read = 0;
  for (const TensorDesc& output : task.outputs)
    if (output.dtype != DataType::kUndefined) written += static_cast<double>(storage_bytes(output));
  // Of a table from which rows are chosen, the others are left alone.
  const bool only_moves = reference::is_kind(task.op.type, reference::OpKind::kMove);
  for (const TaskInput& input : task.inputs) {
    if (!input.is_present()) continue;
    const auto bytes = static_cast<double>(storage_bytes(input.desc));
    read += only_moves ? std::min(bytes, written) : bytes;
  }
  return read + written;
}

double reduction_length(double flops, double elements) {
  return elements > 0 ? std::max(1.0, flops / (2 * elements)) : 1.0;
}

double reduction_length(const Task& task) {
  double outputs = 0;
  for (const TensorDesc& output : task.outputs)
    if (output.dtype != DataType::kUndefined)
      outputs += static_cast<double>(element_count(output.shape));
  const Result<RnnShape> recurrence = rnn_shape(task);
  const double steps = recurrence ? static_cast<double>(recurrence->steps) : 1;
  return reduction_length(steps * flops(task), outputs);
}

graph::Graph graph_of(const Task& task) {
  graph::Graph graph;
  graph.name = "task";
  const std::string name = reference::type_name(task.op);
  graph::Node node{.name = name, .op = task.op, .origins = {name}};
  for (std::size_t i = 0; i < task.inputs.size(); ++i) {
    const TaskInput& input = task.inputs[i];
    if (!input.is_present()) {
      node.inputs.push_back(graph::kNone);
      continue;
    }
    const graph::ValueId value =
        graph.add_value("input" + std::to_string(i), input.desc, input.constant);
    node.inputs.push_back(value);
    if (!input.constant) graph.inputs.push_back(value);
  }
  for (std::size_t i = 0; i < task.outputs.size(); ++i) {
    if (task.outputs[i].dtype == DataType::kUndefined) {
      node.outputs.push_back(graph::kNone);
      continue;
    }
    const graph::ValueId value = graph.add_value("output" + std::to_string(i), task.outputs[i]);
    node.outputs.push_back(value);
    graph.outputs.push_back(value);
  }
  AOE_CHECK(!graph.outputs.empty(), "a task without outputs: " + task.op.type);
  graph.add_node(std::move(node));
  return graph;
}

}  // namespace aoe::compiler
