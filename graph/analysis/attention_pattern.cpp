// See attention_pattern.h.
#include "graph/analysis/attention_pattern.h"

#include <algorithm>
#include <limits>

#include "graph/rewrite.h"
#include "graph/shape_inference.h"

namespace aoe::graph {
namespace {

/// A Where that hides scores puts this there, or less; scores themselves do not get as low.
constexpr double kHidden = -1e9;

class Matcher {
 public:
  Matcher(const Graph& graph, AttentionSizes sizes) : graph_(graph), sizes_(sizes) {}

  std::optional<AttentionPattern> match(NodeId second) const {
    const Node& product = graph_.nodes[second];
    if (!is_product(product)) return {};
    const NodeId softmax = producer_of_type(graph_, product.inputs[0], "SoftmaxV2");
    if (softmax == kNone || !is_private(product.inputs[0]) || !is_along_rows(softmax)) return {};
    AttentionPattern pattern;
    if (!match_scores(graph_.nodes[softmax].inputs[0], pattern)) return {};
    std::ranges::reverse(pattern.nodes);
    pattern.nodes.push_back(softmax);
    pattern.nodes.push_back(second);
    return pattern;
  }

 private:
  bool is_known(ValueId value) const {
    return sizes_ == AttentionSizes::kOpen ? has_known_rank(graph_.values[value].desc)
                                           : is_static(shape_of(graph_, value));
  }

  bool is_private(ValueId value) const { return sole_consumer(graph_, value) != kNone; }

  bool is_product(const Node& node) const {
    if (!is_type(node, "MatMulV2") || node.inputs.size() != 2) return false;
    return std::ranges::all_of(node.inputs, [&](ValueId input) {
      const Shape& shape = shape_of(graph_, input);
      return dtype_of(graph_, input) == DataType::kFloat && is_known(input) && shape.size() >= 2 &&
             std::ranges::count(shape, 0) == 0;
    });
  }

  bool is_along_rows(NodeId softmax) const {
    constexpr int kSingleAxisVersion = 13;
    const reference::OpCall& op = graph_.nodes[softmax].op;
    const auto rank =
        static_cast<std::int64_t>(shape_of(graph_, graph_.nodes[softmax].outputs[0]).size());
    const std::int64_t axis = op.attrs.get_int("axis", op.version >= kSingleAxisVersion ? -1 : 1);
    return axis == -1 || axis == rank - 1;
  }

  /// Goes from the softmax's input back to the first product.
  bool match_scores(ValueId value, AttentionPattern& scores) const {
    const NodeId id = graph_.values[value].producer;
    if (id == kNone || !is_private(value)) return false;
    const Node& node = graph_.nodes[id];
    scores.nodes.push_back(id);
    if (is_product(node)) return true;
    if (is_type(node, "Reshape"))
      return keeps_matrices(node) && match_scores(node.inputs[0], scores);
    if (is_type(node, "Mul") || is_type(node, "Div")) return match_scale(node, scores);
    if (is_type(node, "Add")) return match_sum(node, scores);
    return is_type(node, "SelectV2") && match_where(node, scores);
  }

  bool keeps_matrices(const Node& reshape) const {
    if (sizes_ == AttentionSizes::kOpen) return false;  // rows may become columns
    const Shape &from = shape_of(graph_, reshape.inputs[0]),
                &to = shape_of(graph_, reshape.outputs[0]);
    return from.size() >= 2 && to.size() >= 2 &&
           std::equal(from.end() - 2, from.end(), to.end() - 2);
  }

  /// The branch that leads to the product has the shape of the result, or at least its rank; `taken` follows it.
  bool follow(const Node& node, std::size_t operand, AttentionPattern taken,
              AttentionPattern& scores) const {
    const ValueId value = node.inputs[operand];
    const Shape &from = shape_of(graph_, value), &to = shape_of(graph_, node.outputs[0]);
    const bool fits = sizes_ == AttentionSizes::kOpen ? from.size() == to.size() : from == to;
    if (!fits || !match_scores(value, taken)) return false;
    scores = std::move(taken);
    return true;
  }

  bool match_scale(const Node& node, AttentionPattern& scores) const {
    for (std::size_t i = is_type(node, "Mul") ? 0 : 1; i < 2; ++i) {
      const ConstantPtr constant = constant_input(graph_, node, i);
      if (!constant || element_count(constant->desc().shape) != 1) continue;
      const double scalar = to_doubles(*constant)[0];
      AttentionPattern taken = scores;
      taken.scale *= is_type(node, "Mul") ? scalar : 1 / scalar;
      return follow(node, 1 - i, taken, scores);
    }
    return false;
  }

  /// A mask that is scaled afterwards, or a second one, stays outside.
  static bool takes_mask(const AttentionPattern& scores) {
    return scores.mask == kNone && scores.condition == kNone && scores.scale == 1;
  }

  bool match_sum(const Node& node, AttentionPattern& scores) const {
    if (!takes_mask(scores)) return false;
    for (std::size_t i = 0; i < 2; ++i) {
      if (!is_known(node.inputs[1 - i])) continue;
      AttentionPattern taken = scores;
      taken.mask = node.inputs[1 - i];
      taken.mask_shape = shape_of(graph_, node.outputs[0]);
      if (follow(node, i, taken, scores)) return true;
    }
    return false;
  }

  bool match_where(const Node& node, AttentionPattern& scores) const {
    if (!takes_mask(scores) || !is_known(node.inputs[0])) return false;
    for (std::size_t i = 1; i <= 2; ++i) {
      const ConstantPtr constant = constant_input(graph_, node, i);
      if (!constant || constant->desc().dtype != DataType::kFloat ||
          element_count(constant->desc().shape) != 1 || to_doubles(*constant)[0] > kHidden)
        continue;
      AttentionPattern taken = scores;
      taken.mode = reference::MaskMode::kMin;
      taken.condition = node.inputs[0];
      taken.mask_shape = shape_of(graph_, node.outputs[0]);
      taken.hidden = to_doubles(*constant)[0];
      taken.is_hidden_when = i == 1;
      return follow(node, 3 - i, taken, scores);
    }
    return false;
  }

  const Graph& graph_;
  const AttentionSizes sizes_;
};

}  // namespace

std::optional<AttentionPattern> attention_at(const Graph& graph, NodeId second,
                                             AttentionSizes sizes) {
  return Matcher(graph, sizes).match(second);
}

ValueId AttentionReplacer::mask_of(ValueId condition, const AttentionPattern& scores) {
  const auto key = std::tuple(condition, scores.hidden, scores.is_hidden_when);
  if (const auto known = masks_.find(key); known != masks_.end()) return known->second;
  const std::string stem = graph_.values[condition].name + "_mask";
  ValueId on = add_floats(graph_, stem + "_hidden", {}, {scores.hidden});
  ValueId off = add_floats(graph_, stem + "_seen", {}, {std::numeric_limits<double>::infinity()});
  if (!scores.is_hidden_when) std::swap(on, off);
  const ValueId mask = add_intermediate(
      graph_, stem, {.dtype = DataType::kFloat, .shape = shape_of(graph_, condition)});
  const Node node{.name = graph_.values[mask].name,
                  .op = call_of("SelectV2"),
                  .inputs = {condition, on, off},
                  .outputs = {mask}};
  std::vector<ConstantPtr> folded;
  if (const ConstantPtr known = graph_.values[condition].constant) {
    const std::vector<Tensor> inputs = {known->view(), graph_.values[on].constant->view(),
                                        graph_.values[off].constant->view()};
    EvaluationBudget budget;
    folded = evaluate(graph_, node, inputs, budget.bytes, budget);
  }
  if (folded.empty())
    graph_.add_node(node);
  else
    graph_.values[mask].constant = folded.front();
  return masks_[key] = mask;
}

void AttentionReplacer::replace(const AttentionPattern& pattern,
                                const std::vector<NodeId>& absorbed,
                                const std::vector<ValueId>& read, Node node) {
  std::vector<NodeId> old = pattern.nodes;
  old.insert(old.end(), absorbed.begin(), absorbed.end());
  const NodeId id = replace_nodes(graph_, std::move(old), std::move(node));
  for (const ValueId value : read) remove_unread(value, id);
}

/// Takes out what only led to `value`, if nobody reads it any more. Node `heir` gets the origins.
void AttentionReplacer::remove_unread(ValueId value, NodeId heir) {
  const NodeId id = value == kNone ? kNone : graph_.values[value].producer;
  if (id == kNone) return;
  for (const ValueId output : graph_.nodes[id].outputs)
    if (output != kNone && (graph_.is_output(output) || !graph_.consumers(output).empty())) return;
  const Node removed = graph_.nodes[id];
  std::vector<std::string> origins = removed.origins;
  origins.insert(origins.end(), graph_.nodes[heir].origins.begin(),
                 graph_.nodes[heir].origins.end());
  graph_.edit(heir)->origins = std::move(origins);
  graph_.remove_node(id);
  for (const ValueId input : removed.inputs) remove_unread(input, heir);
}

}  // namespace aoe::graph
