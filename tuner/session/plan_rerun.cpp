// The fastest plan as it was against the fastest as it is.
#include "tuner/session/plan_rerun.h"

#include <algorithm>
#include <limits>

#include "base/log.h"

namespace aoe::tuner {
namespace {

double ratio_or_infinity(const PlanTrial& trial) {
  return trial.ok ? trial.ratio() : std::numeric_limits<double>::infinity();
}

}  // namespace

PlanRerun::PlanRerun(Finalist& finalist, std::vector<std::size_t> trials,
                     const PlanBenchContext& context, Measurer& measurer)
    : finalist_(finalist),
      trials_(std::move(trials)),
      bench_(*finalist.task, context, measurer, {}),
      before_om_(context.options.work_directory /
                 ("rerun_" + finalist.task->key.repo_key() + "_before.om")),
      after_om_(context.options.work_directory / "rerun_after.om") {
}

Result<void> PlanRerun::prepare() {
  if (auto prepared = bench_.prepare(); !prepared) return prepared;
  const std::size_t fastest = *std::ranges::min_element(
      trials_, {}, [this](std::size_t i) { return ratio_or_infinity(finalist_.trials[i]); });
  return bench_.write(finalist_.trials[fastest].plan, before_om_);
}

Result<void> PlanRerun::race() {
  for (const std::size_t i : trials_) results_.push_back(bench_.measure(finalist_.trials[i].plan));
  const PlanTrial& fastest = *std::ranges::min_element(results_, {}, ratio_or_infinity);
  if (!fastest.ok) return Unexpected(fastest.cause);
  if (auto written = bench_.write(fastest.plan, after_om_); !written) return written;
  const auto comparison = bench_.compare(before_om_, after_om_);
  if (!comparison) return Unexpected(comparison.error());
  logger("tuner")->debug("subgraph={} plan='{}' speedup={:.3f} verdict={} by another Schedule",
                         finalist_.task->nodes.front().front(), graph::to_text(fastest.plan),
                         comparison->speedup, comparison->verdict);
  if (comparison->verdict == "slower") return Unexpected("it is slower than before");
  return {};
}

std::vector<bank::NewRecord> PlanRerun::take_results() {
  for (std::size_t i = 0; i < results_.size(); ++i)
    finalist_.trials[trials_[i]] = std::move(results_[i]);
  return bench_.take_records();
}

}  // namespace aoe::tuner
