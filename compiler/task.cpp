// Tasks: cut from a graph, named canonically, weighed, and turned back into a graph of one node.
// Tested by tests/compiler/task_test.cpp.
#include "compiler/task.h"

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <set>

#include "base/check.h"
#include "compiler/chain/chain_members.h"
#include "graph/operand_json.h"

namespace aoe::compiler {
namespace {

using nlohmann::json;

/// Inputs of the anchor and of the steps whose values the code does not depend on.
std::set<std::size_t> free_inputs(const reference::OpCall& op) {
  const auto free_values = [](const std::string& type) -> std::vector<std::size_t> {
    const reference::OpDef* def = reference::ops().find(type);
    return def == nullptr ? std::vector<std::size_t>() : def->free_values;
  };
  const std::vector<std::size_t> own = free_values(op.type);
  std::set<std::size_t> inputs(own.begin(), own.end());
  for (const reference::EpilogueStep& step : op.epilogue)
    for (const std::size_t i : free_values(step.type))
      if (i < step.operands.size() && step.operands[i].kind == reference::Operand::Kind::kInput)
        inputs.insert(static_cast<std::size_t>(step.operands[i].index));
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

}  // namespace

bool Task::is_static() const {
  const auto known = [](const TensorDesc& desc) {
    return desc.dtype == DataType::kUndefined || aoe::is_static(desc.shape);
  };
  return std::all_of(inputs.begin(), inputs.end(),
                     [&](const TaskInput& input) { return known(input.desc); }) &&
         std::all_of(outputs.begin(), outputs.end(), known);
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
  const std::set<std::size_t> free = free_inputs(task.op);
  for (std::size_t i = 0; i < task.inputs.size(); ++i)
    inputs.push_back(input_json(task.inputs[i], free.contains(i)));
  for (const TensorDesc& output : task.outputs) outputs.push_back(graph::tensor_json(output));
  const json description = {
      {"op", reference::to_json(task.op)}, {"inputs", inputs}, {"outputs", outputs}};
  return {description.dump(), soc.version};
}

double flops(const Task& task) {
  if (!task.is_static()) return 0.0;
  if (task.op.type == "FusedChain") {
    double sum = 0;
    if (const auto members = members_of(task))
      for (const ChainMember& member : *members) sum += flops(member.task);
    return sum;
  }
  std::vector<TensorDesc> inputs;
  for (const TaskInput& input : task.inputs) inputs.push_back(input.desc);
  return reference::flops(task.op, inputs, task.outputs);
}

double bytes_moved(const Task& task) {
  if (!task.is_static()) return 0.0;
  double bytes = 0;
  for (const TaskInput& input : task.inputs)
    if (input.is_present()) bytes += static_cast<double>(storage_bytes(input.desc));
  for (const TensorDesc& output : task.outputs)
    if (output.dtype != DataType::kUndefined) bytes += static_cast<double>(storage_bytes(output));
  return bytes;
}

graph::Graph graph_of(const Task& task) {
  graph::Graph graph;
  graph.name = "task";
  graph::Node node{.name = task.op.type, .op = task.op, .origins = {task.op.type}};
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
