// Exact where the frontier of the model is narrow; descents from several starts elsewhere.
#include "compiler/format_assignment.h"

#include <algorithm>
#include <limits>
#include <set>

#include "base/check.h"
#include "compiler/format_frontier.h"

namespace aoe::compiler {
namespace {

constexpr std::size_t kMaxFrontierStates = 2048;  ///< ResNets need tens, inception blocks hundreds
constexpr int kMaxSweeps =
    50;  ///< descents end long before; a bound against cycles of equal totals

/// Who makes and who reads each value.
struct Links {
  struct Use {
    int node;
    int slot;
  };
  explicit Links(const FormatProblem& problem)
      : producers(problem.value_count, {-1, -1}),
        readers(problem.value_count),
        is_output(problem.value_count, false) {
    for (int n = 0; n < static_cast<int>(problem.nodes.size()); ++n) {
      const FormatNode& node = problem.nodes[n];
      for (int slot = 0; slot < static_cast<int>(node.outputs.size()); ++slot)
        if (node.outputs[slot] >= 0) producers[node.outputs[slot]] = {n, slot};
      for (int slot = 0; slot < static_cast<int>(node.inputs.size()); ++slot)
        if (node.inputs[slot] >= 0) readers[node.inputs[slot]].push_back({n, slot});
    }
    for (const int value : problem.model_outputs) is_output[value] = true;
  }
  std::vector<Use> producers;  ///< node -1: a model input, which is ND
  std::vector<std::vector<Use>> readers;
  std::vector<bool> is_output;
};

class Assignment {
 public:
  explicit Assignment(const FormatProblem& problem) : problem_(problem), links_(problem) {}

  double total(std::span<const int> choice) const {
    double sum = 0;
    for (std::size_t n = 0; n < problem_.nodes.size(); ++n)
      sum += problem_.nodes[n].options[choice[n]].time_ns;
    for (int value = 0; value < problem_.value_count; ++value) sum += conversions(value, choice);
    return sum;
  }

  /// Every node's cheapest option among those whose main output has the wanted Format, else the cheapest of all.
  std::vector<int> start_with(Format wanted) const {
    std::vector<int> choice;
    for (const FormatNode& node : problem_.nodes) {
      int best = -1;
      for (const bool must_match : {true, false}) {
        for (int o = 0; o < static_cast<int>(node.options.size()); ++o) {
          const FormatOption& option = node.options[o];
          if (must_match && (option.outputs.empty() || dense(option.outputs[0]) != wanted))
            continue;
          if (best < 0 || option.time_ns < node.options[best].time_ns) best = o;
        }
        if (best >= 0) break;
      }
      choice.push_back(best);
    }
    return choice;
  }

  /// Changes single nodes, forwards and backwards in turn, while that helps.
  void descend(std::vector<int>& choice) const {
    for (int sweep = 0; sweep < kMaxSweeps; ++sweep) {
      bool has_changed = false;
      for (std::size_t i = 0; i < choice.size(); ++i)
        has_changed |= improve(sweep % 2 == 0 ? i : choice.size() - 1 - i, choice);
      if (!has_changed) return;
    }
  }

 private:
  double conversion(int value, Format from, Format to) const {
    from = dense(from);
    to = dense(to);
    return from == to || to == Format::kUndefined || from == Format::kUndefined
               ? 0
               : problem_.conversion_ns(value, from, to);
  }

  Format produced(int value, std::span<const int> choice) const {
    const Links::Use producer = links_.producers[value];
    if (producer.node < 0) return Format::kND;
    return dense(
        problem_.nodes[producer.node].options[choice[producer.node]].outputs[producer.slot]);
  }

  /// All conversions of one value, each Format once.
  double conversions(int value, std::span<const int> choice) const {
    const Format from = produced(value, choice);
    std::set<Format> wanted;
    for (const Links::Use& reader : links_.readers[value])
      wanted.insert(
          dense(problem_.nodes[reader.node].options[choice[reader.node]].inputs[reader.slot]));
    if (links_.is_output[value]) wanted.insert(Format::kND);
    double sum = 0;
    for (const Format to : wanted) sum += conversion(value, from, to);
    return sum;
  }

  /// What depends on the choice of one node: its own time and the conversions of the values it touches.
  double local_ns(std::size_t n, std::span<const int> choice) const {
    const FormatNode& node = problem_.nodes[n];
    double sum = node.options[choice[n]].time_ns;
    std::set<int> values(node.inputs.begin(), node.inputs.end());
    values.insert(node.outputs.begin(), node.outputs.end());
    for (const int value : values)
      if (value >= 0) sum += conversions(value, choice);
    return sum;
  }

  bool improve(std::size_t n, std::vector<int>& choice) const {
    const int before = choice[n];
    int best = before;
    double least = local_ns(n, choice);
    for (int o = 0; o < static_cast<int>(problem_.nodes[n].options.size()); ++o) {
      if (o == before) continue;
      choice[n] = o;
      const double here = local_ns(n, choice);
      if (here < least) {
        least = here;
        best = o;
      }
    }
    choice[n] = best;
    return best != before;
  }

  const FormatProblem& problem_;
  Links links_;
};

}  // namespace

double total_ns(const FormatProblem& problem, std::span<const int> choice) {
  return Assignment(problem).total(choice);
}

std::vector<int> assign_formats(const FormatProblem& problem) {
  for (const FormatNode& node : problem.nodes)
    AOE_CHECK(!node.options.empty(), "a node without options");
  FrontierResult swept = sweep_frontier(problem, kMaxFrontierStates);
  if (swept.is_exact) return std::move(swept.choice);
  const Assignment assignment(problem);
  std::vector<std::vector<int>> starts = {std::move(swept.choice)};
  for (const Format format : {Format::kNC1HWC0, Format::kNHWC, Format::kND, Format::kUndefined})
    starts.push_back(assignment.start_with(format));
  std::vector<int> best;
  double least = std::numeric_limits<double>::infinity();
  for (std::vector<int>& choice : starts) {
    assignment.descend(choice);
    const double total = assignment.total(choice);
    if (best.empty() || total < least) {
      least = total;
      best = std::move(choice);
    }
  }
  return best;
}

}  // namespace aoe::compiler
