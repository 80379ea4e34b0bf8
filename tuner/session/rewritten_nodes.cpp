// From trials of plans to the nodes they make, largest expected gain first.
#include "tuner/session/rewritten_nodes.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/error.h"
#include "base/log.h"
#include "compiler/lowering/lowering.h"
#include "runtime/backend.h"

namespace aoe::tuner {
namespace {

/// What another Schedule may save of the time of all ops that became one: for chains, 2 to 5% is common and 15% the most.
constexpr double kExpectedSaving = 0.1;
/// Of two places of a subgraph that overlap one wins: the second is expected to gain less.
constexpr double kOverlapFactor = 0.5;

/// Trials of one place that differ in their parameters, fastest first.
struct Place {
  std::vector<PlanUse> uses;
  double expected_gain_ns = 0;
};

class Finder {
 public:
  explicit Finder(const RewrittenNodeInput& input) : in_(input), context_(input.context) {
    graph::for_each_graph(context_.graph, [&](const graph::Graph& graph, const graph::BodyPath&) {
      for (const graph::NodeId id : graph.topological_order())
        in_model_.insert(key_of(graph, id).description);
    });
  }

  std::vector<RewrittenNode> run() {
    const int trials = trials_of_all();
    std::vector<Place> places = promising_places();
    while (trials_wanted() < trials && !places.empty()) {
      const auto best = std::ranges::max_element(
          places, {}, [this](const Place& place) { return discounted(place); });
      if (std::ranges::count_if(best->uses, [this](PlanUse use) { return add(use); }) > 0)
        taken_.push_back(best->uses.front());
      places.erase(best);
    }
    give(trials);
    for (RewrittenNode& node : nodes_)
      std::erase_if(node.task.heuristics, [&](const compiler::Candidate& each) {
        return !node.formats.contains(each.format.name);
      });
    return std::move(nodes_);
  }

 private:
  const Finalist& finalist(PlanUse use) const { return in_.finalists[use.finalist]; }
  const PlanTrial& trial(PlanUse use) const { return finalist(use).trials[use.trial]; }
  const graph::PlanStep& step(PlanUse use) const { return trial(use).plan.steps.front(); }

  const SearchPolicy& policy() const { return context_.options.policy.search; }

  bank::TaskKey key_of(const graph::Graph& graph, graph::NodeId id) const {
    return compiler::key_of(compiler::task_of(graph, id), context_.options.soc);
  }

  // ---- trials ----

  /// In proportion to those of plans, recalled ones included.
  int trials_of_all() const {
    if (policy().schedule_trials <= 0) return 0;
    double plans = 0;
    for (const Finalist& each : in_.finalists) plans += static_cast<double>(each.trials.size());
    return static_cast<int>(std::min(policy().schedule_share * plans, 1e9));
  }

  int wanted(const RewrittenNode& node) const {
    return policy().schedule_trials * static_cast<int>(node.formats.size());
  }

  int trials_wanted() const {
    int sum = 0;
    for (const RewrittenNode& node : nodes_) sum += wanted(node);
    return sum;
  }

  /// The last node gets what is left.
  void give(int trials) {
    for (RewrittenNode& node : nodes_) trials -= node.trials = std::min(trials, wanted(node));
    std::erase_if(nodes_, [](const RewrittenNode& node) { return node.trials == 0; });
  }

  // ---- expected gains ----

  std::vector<Place> promising_places() const {
    std::vector<Place> places;
    for (std::size_t f = 0; f < in_.finalists.size(); ++f) {
      std::map<std::pair<std::string, std::vector<int>>, Place> of_subgraph;
      for (std::size_t t = 0; t < in_.finalists[f].trials.size(); ++t) {
        const PlanUse use{f, t};
        if (!trial(use).ok || trial(use).plan.steps.size() != 1 || expected_gain_ns(use) <= 0)
          continue;
        Place& place = of_subgraph[{step(use).kind, step(use).nodes}];
        place.uses.push_back(use);
        place.expected_gain_ns = std::max(place.expected_gain_ns, expected_gain_ns(use));
      }
      for (auto& [where, place] : of_subgraph) {
        std::ranges::stable_sort(place.uses, {},
                                 [this](PlanUse use) { return trial(use).ratio(); });
        if (bank_knows_parts(place.uses.front())) places.push_back(std::move(place));
      }
    }
    return places;
  }

  /// What all instances would gain in the model with a better Schedule.
  double expected_gain_ns(PlanUse use) const {
    double replaced_ns = 0;
    for (const compiler::SubgraphInstance& each : finalist(use).task->instances)
      for (const int node : step(use).nodes)
        replaced_ns += in_.times.ns(each.in, id_at(each.form, node));
    return finalist(use).task->model_ns * (1 - trial(use).ratio()) + kExpectedSaving * replaced_ns;
  }

  double discounted(const Place& place) const {
    const PlanUse own = place.uses.front();
    const auto overlaps = std::ranges::count_if(taken_, [&](PlanUse other) {
      return other.finalist == own.finalist && std::ranges::any_of(step(own).nodes, [&](int node) {
               return std::ranges::find(step(other).nodes, node) != step(other).nodes.end();
             });
    });
    return place.expected_gain_ns * std::pow(kOverlapFactor, overlaps);
  }

  static graph::NodeId id_at(const graph::CanonicalForm& form, int canonical) {
    return form.order[static_cast<std::size_t>(canonical)];
  }

  /// By time, the bank has strategies for most of what the rewrite replaces.
  bool bank_knows_parts(PlanUse use) const {
    if (context_.compile.strategies == nullptr) return false;
    const compiler::SubgraphInstance& any = finalist(use).task->instances.front();
    const graph::Graph& graph = graph::graph_at(context_.graph, any.in);
    double all_ns = 0, known_ns = 0;
    for (const int canonical : step(use).nodes) {
      const graph::NodeId id = id_at(any.form, canonical);
      const double ns = in_.times.ns(any.in, id);
      all_ns += ns;
      if (context_.compile.strategies->find(key_of(graph, id))) known_ns += ns;
    }
    return 2 * known_ns > all_ns;
  }

  // ---- nodes ----

  /// Whether the plan makes one node that is to be tuned.
  bool add(PlanUse use) {
    const auto part = finalist(use).task->part_with(trial(use).plan);
    if (!part) return false;
    std::optional<OperatorTask> made;
    try {
      made = new_task(*part, *finalist(use).task);
    } catch (const Error& e) {
      logger("tuner")->debug("plan='{}' has no nodes to be tuned: {}",
                             graph::to_text(trial(use).plan), e.what());
    }
    if (!made) return false;
    auto node = std::ranges::find(nodes_, made->key.description, [](const RewrittenNode& each) {
      return each.task.key.description;
    });
    if (node == nodes_.end()) {
      nodes_.push_back({.task = *made});
      node = std::prev(nodes_.end());
    }
    node->uses.push_back(use);
    node->formats.insert(made->default_candidate.format.name);
    return true;
  }

  /// The only task of the part that the model as it is does not have.
  std::optional<OperatorTask> new_task(const graph::Graph& part, const SubgraphTask& of) const {
    const compiler::Lowered lowered =
        compiler::lower_graph(part, options_of_part(part, of, context_));
    std::map<std::string, OperatorTask> made;
    for (const compiler::NodeReport& report : lowered.reports) {
      const bank::TaskKey key = key_of(part, report.id);
      if (in_model_.contains(key.description) || made.contains(key.description)) continue;
      auto task = operator_task(part, report, context_.options.soc);
      if (task && runs_a_kernel(*task)) made.emplace(key.description, std::move(*task));
    }
    if (made.size() != 1) return std::nullopt;
    OperatorTask& task = made.begin()->second;
    if (context_.compile.strategies->find(task.key) && !context_.options.repeat_tune)
      return std::nullopt;
    compiler::Candidate& by_default = task.default_candidate;  // as without the bank
    by_default.schedule =
        by_default.impl->plan(task.task, by_default.format, context_.options.soc)->heuristic();
    return std::move(task);
  }

  /// A view shares the memory of what it looks at and takes no time.
  bool runs_a_kernel(const OperatorTask& task) const {
    const compiler::Candidate& any = task.default_candidate;
    return any.impl->plan(task.task, any.format, context_.options.soc)
        ->build(any.schedule)
        .backend->traits()
        .runs;
  }

  const RewrittenNodeInput& in_;
  const PlanBenchContext& context_;
  std::set<std::string> in_model_;  ///< descriptions of tasks
  std::vector<PlanUse> taken_;
  std::vector<RewrittenNode> nodes_;
};

}  // namespace

std::vector<RewrittenNode> find_rewritten_nodes(const RewrittenNodeInput& input) {
  return Finder(input).run();
}

}  // namespace aoe::tuner
