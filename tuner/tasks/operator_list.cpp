// Collects the distinct tasks of a graph.
#include "tuner/tasks/operator_list.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "base/statistics.h"
#include "base/words.h"
#include "graph/bodies.h"
#include "runtime/backend.h"
#include "tuner/search/sampler.h"

namespace aoe::tuner {
using compiler::Candidate;
using compiler::NodeReport;
namespace {

/// An Impl whose own estimate is this many times the best one's is not worth running: the plain
/// reference takes seconds for what others do in a millisecond.
constexpr double kMostRaceRatio = 30;

std::vector<Candidate> without_hopeless(std::vector<Candidate> candidates,
                                        const compiler::Task& task, const compiler::Soc& soc) {
  const auto estimate_ns = [&](const Candidate& heuristic) {
    return heuristic.impl->plan(task, heuristic.format, soc)->estimate_ns(heuristic.schedule);
  };
  double best_ns = std::numeric_limits<double>::infinity();
  for (const Candidate& c : candidates) best_ns = std::min(best_ns, estimate_ns(c));
  std::erase_if(candidates,
                [&](const Candidate& c) { return estimate_ns(c) > kMostRaceRatio * best_ns; });
  return candidates;
}

/// The candidate that the compiler took by itself; nullopt for a node that runs no kernel.
std::optional<Candidate> candidate_of(const NodeReport& report, const std::vector<Candidate>& all) {
  for (const Candidate& c : all)
    if (c.impl->name() == report.impl && c.format.name == report.format)
      return Candidate{c.impl, c.format, report.schedule};
  return std::nullopt;
}

bool has_choice(const OperatorTask& t, const compiler::Soc& soc) {
  if (t.heuristics.size() > 1) return true;
  return std::ranges::any_of(t.heuristics, [&](const Candidate& c) {
    return point_count(*c.impl->plan(t.task, c.format, soc)) > 1;
  });
}

}  // namespace

std::string OperatorTask::type_text() const {
  return joined(op_types, "+");
}

std::string OperatorTask::shape_text() const {
  std::string text = task.inputs.empty() ? "" : to_string(task.in(0).shape);
  if (!task.outputs.empty()) text += " -> " + to_string(task.out().shape);
  return text;
}

Result<void> OperatorTask::accepts(const bank::Strategy& stored, const compiler::Soc& soc) const {
  const auto candidate = compiler::candidate_of(stored, task, soc);
  if (!candidate) return Unexpected(candidate.error());
  return {};
}

bank::Strategy OperatorTask::default_strategy(const bank::Strategy& other) const {
  bank::Strategy strategy = compiler::strategy_of(default_candidate);
  strategy.measured = other.measured;
  strategy.measured.time_ns = other.measured.default_time_ns;
  strategy.measured.verdict = name(Verdict::kSame);
  return strategy;
}

std::string OperatorTask::text_of(const bank::Strategy& strategy) const {
  return strategy.impl + " " + strategy.format;
}

std::optional<OperatorTask> operator_task(const graph::Graph& graph, const NodeReport& report,
                                          const compiler::Soc& soc) {
  const graph::Node& node = graph.nodes[static_cast<std::size_t>(report.id)];
  OperatorTask t;
  t.task = compiler::task_of(graph, report.id);
  if (!t.task.is_static()) return std::nullopt;
  // Random numbers: no candidate's results are those of the reference.
  const reference::OpDef* def = reference::anchor_def(t.task.op);
  if (def != nullptr && !def->is_deterministic) return std::nullopt;
  const std::vector<Candidate> all = compiler::default_candidates(t.task, soc);
  const std::optional<Candidate> by_default = candidate_of(report, all);
  if (!by_default) return std::nullopt;
  t.key = compiler::key_of(t.task, soc);
  t.default_candidate = *by_default;
  t.heuristics = without_hopeless(all, t.task, soc);
  if (!has_choice(t, soc)) return std::nullopt;
  t.nodes = {node.name};
  t.ids = {report.id};
  t.op_types = reference::op_types(node.op);
  return t;
}

namespace {

class OperatorCollector {
 public:
  OperatorCollector(const compiler::Soc& soc, const OpFilter& filter)
      : soc_(soc), filter_(filter) {}

  /// Where a graph lies in the model.
  struct Where {
    graph::NodeId control =
        graph::kNone;       ///< the node of the model that runs it; kNone of the model itself
    std::string path = {};  ///< see graph/bodies.h
  };

  void add_graph(const graph::Graph& graph, const compiler::Compilation& untuned,
                 const Where& where) {
    std::vector<const NodeReport*> report_of(graph.nodes.size(), nullptr);
    for (const NodeReport& report : untuned.nodes) report_of[report.id] = &report;
    for (std::size_t i = 0; i < untuned.steps.size(); ++i)
      if (!untuned.om.steps[i].backend->traits().runs && untuned.steps[i].node != graph::kNone)
        report_of[untuned.steps[i].node] = nullptr;  // shares its input's memory
    for (const graph::NodeId id : graph.topological_order()) {
      const graph::Node& node = graph.nodes[static_cast<std::size_t>(id)];
      if (!node.bodies.empty()) {
        add_bodies(node, {where.control == graph::kNone ? id : where.control,
                          graph::name_at(where.path, node.name) + "/"});
      } else if (report_of[id] != nullptr && filter_.passes(graph::name_at(where.path, node.name),
                                                            reference::op_types(node.op))) {
        add_node(graph, *report_of[id], where);
      }
    }
  }

  std::vector<OperatorTask> finish() {
    for (OperatorTask& task : tasks_)
      for (BodyPlace& place : task.in_bodies) place.share /= estimates_ns_[place.control];
    return std::move(tasks_);
  }

 private:
  void add_bodies(const graph::Node& node, const Where& where) {
    for (const auto& body : node.bodies)
      add_graph(*body, compiler::compile(*body, {.soc = soc_}), where);
  }

  void add_node(const graph::Graph& graph, const NodeReport& report, const Where& where) {
    const std::string description =
        compiler::key_of(compiler::task_of(graph, report.id), soc_).description;
    auto known = index_of_.find(description);
    if (known == index_of_.end()) {
      if (!seen_.insert(description).second) return;
      std::optional<OperatorTask> task = operator_task(graph, report, soc_);
      if (!task) return;
      known = index_of_.emplace(description, tasks_.size()).first;
      task->nodes.clear();
      task->ids.clear();
      tasks_.push_back(std::move(*task));
    }
    OperatorTask& task = tasks_[known->second];
    task.nodes.push_back(graph::name_at(where.path, report.node));
    if (where.control == graph::kNone) return task.ids.push_back(report.id);
    const Candidate& made = task.default_candidate;
    const double estimate_ns =
        made.impl->plan(task.task, made.format, soc_)->estimate_ns(made.schedule);
    task.in_bodies.push_back({where.control, estimate_ns});
    estimates_ns_[where.control] += estimate_ns;
  }

  const compiler::Soc& soc_;
  const OpFilter& filter_;
  std::vector<OperatorTask> tasks_;
  std::map<std::string, std::size_t> index_of_;   // by description
  std::set<std::string> seen_;                    // descriptions
  std::map<graph::NodeId, double> estimates_ns_;  // of all tasks in the bodies of a node
};

}  // namespace

std::vector<graph::NodeId> OperatorTask::timed_nodes() const {
  std::vector<graph::NodeId> timed = ids;
  for (const BodyPlace& place : in_bodies)
    if (std::ranges::find(timed, place.control) == timed.end()) timed.push_back(place.control);
  return timed;
}

std::vector<OperatorTask> collect_operators(const graph::Graph& graph,
                                            const compiler::Compilation& untuned,
                                            const compiler::Soc& soc, const OpFilter& filter) {
  OperatorCollector collector(soc, filter);
  collector.add_graph(graph, untuned, {});
  return collector.finish();
}

}  // namespace aoe::tuner
