// keep_apart: undoes the epilogue fusion of one convolution or matrix product: the steps from
// `kept_steps` on become an elementwise node of their own. Then Impls that only know simpler
// epilogues may carry the product out, and a residual is read when the product is done; it costs a
// walk over memory.
#include <algorithm>
#include <optional>
#include <span>

#include "graph/rewrite.h"
#include "graph/rewrite_plan.h"

namespace aoe::graph {
namespace {

using reference::EpilogueStep;
using reference::Operand;

constexpr const char* kKeptSteps = "kept_steps";
/// What goes away of the node's time, at a guess: fusion seldom hurts.
constexpr double kExpectedShare = 0.02;

bool has_epilogue(const Graph& graph, const Node& node) {
  return !node.is_dead && node.outputs.size() == 1 && !node.op.epilogue.empty() &&
         (node.op.type == "Conv2D" || node.op.type == "Conv2DTranspose" ||
          node.op.type == "MatMulV2" || node.op.type == "Gemm") &&
         dtype_of(graph, node.outputs[0]) == DataType::kFloat;
}

/// Whether the first `kept` steps leave one value to the others: their last.
bool can_cut(const Node& node, std::size_t kept) {
  if (kept >= node.op.epilogue.size()) return false;
  const auto behind = std::span(node.op.epilogue).subspan(kept);
  return std::ranges::all_of(behind, [&](const EpilogueStep& step) {
    return std::ranges::all_of(step.operands, [&](const Operand& operand) {
      if (operand.kind == Operand::Kind::kAnchor) return kept == 0;
      return operand.kind != Operand::Kind::kStep || operand.index + 1 >= static_cast<int>(kept);
    });
  });
}

bool reads_image(const Graph& graph, const Node& node, const EpilogueStep& step) {
  return std::ranges::any_of(step.operands, [&](const Operand& operand) {
    return operand.kind == Operand::Kind::kInput &&
           !graph.values[node.inputs[operand.index]].constant;
  });
}

bool is_bias(const Graph& graph, const Node& node, const EpilogueStep& step) {
  return step.type == "Add" && !reads_image(graph, node, step);
}

/// In front of the first residual; behind the bias when much arithmetic follows it. A lone
/// activation is never worth a walk over memory.
std::vector<RewriteParams> choices_of(const Graph& graph, const Node& node) {
  constexpr std::size_t kMuchArithmetic = 3;  // steps
  const auto& steps = node.op.epilogue;
  const auto residual = std::ranges::find_if(
      steps, [&](const EpilogueStep& step) { return reads_image(graph, node, step); });
  const std::size_t behind_bias = is_bias(graph, node, steps.front()) ? 1 : 0;
  std::vector<RewriteParams> choices;
  const auto add = [&](std::size_t kept) {
    const RewriteParams choice = {{kKeptSteps, static_cast<std::int64_t>(kept)}};
    if (can_cut(node, kept) && std::ranges::find(choices, choice) == choices.end())
      choices.push_back(choice);
  };
  add(static_cast<std::size_t>(residual - steps.begin()));
  if (steps.size() >= behind_bias + kMuchArithmetic) add(behind_bias);
  return choices;
}

std::vector<Place> find(const Graph& graph) {
  std::vector<Place> places;
  for (const NodeId id : graph.topological_order()) {
    if (!has_epilogue(graph, graph.nodes[id])) continue;
    auto choices = choices_of(graph, graph.nodes[id]);
    if (!choices.empty())
      places.push_back(
          {.nodes = {id}, .choices = std::move(choices), .expected_share = kExpectedShare});
  }
  return places;
}

/// Steps of `node` with the inputs that they read; `at_cut` stands for what is computed before.
class StepsTaken {
 public:
  StepsTaken(const Node& node, std::vector<ValueId> inputs)
      : node_(node), inputs_(std::move(inputs)) {}

  void take(std::size_t begin, std::size_t end, std::optional<Operand> at_cut) {
    for (std::size_t i = begin; i < end; ++i) {
      EpilogueStep step = node_.op.epilogue[i];
      for (Operand& operand : step.operands) operand = moved(operand, begin, at_cut);
      steps_.push_back(std::move(step));
    }
  }

  const std::vector<EpilogueStep>& steps() const { return steps_; }
  const std::vector<ValueId>& inputs() const { return inputs_; }

 private:
  Operand moved(const Operand& operand, std::size_t begin, std::optional<Operand> at_cut) {
    const int first = static_cast<int>(begin);
    switch (operand.kind) {
      case Operand::Kind::kAnchor:
        return at_cut.value_or(operand);
      case Operand::Kind::kStep:
        return operand.index < first ? *at_cut
                                     : Operand{Operand::Kind::kStep, operand.index - first};
      case Operand::Kind::kInput:
        break;
    }
    const ValueId value = node_.inputs[operand.index];
    const auto at = std::ranges::find(inputs_, value);
    const int index = static_cast<int>(at - inputs_.begin());
    if (at == inputs_.end()) inputs_.push_back(value);
    return {Operand::Kind::kInput, index};
  }

  const Node& node_;
  std::vector<ValueId> inputs_;
  std::vector<EpilogueStep> steps_;
};

/// The product with the first steps only.
Node kept_part(const Node& node, std::size_t kept, ValueId output) {
  const auto own = static_cast<std::ptrdiff_t>(anchor_input_count(node));
  StepsTaken taken(node, {node.inputs.begin(), node.inputs.begin() + own});
  taken.take(0, kept, std::nullopt);
  Node part = node;
  part.op.epilogue = taken.steps();
  part.op.anchor_inputs = kept == 0 ? -1 : node.op.anchor_inputs;
  part.inputs = taken.inputs();
  part.outputs = {output};
  return part;
}

/// The other steps; one step alone is the op that it was before passes fused it.
Node split_part(const Node& node, std::size_t kept, ValueId input) {
  StepsTaken taken(node, {input});
  taken.take(kept, node.op.epilogue.size(), Operand{Operand::Kind::kInput, 0});
  Node part{.name = node.name + "_apart", .outputs = node.outputs, .origins = node.origins};
  if (taken.steps().size() > 1) {
    part.op = {.type = "FusedElementwise", .epilogue = taken.steps()};
    part.inputs = taken.inputs();
    return part;
  }
  const EpilogueStep& step = taken.steps().front();
  part.op = {.type = step.type, .version = step.version, .attrs = step.attrs};
  for (const Operand& operand : step.operands) part.inputs.push_back(taken.inputs()[operand.index]);
  return part;
}

Result<void> apply(Graph& graph, const std::vector<NodeId>& nodes, const RewriteParams& params) {
  const auto kept = params.find(kKeptSteps);
  if (nodes.size() != 1 || kept == params.end() || kept->second < 0 ||
      !has_epilogue(graph, graph.nodes[nodes[0]]) ||
      !can_cut(graph.nodes[nodes[0]], static_cast<std::size_t>(kept->second)))
    return Unexpected("no epilogue that can be cut there");
  const Node old = graph.nodes[nodes[0]];
  const auto steps = static_cast<std::size_t>(kept->second);
  const Value& output = graph.values[old.outputs[0]];
  const ValueId between = add_intermediate(graph, output.name + "_apart", output.desc);
  replace_nodes(graph, {nodes[0]}, kept_part(old, steps, between));
  graph.add_node(split_part(old, steps, between));
  return {};
}

}  // namespace

void register_keep_apart(RewriteRegistry& registry) {
  registry.add({.kind = "keep_apart", .version = 1, .find = find, .apply = apply});
}

}  // namespace aoe::graph
