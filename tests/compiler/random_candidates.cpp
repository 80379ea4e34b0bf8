// See random_candidates.h.
#include "tests/compiler/random_candidates.h"

namespace aoe::compiler {
namespace {

using tests::Random;

Schedule random_schedule(const Plan& plan, Random& random) {
  constexpr int kAttempts = 16;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    Schedule schedule;
    for (const ScheduleAxis& axis : plan.axes()) schedule[axis.name] = random.pick(axis.values);
    if (plan.is_legal(schedule)) return schedule;
  }
  return plan.heuristic();
}

}  // namespace

std::map<std::string, Candidate> random_candidates(const graph::Graph& graph, const Soc& soc,
                                                   Random& random) {
  std::map<std::string, Candidate> fixed;
  for (const graph::NodeId id : graph.topological_order()) {
    if (random.one_in(6)) continue;
    const Task task = task_of(graph, id);
    if (!task.is_static() || reference::is_kind(task.op.type, reference::OpKind::kControl))
      continue;
    Candidate candidate = random.pick(default_candidates(task, soc));
    if (random.one_in(2))
      candidate.schedule =
          random_schedule(*candidate.impl->plan(task, candidate.format, soc), random);
    fixed.emplace(graph.nodes[id].name, std::move(candidate));
  }
  return fixed;
}

std::string to_text(const std::map<std::string, Candidate>& fixed) {
  std::string text;
  for (const auto& [node, candidate] : fixed) {
    text += node + ": " + std::string(candidate.impl->name()) + " " + candidate.format.name;
    for (const auto& [axis, value] : candidate.schedule)
      text += " " + axis + "=" + std::to_string(value);
    text += "\n";
  }
  return text;
}

}  // namespace aoe::compiler
