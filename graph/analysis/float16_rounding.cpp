// Puts RoundToFloat16 where values are stored or multiplied, and rounds constants in place.
#include "graph/analysis/float16_rounding.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>

#include "graph/rewrite.h"
#include "reference/elements/float16.h"

namespace aoe::graph {
namespace {

constexpr const char* kRound = "RoundToFloat16";

/// Of operators that sum up products: how many of their first inputs are factors.
int factor_count(const Node& node) {
  const reference::OpDef* def = reference::anchor_def(node.op);
  return def == nullptr ? 0 : def->factors;
}

/// How many of its first inputs are values; others say how they are to be taken (scales, bounds).
int value_count(const Node& node) {
  const reference::OpDef* def = reference::anchor_def(node.op);
  const bool has_parameters = def != nullptr && def->first_parameter >= 0;
  return has_parameters ? def->first_parameter : static_cast<int>(node.inputs.size());
}

/// Operators that hand on elements of their inputs: what was rounded stays so.
bool only_moves(const Node& node) {
  constexpr std::string_view kChooses[] = {"SelectV2", "MaxPoolV3", "Relu"};
  if (node.op.attrs.get_string("reduction", "none") != "none") return false;  // a scatter that adds
  return reference::is_kind(node.op.type, reference::OpKind::kMove) ||
         std::ranges::find(kChooses, node.op.type) != std::end(kChooses);
}

/// Constants that are finite stay so: masks of attentions add the lowest float, and infinity times 0 would be NaN.
float within_float16(float value) {
  constexpr float kLargest = 65504;
  const float rounded = static_cast<float>(reference::Float16(value));
  return std::isinf(rounded) && std::isfinite(value) ? std::copysign(kLargest, value) : rounded;
}

class Rounder {
 public:
  explicit Rounder(Graph& graph) : graph_(graph) {}

  bool round_inputs(NodeId id, int count) {
    bool changed = false;
    for (int i = 0; i < count && i < static_cast<int>(graph_.nodes[id].inputs.size()); ++i) {
      const ValueId input = graph_.nodes[id].inputs[static_cast<std::size_t>(i)];
      if (input == kNone || graph_.values[input].desc.dtype != DataType::kFloat) continue;
      const ValueId rounded = rounded_value(input);
      if (rounded == input) continue;
      graph_.edit(id)->inputs[static_cast<std::size_t>(i)] = rounded;
      changed = true;
    }
    return changed;
  }

  /// A graph output keeps its name.
  bool round_output(std::size_t place) {
    const ValueId value = graph_.outputs[place];
    if (graph_.values[value].desc.dtype != DataType::kFloat) return false;
    if (graph_.values[value].producer == kNone || is_rounded(value)) return false;
    const ValueId rounded = rounded_value(value);
    graph_.outputs.set(place, rounded);
    std::swap(graph_.values[value].name, graph_.values[rounded].name);
    return true;
  }

 private:
  bool is_rounded(ValueId value) const {
    const NodeId producer = graph_.values[value].producer;
    if (producer == kNone) return false;
    const Node& node = graph_.nodes[producer];
    if (is_type(node, kRound)) return true;
    return only_moves(node) && std::ranges::all_of(node.inputs, [&](ValueId input) {
             return input == kNone || graph_.values[input].constant != nullptr ||
                    graph_.values[input].desc.dtype != DataType::kFloat || is_rounded(input);
           });
  }

  /// The same value in float16's numbers; `value` itself when it has no others.
  ValueId rounded_value(ValueId value) {
    const auto known = rounded_.find(value);
    if (known != rounded_.end()) return known->second;
    ValueId rounded = value;
    if (graph_.values[value].constant != nullptr)
      rounded = rounded_constant(value);
    else if (!is_rounded(value))
      rounded = rounded_by_node(value);
    rounded_[value] = rounded_[rounded] = rounded;
    return rounded;
  }

  ValueId rounded_constant(ValueId value) {
    const ConstantPtr exact = graph_.values[value].constant;
    const auto rounded = std::make_shared<Constant>(exact->desc());
    const float* from = exact->view().as<float>();
    float* to = rounded->view().as<float>();
    bool changed = false;
    for (std::int64_t i = 0; i < exact->view().elements(); ++i) {
      to[i] = within_float16(from[i]);
      changed |= to[i] != from[i];
    }
    return changed ? add_constant(graph_, graph_.values[value].name + "_float16", rounded) : value;
  }

  ValueId rounded_by_node(ValueId value) {
    const Value exact = graph_.values[value];
    const ValueId rounded = add_intermediate(graph_, exact.name + "_float16", exact.desc);
    graph_.add_node({.name = graph_.values[rounded].name,
                     .op = call_of(kRound),
                     .inputs = {value},
                     .outputs = {rounded}});
    return rounded;
  }

  Graph& graph_;
  std::map<ValueId, ValueId> rounded_;
};

bool round_graph(Graph& graph, Float16Rounding rounding, const std::set<std::string>& float32_nodes,
                 std::vector<std::string>* rounded) {
  Rounder rounder(graph);
  bool changed = false;
  for (const NodeId id : graph.topological_order()) {
    const int factors = factor_count(graph.nodes[id]);
    if (factors > 0 && float32_nodes.contains(graph.nodes[id].name)) continue;
    if (factors > 0 && rounded != nullptr) rounded->push_back(graph.nodes[id].name);
    changed |= rounder.round_inputs(
        id, rounding == Float16Rounding::kFactors ? factors : value_count(graph.nodes[id]));
  }
  if (rounding == Float16Rounding::kValues)
    for (std::size_t i = 0; i < graph.outputs.size(); ++i) changed |= rounder.round_output(i);
  return changed;
}

}  // namespace

bool rounds_to_float16(const reference::OpCall& op) {
  return op.type == kRound || std::ranges::any_of(reference::flat_steps(op), [](const auto& step) {
           return step.call.type == kRound;
         });
}

Pass float16_pass(Float16Rounding rounding, std::set<std::string> float32_nodes,
                  std::vector<std::string>* rounded) {
  return {.name = "round_to_float16", .run = [=, kept = std::move(float32_nodes)](Graph& graph) {
            return rounding != Float16Rounding::kOff && round_graph(graph, rounding, kept, rounded);
          }};
}

}  // namespace aoe::graph
