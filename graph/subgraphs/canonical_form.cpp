// Colour refinement, then the text.
#include "graph/subgraphs/canonical_form.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/hash.h"
#include "base/json_text.h"
#include "graph/subgraphs/operand_json.h"

namespace aoe::graph {
using nlohmann::json;
namespace {

using Colour = std::uint64_t;

Colour colour_of(const std::vector<Colour>& parts) {
  return hash64({reinterpret_cast<const char*>(parts.data()), parts.size() * sizeof(Colour)});
}

/// What a node is by itself: its call, its operands' descriptions, its results.
json node_json(const Graph& graph, const Node& node) {
  json inputs = json::array(), outputs = json::array();
  for (const ValueId input : node.inputs)
    inputs.push_back(input == kNone
                         ? json(nullptr)
                         : operand_json(graph.values[input].desc, graph.values[input].constant));
  for (const ValueId output : node.outputs)
    outputs.push_back(output == kNone ? json(nullptr) : tensor_json(graph.values[output].desc));
  return {{"op", reference::to_json(node.op)}, {"inputs", inputs}, {"outputs", outputs}};
}

class Canonizer {
 public:
  Canonizer(const Graph& graph, const Subgraph& subgraph) : graph_(graph), subgraph_(subgraph) {
    for (std::size_t i = 0; i < subgraph.nodes.size(); ++i) {
      index_[subgraph.nodes[i]] = i;
      const auto& inputs = graph.nodes[subgraph.nodes[i]].inputs;
      for (std::size_t k = 0; k < inputs.size(); ++k) uses_[inputs[k]].emplace_back(i, k);
    }
    outputs_.insert(subgraph.outputs.begin(), subgraph.outputs.end());
    for (const NodeId id : subgraph.nodes) {
      texts_.push_back(node_json(graph, graph.nodes[id]));
      colours_.push_back(hash64(json_text(texts_.back())));
    }
  }

  CanonicalForm run() {
    refine();
    while (class_count() < colours_.size()) {
      single_out();
      refine();
    }
    CanonicalForm form;
    form.order = order();
    form.description = describe(form.order);
    return form;
  }

 private:
  std::size_t class_count() const {
    return std::set<Colour>(colours_.begin(), colours_.end()).size();
  }

  /// Every round sees one edge further; classes only ever split.
  void refine() {
    for (std::size_t classes = class_count();;) {
      std::vector<Colour> next;
      for (std::size_t i = 0; i < colours_.size(); ++i) next.push_back(refined(i));
      colours_ = std::move(next);
      const std::size_t now = class_count();
      if (now == classes) return;
      classes = now;
    }
  }

  Colour refined(std::size_t i) const {
    const Node& node = graph_.nodes[subgraph_.nodes[i]];
    std::vector<Colour> parts = {colours_[i]};
    for (const ValueId input : node.inputs)
      if (input != kNone && !graph_.values[input].constant) parts.push_back(value_colour(input));
    for (const ValueId output : node.outputs)
      if (output != kNone) parts.push_back(value_colour(output));
    return colour_of(parts);
  }

  /// Who made it, who reads it and where, and whether it leaves.
  Colour value_colour(ValueId value) const {
    std::vector<Colour> parts = {outputs_.contains(value) ? Colour{1} : Colour{0}};
    const auto producer = index_.find(graph_.values[value].producer);
    if (producer != index_.end()) {
      const auto& made = graph_.nodes[producer->first].outputs;
      parts.push_back(colours_[producer->second]);
      parts.push_back(static_cast<Colour>(std::ranges::find(made, value) - made.begin()));
    }
    std::vector<Colour> uses;
    if (const auto read = uses_.find(value); read != uses_.end())
      for (const auto& [reader, k] : read->second) uses.push_back(colour_of({colours_[reader], k}));
    std::ranges::sort(uses);
    parts.insert(parts.end(), uses.begin(), uses.end());
    return colour_of(parts);
  }

  /// One node of the first class of several gets a colour of its own.
  void single_out() {
    std::map<Colour, std::vector<std::size_t>> classes;
    for (std::size_t i = 0; i < colours_.size(); ++i) classes[colours_[i]].push_back(i);
    for (const auto& [colour, members] : classes) {
      if (members.size() < 2) continue;
      colours_[members.front()] = colour_of({colour, 1});
      return;
    }
  }

  /// Of the nodes whose operands are there, the one of the least colour first.
  std::vector<NodeId> order() const {
    std::vector<NodeId> list;
    std::vector<bool> is_done(colours_.size(), false);
    const auto is_ready = [&](std::size_t i) {
      return std::ranges::all_of(graph_.nodes[subgraph_.nodes[i]].inputs, [&](ValueId input) {
        if (input == kNone) return true;
        const auto producer = index_.find(graph_.values[input].producer);
        return producer == index_.end() || is_done[producer->second];
      });
    };
    while (list.size() < colours_.size()) {
      std::size_t least = colours_.size();
      for (std::size_t i = 0; i < colours_.size(); ++i)
        if (!is_done[i] && is_ready(i) &&
            (least == colours_.size() || colours_[i] < colours_[least]))
          least = i;
      is_done[least] = true;
      list.push_back(subgraph_.nodes[least]);
    }
    return list;
  }

  /// Values are numbered as the nodes name them; edges are numbers in place of operands.
  std::string describe(const std::vector<NodeId>& order) const {
    std::map<ValueId, int> numbers;
    const auto number_of = [&](ValueId value) {
      return numbers.try_emplace(value, static_cast<int>(numbers.size())).first->second;
    };
    json nodes = json::array();
    for (const NodeId id : order) {
      const Node& node = graph_.nodes[id];
      json text = texts_[index_.at(id)];
      for (std::size_t i = 0; i < node.inputs.size(); ++i) {
        const ValueId input = node.inputs[i];
        if (input != kNone && !graph_.values[input].constant)
          text["inputs"][i]["value"] = number_of(input);
      }
      for (std::size_t i = 0; i < node.outputs.size(); ++i)
        if (node.outputs[i] != kNone) text["outputs"][i]["value"] = number_of(node.outputs[i]);
      nodes.push_back(std::move(text));
    }
    std::set<int> outputs;
    for (const ValueId output : subgraph_.outputs) outputs.insert(numbers.at(output));
    return json_text(json{{"subgraph", nodes}, {"outputs", outputs}});
  }

  const Graph& graph_;
  const Subgraph& subgraph_;
  std::map<NodeId, std::size_t> index_;  ///< place in subgraph_.nodes
  /// By value: who reads it in the subgraph, by place, and as which input.
  std::map<ValueId, std::vector<std::pair<std::size_t, std::size_t>>> uses_;
  std::set<ValueId> outputs_;
  std::vector<json> texts_;
  std::vector<Colour> colours_;
};

}  // namespace

CanonicalForm canonical_form(const Graph& graph, const Subgraph& subgraph) {
  return Canonizer(graph, subgraph).run();
}

}  // namespace aoe::graph
