// The invariants of a graph.
#include "graph/verify.h"

#include <algorithm>
#include <set>

#include "base/check.h"
#include "base/error.h"
#include "graph/passes.h"

namespace aoe::graph {
namespace {

class Verifier {
 public:
  Verifier(const Graph& graph, const std::string& culprit) : graph_(graph), culprit_(culprit) {}

  void run() const {
    check_names();
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i)
      if (!graph_.nodes[i].is_dead) check_node(static_cast<NodeId>(i));
    for (const ValueId id : graph_.outputs) {
      check_id(id, "the outputs");
      check(graph_.values[id].producer != kNone,
            "output " + graph_.values[id].name + " has no producer");
    }
    check_inference();
  }

 private:
  void check(bool holds, const std::string& what) const {
    AOE_CHECK(holds, "behind " + culprit_ + ": " + what);
  }

  void check_id(ValueId id, const std::string& where) const {
    check(id >= 0 && id < static_cast<ValueId>(graph_.values.size()),
          where + " name value " + std::to_string(id));
  }

  void check_names() const {
    std::set<std::string> values, nodes;
    for (const Value& value : graph_.values)
      check(values.insert(value.name).second, "two values are named " + value.name);
    for (const Node& node : graph_.nodes)
      if (!node.is_dead) check(nodes.insert(node.name).second, "two nodes are named " + node.name);
  }

  void check_node(NodeId id) const {
    const Node& node = graph_.nodes[id];
    check(reference::is_fused_type(node.op.type) || reference::ops().find(node.op.type) != nullptr,
          node.name + " has unknown operator " + node.op.type);
    for (const ValueId input : node.inputs) {
      if (input == kNone) continue;
      check_id(input, node.name);
      const Value& value = graph_.values[input];
      const bool is_input = std::ranges::find(graph_.inputs, input) != graph_.inputs.end();
      check(value.producer != kNone || value.constant || is_input,
            node.name + " reads " + value.name + ", which nothing produces");
    }
    for (const ValueId output : node.outputs) {
      if (output == kNone) continue;
      check_id(output, node.name);
      check(graph_.values[output].producer == id,
            graph_.values[output].name + " denies its producer " + node.name);
      check(!graph_.values[output].constant,
            graph_.values[output].name + " is constant and produced");
    }
    check_operands(node);
  }

  void check_operands(const Node& node) const {
    for (std::size_t i = 0; i < node.op.epilogue.size(); ++i) {
      for (const reference::Operand& operand : node.op.epilogue[i].operands) {
        if (operand.kind == reference::Operand::Kind::kStep)
          check(operand.index >= 0 && operand.index < static_cast<int>(i),
                node.name + " reads a later step");
        if (operand.kind == reference::Operand::Kind::kInput)
          check(operand.index >= 0 && operand.index < static_cast<int>(node.inputs.size()),
                node.name + " reads an input it does not have");
      }
    }
  }

  void check_inference() const {
    Graph copy = graph_;
    try {
      infer_shapes(copy);
    } catch (const Error& error) {
      check(false, error.what());
    }
    for (std::size_t i = 0; i < copy.values.size(); ++i) {
      const TensorDesc& now = graph_.values[i].desc;
      const TensorDesc& inferred = copy.values[i].desc;
      if (is_static(inferred.shape))
        check(now == inferred, graph_.values[i].name + " is " + to_string(now) + ", inferred " +
                                   to_string(inferred));
    }
  }

  const Graph& graph_;
  const std::string& culprit_;
};

}  // namespace

void verify(const Graph& graph, const std::string& culprit) {
  Verifier(graph, culprit).run();
}

}  // namespace aoe::graph
