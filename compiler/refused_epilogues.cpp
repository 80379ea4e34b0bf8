// See refused_epilogues.h.
#include "compiler/refused_epilogues.h"

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "compiler/impl.h"
#include "graph/rewrite.h"

namespace aoe::compiler {
namespace {

using graph::Graph;
using graph::Node;
using graph::NodeId;
using reference::Body;
using reference::BodyStep;

/// Steps [first, last) of a body as a call, and which of the body's values it reads.
struct Part {
  reference::OpCall call;
  std::vector<int> reads = {};
};

Part part_of(const Body& body, std::size_t first, std::size_t last) {
  if (last - first == 1) return {body.steps[first].call, body.steps[first].operands};
  std::vector<reference::NamedStep> steps;
  for (std::size_t i = first; i < last; ++i)
    steps.push_back({body.steps[i].call, body.steps[i].operands, body.value_of(i)});
  Part part;
  part.call = reference::fused_call(steps, first == 0, part.reads);
  return part;
}

/// Whether the steps from `at` on read nothing of those before but what the last of these makes.
bool can_be_cut(const Body& body, std::size_t at) {
  return std::all_of(body.steps.begin() + static_cast<std::ptrdiff_t>(at), body.steps.end(),
                     [&](const BodyStep& step) {
                       return std::ranges::none_of(step.operands, [&](int value) {
                         return value >= body.inputs && value < body.value_of(at - 1);
                       });
                     });
}

/// Behind the anchor of a float32 node all is float32.
Task first_part(const Task& task, std::size_t steps) {
  Part part = part_of(*task.op.body, 0, steps);
  Task first{.op = std::move(part.call), .outputs = task.outputs};
  for (const int read : part.reads)
    first.inputs.push_back(task.inputs[static_cast<std::size_t>(read)]);
  return first;
}

/// How many steps stay: most of those that an Impl takes with the anchor; 0 where the node stays as it is.
std::size_t steps_that_stay(const Graph& graph, NodeId id, const Soc& soc) {
  const Node& node = graph.nodes[id];
  if (node.op.body == nullptr || reference::anchor_def(node.op) == nullptr) return 0;
  const Task task = task_of(graph, id);
  const auto is_float = [](const TensorDesc& desc) {
    return desc.dtype == DataType::kFloat || desc.dtype == DataType::kUndefined;
  };
  if (!std::ranges::all_of(task.inputs, is_float, &TaskInput::desc) || !is_float(task.out()) ||
      has_kernel(task, soc))
    return 0;
  for (std::size_t steps = node.op.body->steps.size() - 1; steps > 0; --steps)
    if (can_be_cut(*node.op.body, steps) && has_kernel(first_part(task, steps), soc)) return steps;
  return 0;
}

void split(Graph& graph, NodeId id, std::size_t at) {
  const Node whole = graph.nodes[id];
  const Body& body = *whole.op.body;
  Part first = part_of(body, 0, at), rest = part_of(body, at, body.steps.size());
  const graph::ValueId between = graph::add_intermediate(
      graph, graph.values[whole.outputs[0]].name + "_before", graph.values[whole.outputs[0]].desc);
  const auto values = [&](const std::vector<int>& reads) {
    std::vector<graph::ValueId> inputs;
    for (const int read : reads)
      inputs.push_back(read < body.inputs ? whole.inputs[static_cast<std::size_t>(read)] : between);
    return inputs;
  };
  Node node = whole;
  node.name += "_before";
  node.op = std::move(first.call);
  node.inputs = values(first.reads);
  node.outputs = {between};
  graph.add_node(std::move(node));
  graph.edit(id)->op = std::move(rest.call);
  graph.edit(id)->inputs = values(rest.reads);
}

}  // namespace

graph::Pass split_refused_epilogues_pass(const Soc& soc) {
  const auto run = [soc](Graph& graph) {
    bool changed = false;
    for (const NodeId id : graph.topological_order()) {
      const std::size_t steps = steps_that_stay(graph, id, soc);
      if (steps == 0) continue;
      logger("compiler")
          ->debug("no Impl takes all of node {}: {} steps behind its anchor", graph.nodes[id].name,
                  steps - 1);
      split(graph, id, steps);
      changed = true;
    }
    return changed;
  };
  return {"split_refused_epilogues", run};
}

}  // namespace aoe::compiler
