// group_byte_chains: what stands between a Dequantize and a Quantize and reads no other tensor is a table of 256 bytes, whatever it
// computes (byte_table). Where that is more than a few arithmetic steps, as in Gelu and SiLU of quantised models, it
// becomes one node before the product in front of it takes it for its epilogue, which would compute it in float32.
#include <algorithm>
#include <set>
#include <vector>

#include "graph/analysis/elementwise_group.h"
#include "graph/analysis/quantization.h"
#include "graph/passes.h"
#include "graph/rewrite.h"

namespace aoe::graph {
namespace {

class Chain {
 public:
  Chain(const Graph& graph, NodeId quantize) : graph_(graph), last_(quantize) {
    is_whole_ = add(quantize) && is_closed();
  }

  /// Found from bytes to bytes, with something in it that is worth a table.
  bool is_table() const {
    return is_whole_ && std::ranges::any_of(members_, [&](NodeId id) {
             return computes_by_polynomial(graph_, id);
           });
  }
  const std::set<NodeId>& members() const { return members_; }

 private:
  /// The node, and what it reads.
  bool add(NodeId id) {
    const Node& node = graph_.nodes[id];
    if (!is_step(graph_, id, shape_of(graph_, graph_.nodes[last_].outputs[0]), StepTypes::kFloat))
      return false;
    members_.insert(id);
    if (members_.size() > kMostEpilogueSteps) return false;
    const bool is_source = is_type(node, "Dequantize");
    if (is_source && !is_bytes(node.inputs[0])) return false;
    for (std::size_t i = is_source ? 1 : 0; i < node.inputs.size(); ++i) {
      const ValueId input = node.inputs[i];
      if (input == kNone || is_number(input)) continue;
      const NodeId producer = graph_.values[input].producer;
      if (producer == kNone || (!members_.contains(producer) && !add(producer))) return false;
    }
    return true;
  }

  bool is_number(ValueId value) const {
    return graph_.values[value].constant && element_count(shape_of(graph_, value)) == 1;
  }

  /// The one tensor that is read.
  bool is_bytes(ValueId value) {
    if (source_ == kNone) source_ = value;
    return source_ == value && is_byte(dtype_of(graph_, value)) && !graph_.values[value].constant;
  }

  bool is_closed() const {
    return std::ranges::all_of(members_, [&](NodeId id) {
      const ValueId value = graph_.nodes[id].outputs[0];
      return id == last_ || (!graph_.is_output(value) &&
                             std::ranges::all_of(graph_.consumers(value), [&](NodeId reader) {
                               return members_.contains(reader);
                             }));
    });
  }

  const Graph& graph_;
  const NodeId last_;
  std::set<NodeId> members_;
  ValueId source_ = kNone;
  bool is_whole_ = false;
};

}  // namespace

bool group_byte_chains(Graph& graph) {
  bool changed = false;
  const std::vector<NodeId> order = graph.topological_order();
  std::vector<std::size_t> position(graph.nodes.size(), 0);
  for (std::size_t i = 0; i < order.size(); ++i) position[order[i]] = i;
  for (const NodeId id : order) {
    if (!is_type(graph.nodes[id], "Quantize")) continue;
    const Chain chain(graph, id);
    if (!chain.is_table()) continue;
    std::vector<NodeId> steps(chain.members().begin(), chain.members().end());
    std::ranges::sort(steps, {}, [&](NodeId step) { return position[step]; });
    fuse_steps(graph, kNone, steps);
    changed = true;
  }
  return changed;
}

}  // namespace aoe::graph
