// From a plan to its time.
#include "tuner/session/plan_bench.h"

#include <set>

#include "base/error.h"
#include "base/file.h"
#include "base/log.h"
#include "tuner/result/aoe_result.h"

namespace aoe::tuner {
namespace {

PlanTrial recalled(PlanTrial trial, const bank::Record& record) {
  trial.ok = record.status == name(Outcome::kOk);
  trial.cause = record.detail;
  trial.time_ns = record.strategy.measured.time_ns;
  trial.before_ns = record.strategy.measured.default_time_ns;
  return trial;
}

/// Inputs and outputs of a part that have the neighbours' Formats in the model: what converts them
/// is not timed, so it must not decide either. What goes into and comes out of the model, or of a body, is ND.
std::set<std::string> borders_inside(const graph::Graph& part, const graph::Graph& around) {
  std::set<std::string> names;
  for (const graph::ValueId value : part.inputs) names.insert(part.values[value].name);
  for (const graph::ValueId value : part.outputs) names.insert(part.values[value].name);
  for (const graph::ValueId value : around.inputs) names.erase(around.values[value].name);
  for (const graph::ValueId value : around.outputs) names.erase(around.values[value].name);
  return names;
}

}  // namespace

compiler::CompileOptions options_of_part(const graph::Graph& part, const SubgraphTask& task,
                                         const PlanBenchContext& context) {
  compiler::CompileOptions options = context.compile;
  options.free_borders =
      borders_inside(part, graph::graph_at(context.graph, task.instances.front().in));
  return options;
}

bank::Strategy measured_strategy(const PlanTrial& trial, const PlanBenchContext& context) {
  bank::Strategy strategy = strategy_of(trial.plan);
  strategy.measured = {.time_ns = trial.time_ns,
                       .default_time_ns = trial.before_ns,
                       .policy = context.policy_text,
                       .threads = context.options.soc.threads,
                       .when_utc = now_utc()};
  return strategy;
}

PlanBench::PlanBench(const SubgraphTask& task, PlanBenchContext context, Measurer& measurer,
                     const std::vector<bank::Record>& records)
    : task_(task),
      context_(std::move(context)),
      measurer_(measurer),
      reference_om_(context_.options.work_directory /
                    ("subgraph_" + task.key.repo_key() + "_reference.om")),
      before_om_(context_.options.work_directory /
                 ("subgraph_" + task.key.repo_key() + "_before.om")),
      after_om_(context_.options.work_directory / "subgraph_after.om") {
  for (const bank::Record& record : records)
    if (record.strategy.measured.policy == context_.policy_text)
      recalled_.insert_or_assign(record.strategy.rewrite, record);  // the newest counts
}

Result<void> PlanBench::prepare() {
  try {
    const graph::Graph& plain = task_.part;
    const compiler::CompileOptions as_it_is = options_of_part(plain, task_, context_);
    compiler::CompileOptions by_reference = as_it_is;
    const compiler::Impl* reference = compiler::impls().find("reference");
    for (std::size_t i = 0; i < plain.nodes.size(); ++i) {
      const compiler::Task op = compiler::task_of(plain, static_cast<graph::NodeId>(i));
      by_reference.fixed[plain.nodes[i].name] = {
          reference, reference->formats(op, context_.options.soc).front(), {}};
    }
    write_om(plain, by_reference, reference_om_);
    write_om(plain, as_it_is, before_om_);
  } catch (const Error& e) {
    if (e.code() == ExitCode::kOutput) throw;
    return Unexpected(e.what());
  }
  return {};
}

PlanTrial PlanBench::measure(const graph::RewritePlan& plan) {
  PlanTrial trial{.plan = plan};
  if (const auto known = recalled_.find(strategy_of(plan).rewrite); known != recalled_.end())
    return recalled(std::move(trial), known->second);
  bank::Record record{.seed = context_.options.seed};
  Result<void> made;
  try {
    made = write(plan, after_om_);
  } catch (const compiler::CutOff& e) {
    trial.cause = e.what();  // says nothing of the plan
    return trial;
  }
  if (!made) {
    record.status = std::string(name(Outcome::kCompileError));
    record.detail = trial.cause = made.error();
  } else if (read_file(after_om_, ExitCode::kOutput) == read_file(before_om_, ExitCode::kOutput)) {
    trial.cause = "compiles to what is there already";  // a race would show noise
    return trial;
  } else {
    ++measured_;
    const auto [before, after] = race(before_om_, after_om_);
    record.status = std::string(name(after.outcome));
    record.detail = trial.cause = before.ok() ? after.cause : before.cause;
    trial.ok = before.ok() && after.ok();
    if (trial.ok) trial.before_ns = before.median_ns();
    if (trial.ok) trial.time_ns = after.median_ns();
  }
  logger("tuner")->debug("subgraph={} plan='{}' us={:.2f} before_us={:.2f} {} {}",
                         task_.first_node(), graph::to_text(plan), trial.time_ns / 1e3,
                         trial.before_ns / 1e3, record.status, trial.cause);
  record.strategy = measured_strategy(trial, context_);
  if (record.status != name(Outcome::kStopped)) records_.push_back({task_.key, std::move(record)});
  return trial;
}

void PlanBench::write_om(const graph::Graph& graph, const compiler::CompileOptions& options,
                         const std::filesystem::path& path) const {
  write_file_atomically(path, compiler::compile(graph, options).om.serialize());
}

Result<void> PlanBench::write(const graph::RewritePlan& plan,
                              const std::filesystem::path& om) const {
  const auto part = task_.part_with(plan);
  if (!part) return Unexpected(part.error());
  try {
    write_om(*part, options_of_part(*part, task_, context_), om);
  } catch (const Error& e) {
    if (e.code() == ExitCode::kOutput) throw;
    return Unexpected(e.what());
  }
  return {};
}

Result<Comparison> PlanBench::compare(const std::filesystem::path& before,
                                      const std::filesystem::path& after) {
  const auto [a, b] = race(before, after);
  if (!a.ok() || !b.ok()) return Unexpected(a.ok() ? b.cause : a.cause);
  return compare_pairs(a.samples_ns, b.samples_ns, context_.options.policy.confirm.min_gain);
}

std::pair<Timing, Timing> PlanBench::race(const std::filesystem::path& a,
                                          const std::filesystem::path& b) {
  const std::filesystem::path both[] = {a, b};
  std::vector<Timing> timings = measurer_.race_subgraphs(reference_om_, both);
  return {std::move(timings[0]), std::move(timings[1])};
}

}  // namespace aoe::tuner
