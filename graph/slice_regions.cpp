// Growing regions along the order of the nodes. Tested by tests/graph/map_slices_test.cpp.
#include "graph/slice_regions.h"

#include <algorithm>
#include <bit>
#include <map>
#include <set>

#include "base/error.h"
#include "base/log.h"
#include "graph/passes.h"
#include "graph/rewrite.h"
#include "graph/subgraph.h"
#include "reference/slicing.h"
#include "reference/texts.h"

namespace aoe::graph {
namespace {

/// How many slices a value has, as a number for what is not known: equal numbers are equal lengths.
using Length = int;

class Lengths {
 public:
  explicit Lengths(const Graph& graph) : graph_(graph), by_value_(graph.values.size(), kNew) {
    for (const ValueId input : graph.inputs) by_value_[input] = next_++;
  }

  /// To be called for all nodes in order. The length along which the node can be sliced; nullopt: it cannot.
  std::optional<Length> add(const Node& node) {
    const std::optional<Length> length = sliced_along(node);
    for (const ValueId output : node.outputs)
      if (output != kNone) by_value_[output] = length ? *length : next_++;
    return length;
  }

 private:
  static constexpr Length kNew = -1;

  std::optional<Length> sliced_along(const Node& node) const {
    std::optional<Length> length;
    std::vector<Tensor> inputs;
    std::vector<int> axes, output_axes;
    for (const ValueId id : node.inputs) {
      inputs.emplace_back();
      axes.push_back(reference::kWhole);
      if (id == kNone) continue;
      const Value& value = graph_.values[id];
      inputs.back() = value.constant ? value.constant->view() : Tensor{value.desc, nullptr};
      if (value.constant || is_static(value.desc.shape)) continue;
      const std::optional<int> axis = open_axis(value.desc);
      if (!axis || length.value_or(by_value_[id]) != by_value_[id]) return {};
      length = by_value_[id];
      axes.back() = *axis;
    }
    std::vector<TensorDesc> outputs;
    for (const ValueId id : node.outputs) {
      outputs.push_back(id == kNone ? TensorDesc{} : graph_.values[id].desc);
      const std::optional<int> axis = id == kNone ? reference::kWhole : open_axis(outputs.back());
      if (!axis) return {};
      output_axes.push_back(*axis);
    }
    if (!length || !node.bodies.empty() || reference::reads_texts(node.op.type)) return {};
    const reference::Slicing slicing{.attrs = node.op.attrs,
                                     .version = node.op.version,
                                     .inputs = inputs,
                                     .axes = axes,
                                     .outputs = outputs,
                                     .output_axes = output_axes};
    return reference::can_be_sliced(node.op, slicing) ? length : std::nullopt;
  }

  const Graph& graph_;
  std::vector<Length> by_value_;
  Length next_ = 0;
};

/// Nodes and regions, and what they wait for.
class Units {
 public:
  explicit Units(const Graph& graph) : graph_(graph), by_node_(graph.nodes.size(), kNone) {}

  int add() {
    before_.emplace_back();
    return static_cast<int>(before_.size()) - 1;
  }

  /// Whether the node can become part of the unit without waiting for what waits for it.
  bool takes(int unit, const Node& node) const {
    return std::ranges::none_of(node.inputs, [&](ValueId input) {
      const int producer = unit_of(input);
      return producer != kNone && producer != unit && waits_for(producer, unit);
    });
  }

  void put(NodeId id, int unit) {
    by_node_[id] = unit;
    for (const ValueId input : graph_.nodes[id].inputs)
      if (const int producer = unit_of(input); producer != kNone && producer != unit)
        before_[unit].insert(producer);
  }

 private:
  int unit_of(ValueId value) const {
    if (value == kNone || graph_.values[value].producer == kNone) return kNone;
    return by_node_[graph_.values[value].producer];
  }

  bool waits_for(int later, int earlier) const {
    std::vector<int> open = {later};
    std::set<int> seen = {later};
    while (!open.empty()) {
      const int unit = open.back();
      open.pop_back();
      for (const int before : before_[unit]) {
        if (before == earlier) return true;
        if (seen.insert(before).second) open.push_back(before);
      }
    }
    return false;
  }

  const Graph& graph_;
  std::vector<int> by_node_;
  std::vector<std::set<int>> before_;
};

/// Code for known sizes is faster at it than what takes any.
bool gains(const Graph& graph, const Node& node) {
  using reference::OpKind;
  const OpKind kind = reference::ops().find(node.op.type)->kind;
  if (kind == OpKind::kElementwise)
    return std::ranges::any_of(node.outputs,
                               [&](ValueId id) { return is_floating(dtype_of(graph, id)); });
  if (is_type(node, "Transpose"))
    return true;  // the only copy whose rows are no rows of what is read
  return kind == OpKind::kWindow || kind == OpKind::kProduct || kind == OpKind::kReduction ||
         kind == OpKind::kNormalisation || kind == OpKind::kRecurrence;
}

TensorDesc with_slices(TensorDesc desc, std::int64_t slices) {
  if (const std::optional<int> axis = open_axis(desc))
    desc.shape[static_cast<std::size_t>(*axis)] = slices;
  return desc;
}

}  // namespace

std::optional<int> open_axis(const TensorDesc& desc) {
  if (!has_known_rank(desc) || desc.dtype == DataType::kUndefined) return {};
  std::optional<int> open;
  for (std::size_t i = 0; i < desc.shape.size(); ++i) {
    if (desc.shape[i] == 0 || (desc.shape[i] == kUnknownDim && open)) return {};
    if (desc.shape[i] == kUnknownDim) open = static_cast<int>(i);
  }
  return open;
}

std::vector<std::vector<NodeId>> slice_regions(const Graph& graph) {
  std::vector<std::vector<NodeId>> regions;
  std::map<Length, std::pair<int, std::size_t>> last;  // unit and region that may still grow
  Lengths lengths(graph);
  Units units(graph);
  for (const NodeId id : graph.topological_order()) {
    const Node& node = graph.nodes[id];
    const std::optional<Length> length = lengths.add(node);
    if (!length) {
      units.put(id, units.add());
      continue;
    }
    const auto found = last.find(*length);
    if (found == last.end() || !units.takes(found->second.first, node)) {
      last[*length] = {units.add(), regions.size()};
      regions.emplace_back();
    }
    const auto& [unit, region] = last[*length];
    units.put(id, unit);
    regions[region].push_back(id);
  }
  std::erase_if(regions, [&](const std::vector<NodeId>& region) {
    return std::ranges::none_of(region, [&](NodeId id) { return gains(graph, graph.nodes[id]); });
  });
  return regions;
}

SliceCost slice_cost(const Graph& graph, const std::vector<NodeId>& region) {
  SliceCost cost;
  std::set<ValueId> weights;
  const auto desc_of = [&](ValueId id) {
    return id == kNone ? TensorDesc{} : with_slices(graph.values[id].desc, 1);
  };
  for (const NodeId id : region) {
    const Node& node = graph.nodes[id];
    std::vector<TensorDesc> inputs, outputs;
    for (const ValueId input : node.inputs) {
      inputs.push_back(desc_of(input));
      if (input == kNone) continue;
      const auto bytes = static_cast<double>(storage_bytes(inputs.back()));
      if (graph.values[input].constant)
        cost.weights += weights.insert(input).second ? bytes : 0;
      else if (!is_static(graph.values[input].desc.shape))
        cost.bytes = std::max(cost.bytes, bytes);
    }
    for (const ValueId output : node.outputs) {
      outputs.push_back(desc_of(output));
      if (output != kNone)
        cost.bytes = std::max(cost.bytes, static_cast<double>(storage_bytes(outputs.back())));
    }
    cost.flops += reference::flops(node.op, inputs, outputs);
  }
  return cost;
}

std::vector<std::int64_t> part_sizes(const SliceCost& cost, int threads) {
  constexpr double kPartBytes = 256 << 10, kMostBytes = 64 << 20;
  constexpr double kFlopsPerByte = 32;  // what a byte from memory takes several times over
  constexpr double kMostSlices = 4096;
  constexpr double kManyWeights = 16 << 20;  // which each body holds anew
  constexpr std::int64_t kStep = 8;
  const double bytes = std::max(cost.bytes, 1.0);
  const double wanted = std::max(kPartBytes * threads / bytes,
                                 kFlopsPerByte * cost.weights / std::max(cost.flops, 1.0));
  const double slices = std::clamp(std::min(wanted, kMostBytes / bytes), 1.0, kMostSlices);
  std::vector<std::int64_t> sizes = {
      static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(slices)))};
  const std::size_t most = cost.weights > kManyWeights ? 2 : 3;
  while (sizes.back() > 1 && sizes.size() < most)
    sizes.push_back(std::max<std::int64_t>(1, sizes.back() / kStep));
  return sizes;
}

std::optional<Graph> graph_of_part(const Graph& graph, const std::vector<NodeId>& region,
                                   std::int64_t slices) {
  Graph part = extract(graph, subgraph_of(graph, region));
  std::vector<TensorDesc> expected;
  for (Value& value : part.values) {
    value.desc = with_slices(value.desc, slices);
    expected.push_back(value.desc);
  }
  try {
    infer_shapes(part);
  } catch (const Error& error) {
    logger("graph")->info("not cut into slices: {}", error.what());
    return {};
  }
  for (std::size_t i = 0; i < expected.size(); ++i)
    if (part.values[i].desc != expected[i]) return {};
  return part;
}

}  // namespace aoe::graph
