// fuse_epilogues: bias, activation, residual addition and other elementwise nodes behind a
// convolution or matrix product become its epilogue, as long as the only value seen from outside is
// the last one.
//
// Steps are taken in closed groups: all readers of the current result, and readers of these, until
// one open value is left. A chain is a row of groups of one; x * sigmoid(x) is a group of two.
#include <algorithm>
#include <set>

#include "graph/analysis/elementwise_group.h"
#include "graph/passes.h"
#include "graph/rewrite.h"

namespace aoe::graph {
namespace {

/// Convolutions over three axes are the library's, which takes few steps; alone, all have generated code.
bool is_anchor(const Graph& graph, const Node& node) {
  constexpr std::size_t kImageRank = 4;
  if (node.is_dead || node.outputs.size() != 1) return false;
  if (reference::epilogue_of(node.op.type) == reference::Epilogue::kNone) return false;
  return !reference::is_kind(node.op.type, reference::OpKind::kConvolution) ||
         shape_of(graph, node.inputs[0]).size() <= kImageRank;
}

class Absorber {
 public:
  /// `position` tells where a node stands in topological order.
  Absorber(const Graph& graph, const std::vector<std::size_t>& position, NodeId anchor)
      : graph_(graph),
        position_(position),
        shape_(shape_of(graph, graph.nodes[anchor].outputs[0])),
        takes_bytes_(reference::epilogue_of(graph.nodes[anchor].op.type) ==
                     reference::Epilogue::kBytes) {}

  /// All steps that `result` can be followed by, in topological order.
  std::vector<NodeId> steps_behind(ValueId result) {
    std::vector<NodeId> steps;
    while (result != kNone) {
      std::vector<NodeId> group;
      result = close(result, kMostEpilogueSteps - steps.size(), group);
      if (result != kNone) steps.insert(steps.end(), group.begin(), group.end());
    }
    add_dequantised_operands(steps);
    return steps;
  }

 private:
  /// Operands that are bytes in memory are read as such: their Dequantize is a step too.
  void add_dequantised_operands(std::vector<NodeId>& steps) const {
    std::set<NodeId> members(steps.begin(), steps.end());
    for (const NodeId step : steps) {
      for (const ValueId input : graph_.nodes[step].inputs) {
        const NodeId producer = producer_of_type(graph_, input, "Dequantize");
        if (!takes_bytes_ || producer == kNone || members.contains(producer)) continue;
        if (members.size() == kMostEpilogueSteps ||
            !is_step(graph_, producer, shape_, StepTypes::kFloat))
          continue;
        if (!is_open(input, members)) members.insert(producer);
      }
    }
    steps.assign(members.begin(), members.end());
    std::ranges::sort(steps, {}, [&](NodeId id) { return position_[id]; });
  }

  /// Finds the smallest group behind `value` and returns its one open value, or kNone when there is
  /// no such group.
  ValueId close(ValueId value, std::size_t most_steps, std::vector<NodeId>& group) const {
    std::set<NodeId> members;
    ValueId open = value;
    do {
      if (graph_.is_output(open)) return kNone;
      for (const NodeId reader : graph_.consumers(open)) {
        if (!is_step(graph_, reader, shape_, StepTypes::kFloat)) return kNone;
        if (is_quantisation(graph_.nodes[reader]) && !takes_bytes_) return kNone;
        members.insert(reader);
      }
      if (members.empty() || members.size() > most_steps) return kNone;
      open = first_open(members);
    } while (open_count(members) > 1);
    group.assign(members.begin(), members.end());
    std::ranges::sort(group, {}, [&](NodeId id) { return position_[id]; });
    return open;
  }

  bool is_open(ValueId value, const std::set<NodeId>& members) const {
    const std::vector<NodeId>& readers = graph_.consumers(value);
    return graph_.is_output(value) || readers.empty() ||
           std::ranges::any_of(readers, [&](NodeId reader) { return !members.contains(reader); });
  }

  std::size_t open_count(const std::set<NodeId>& members) const {
    return static_cast<std::size_t>(std::ranges::count_if(
        members, [&](NodeId id) { return is_open(graph_.nodes[id].outputs[0], members); }));
  }

  /// The open value that is computed first: what is still to be taken in lies behind it.
  ValueId first_open(const std::set<NodeId>& members) const {
    NodeId first = kNone;
    for (const NodeId id : members)
      if (is_open(graph_.nodes[id].outputs[0], members) &&
          (first == kNone || position_[id] < position_[first]))
        first = id;
    return graph_.nodes[first].outputs[0];
  }

  const Graph& graph_;
  const std::vector<std::size_t>& position_;
  const Shape shape_;
  const bool takes_bytes_;
};

}  // namespace

bool fuse_epilogues(Graph& graph) {
  const std::vector<NodeId> order = graph.topological_order();
  std::vector<std::size_t> position(graph.nodes.size(), 0);
  for (std::size_t i = 0; i < order.size(); ++i) position[order[i]] = i;
  bool changed = false;
  // Backwards: of two anchors that meet in an addition the later one takes it, when the other
  // operand is there already.
  for (auto it = order.rbegin(); it != order.rend(); ++it) {
    if (!is_anchor(graph, graph.nodes[*it])) continue;
    const ValueId result = graph.nodes[*it].outputs[0];
    const std::vector<NodeId> steps = Absorber(graph, position, *it).steps_behind(result);
    if (steps.empty()) continue;
    fuse_steps(graph, *it, steps);
    changed = true;
  }
  return changed;
}

}  // namespace aoe::graph
