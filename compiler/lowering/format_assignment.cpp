// Exact where the frontier of the model is narrow; descents from several starts elsewhere.
#include "compiler/lowering/format_assignment.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "base/check.h"
#include "compiler/lowering/format_frontier.h"

namespace aoe::compiler {
namespace {

constexpr std::size_t kMaxFrontierStates = 2048;  ///< ResNets need tens, inception blocks hundreds
constexpr int kMaxSweeps =
    50;  ///< descents end long before; a bound against cycles of equal totals

/// The node that makes a value, and as which of its outputs.
struct Maker {
  int node = -1;  ///< -1: a model input, which is ND
  int slot = -1;
};

class Assignment {
 public:
  explicit Assignment(const FormatProblem& problem)
      : problem_(problem), makers_(static_cast<std::size_t>(problem.value_count)) {
    for (int n = 0; n < static_cast<int>(problem.nodes.size()); ++n) {
      const FormatNode& node = problem.nodes[n];
      for (int slot = 0; slot < static_cast<int>(node.outputs.size()); ++slot)
        if (node.outputs[slot] >= 0) makers_[node.outputs[slot]] = {n, slot};
    }
  }

  double total(std::span<const int> choice) {
    double sum = 0;
    count_wanted(choice);
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
  void descend(std::vector<int>& choice) {
    count_wanted(choice);
    for (int sweep = 0; sweep < kMaxSweeps; ++sweep) {
      bool has_changed = false;
      for (std::size_t i = 0; i < choice.size(); ++i)
        has_changed |= improve(sweep % 2 == 0 ? i : choice.size() - 1 - i, choice);
      if (!has_changed) return;
    }
  }

 private:
  Layout produced(int value, std::span<const int> choice) const {
    const Maker maker = makers_[value];
    if (maker.node < 0) return {};
    const FormatOption& option = problem_.nodes[maker.node].options[choice[maker.node]];
    return dense(Layout{option.outputs[maker.slot], option.memory});
  }

  /// Readers of each value by the Layout that they take it in; a model output is read in ND.
  void count_wanted(std::span<const int> choice) {
    wanted_.assign(static_cast<std::size_t>(problem_.value_count), {});
    for (const int value : problem_.model_outputs) wanted_[value][Layout{}] = 1;
    for (std::size_t n = 0; n < problem_.nodes.size(); ++n) add_wishes(n, choice[n], 1);
  }

  void add_wishes(std::size_t n, int option, int count) {
    const FormatNode& node = problem_.nodes[n];
    for (std::size_t slot = 0; slot < node.inputs.size(); ++slot)
      if (node.inputs[slot] >= 0)
        wanted_[node.inputs[slot]]
               [dense(Layout{node.options[option].inputs[slot], node.options[option].memory})] +=
            count;
  }

  /// All conversions of one value, each Layout once.
  double conversions(int value, std::span<const int> choice) const {
    const Layout from = produced(value, choice);
    std::set<Layout> made;
    double sum = 0;
    for (const auto& [wanted, readers] : wanted_[value]) {
      const Layout to = conversion_target(from, wanted);
      if (readers > 0 && to != from && made.insert(to).second)
        sum += problem_.conversion_ns(value, from, to);
    }
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

  void change(std::size_t n, int option, std::vector<int>& choice) {
    add_wishes(n, choice[n], -1);
    add_wishes(n, option, 1);
    choice[n] = option;
  }

  bool improve(std::size_t n, std::vector<int>& choice) {
    const int before = choice[n];
    int best = before;
    double least = local_ns(n, choice);
    for (int o = 0; o < static_cast<int>(problem_.nodes[n].options.size()); ++o) {
      if (o == before) continue;
      change(n, o, choice);
      const double here = local_ns(n, choice);
      if (here < least) {
        least = here;
        best = o;
      }
    }
    change(n, best, choice);
    return best != before;
  }

  const FormatProblem& problem_;
  std::vector<Maker> makers_;                  ///< by value
  std::vector<std::map<Layout, int>> wanted_;  ///< by value
};

}  // namespace

Layout conversion_target(const Layout& made, const Layout& wanted) {
  const bool is_any = wanted.format == Format::kUndefined || made.format == Format::kUndefined;
  return is_any ? Layout{made.format, wanted.memory} : dense(wanted);
}

double total_ns(const FormatProblem& problem, std::span<const int> choice) {
  return Assignment(problem).total(choice);
}

std::vector<int> assign_formats(const FormatProblem& problem) {
  for (const FormatNode& node : problem.nodes)
    AOE_CHECK(!node.options.empty(), "a node without options");
  FrontierResult swept = sweep_frontier(problem, kMaxFrontierStates);
  if (swept.is_exact) return std::move(swept.choice);
  Assignment assignment(problem);
  std::vector<std::vector<int>> starts;
  if (!swept.choice.empty()) starts.push_back(std::move(swept.choice));
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
