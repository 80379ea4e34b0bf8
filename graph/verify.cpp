// The invariants of a graph.
#include "graph/verify.h"

#include <algorithm>
#include <string_view>
#include <unordered_set>

#include "base/check.h"
#include "base/error.h"
#include "graph/shape_inference.h"
#include "graph/subgraph.h"

namespace aoe::graph {
namespace {

/// Shapes that are computed from values may be known now that constants are folded, and others be too much work for
/// an inference of shapes alone.
bool says_less(TensorDesc known, const TensorDesc& inferred) {
  if (!has_known_rank(known)) return true;
  if (known.shape.size() != inferred.shape.size()) return false;
  for (std::size_t i = 0; i < known.shape.size(); ++i)
    if (known.shape[i] == kUnknownDim) known.shape[i] = inferred.shape[i];
  return known == inferred;
}

class Verifier {
 public:
  Verifier(const Graph& graph, const std::string& culprit) : graph_(graph), culprit_(culprit) {}

  void check_all() const {
    check_names();
    std::vector<bool> is_input(graph_.values.size(), false);
    for (const ValueId id : graph_.inputs) is_input[id] = true;
    std::vector<NodeId> live;
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i)
      if (!graph_.nodes[i].is_dead) live.push_back(static_cast<NodeId>(i));
    for (const NodeId id : live) check_node(id, [&](ValueId input) { return is_input[input]; });
    check_readers(live);
    for (const ValueId id : graph_.outputs) {
      check_id(id, "the outputs");
      if (graph_.values[id].producer == kNone)
        fail("output " + graph_.values[id].name + " has no producer");
    }
    check_inference(graph_);
  }

  void check_only(const std::vector<NodeId>& nodes) const {
    const auto is_input = [&](ValueId input) {
      return std::ranges::find(graph_.inputs, input) != graph_.inputs.end();
    };
    std::vector<NodeId> live;
    std::ranges::copy_if(nodes, std::back_inserter(live),
                         [&](NodeId id) { return !graph_.nodes[id].is_dead; });
    for (const NodeId id : live) check_node(id, is_input);
    check_inference(extract(graph_, subgraph_of(graph_, live)));
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw InternalError("behind " + culprit_ + ": " + what);
  }

  void check_id(ValueId id, const std::string& where) const {
    if (id < 0 || id >= static_cast<ValueId>(graph_.values.size()))
      fail(where + " name value " + std::to_string(id));
  }

  void check_names() const {
    std::unordered_set<std::string_view> values, nodes;
    for (const Value& value : graph_.values)
      if (!values.insert(value.name).second) fail("two values are named " + value.name);
    for (const Node& node : graph_.nodes)
      if (!node.is_dead && !nodes.insert(node.name).second)
        fail("two nodes are named " + node.name);
  }

  void check_node(NodeId id, const auto& is_input) const {
    const Node& node = graph_.nodes[id];
    if (const auto checked = reference::check_call(node.op); !checked)
      fail(node.name + ": " + checked.error());
    if (node.op.body != nullptr && node.op.body->inputs != static_cast<int>(node.inputs.size()))
      fail(node.name + " reads other inputs than its body");
    for (const ValueId input : node.inputs) {
      if (input == kNone) continue;
      check_id(input, node.name);
      const Value& value = graph_.values[input];
      if (value.producer == kNone && !value.constant && !is_input(input))
        fail(node.name + " reads " + value.name + ", which nothing produces");
    }
    for (const ValueId output : node.outputs) {
      if (output == kNone) continue;
      check_id(output, node.name);
      const Value& value = graph_.values[output];
      if (value.producer != id) fail(value.name + " denies its producer " + node.name);
      if (value.constant) fail(value.name + " is constant and produced");
    }
  }

  /// What consumers() says is what the nodes say.
  void check_readers(const std::vector<NodeId>& live) const {
    std::vector<std::vector<NodeId>> readers(graph_.values.size());
    for (const NodeId id : live)
      for (const ValueId input : graph_.nodes[id].inputs)
        if (input != kNone && (readers[input].empty() || readers[input].back() != id))
          readers[input].push_back(id);
    for (std::size_t i = 0; i < readers.size(); ++i)
      if (graph_.consumers(static_cast<ValueId>(i)) != readers[i])
        fail("the readers of " + graph_.values[i].name + " are not those that are known");
  }

  void check_inference(Graph copy) const {
    std::vector<TensorDesc> known;
    for (const Value& value : copy.values) known.push_back(value.desc);
    try {
      ShapeInference inference(copy);
      for (const NodeId id : copy.topological_order()) inference.infer_node(id);
    } catch (const Error& error) {
      fail(error.what());
    }
    for (std::size_t i = 0; i < known.size(); ++i) {
      const TensorDesc& inferred = copy.values[i].desc;
      if (is_static(inferred.shape) && !says_less(known[i], inferred) && known[i] != inferred)
        fail(copy.values[i].name + " is " + to_string(known[i]) + ", inferred " +
             to_string(inferred));
    }
  }

  const Graph& graph_;
  const std::string& culprit_;
};

}  // namespace

void verify(const Graph& graph, const std::string& culprit) {
  Verifier(graph, culprit).check_all();
}

void verify_nodes(const Graph& graph, const std::vector<NodeId>& nodes,
                  const std::string& culprit) {
  Verifier(graph, culprit).check_only(nodes);
}

}  // namespace aoe::graph
