// Oms with one plan of every subgraph, and each subgraph's share of their times.
#include "tuner/session/plan_race.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/error.h"
#include "base/file.h"

namespace aoe::tuner {
namespace {

/// Beside the model as it is: they share memory and the time between two samples.
constexpr std::size_t kOmsAtOnce = 4;

class PlanRace {
 public:
  PlanRace(const std::vector<Entrants>& entrants, const PlanModel& model, Measurer& measurer)
      : entrants_(entrants), model_(model), measurer_(measurer), results_(entrants.size()) {
    for (std::size_t i = 0; i < entrants.size(); ++i) entrant_of_[entrants[i].task] = i;
  }

  Result<std::vector<std::vector<PlanInModel>>> run(int times, const Deadline& until) {
    for (std::size_t i = 0; i < entrants_.size(); ++i) add_to_rows(i);
    for (std::size_t first = 0; first < rows_.size(); first += kOmsAtOnce) {
      if (first > 0 && until.has_passed()) break;
      const std::size_t end = std::min(rows_.size(), first + kOmsAtOnce);
      if (auto raced = race_rows(first, end, times, until); !raced)
        return Unexpected(raced.error());
    }
    return std::move(results_);
  }

 private:
  /// What stands in one om: plans by their entrants, and the steps of control flow that their times are read from.
  struct Row {
    std::map<std::size_t, std::size_t> plan_of;
    std::set<graph::NodeId> controls;
  };

  /// Into the first rows, but not beside a plan for the same bodies: one step has the time of both.
  void add_to_rows(std::size_t entrant) {
    const std::set<graph::NodeId> controls = entrants_[entrant].task->controls();
    const auto is_free = [&](const Row& row) {
      return std::ranges::none_of(
          controls, [&](graph::NodeId control) { return row.controls.contains(control); });
    };
    std::size_t row = 0;
    for (std::size_t plan = 0; plan < entrants_[entrant].plans.size(); ++plan, ++row) {
      while (row < rows_.size() && !is_free(rows_[row])) ++row;
      if (row == rows_.size()) rows_.emplace_back();
      rows_[row].plan_of[entrant] = plan;
      rows_[row].controls.insert(controls.begin(), controls.end());
    }
  }

  /// The plans of a row in one model; where they stand.
  std::vector<Placed> write_row(const Row& row, const std::filesystem::path& om) const {
    std::vector<PlannedSubgraph> plans;
    for (const auto& [entrant, plan] : row.plan_of)
      plans.push_back({entrants_[entrant].task, entrants_[entrant].plans[plan]});
    ConfirmAttempt attempt = with_plans(plans, model_);
    write_file_atomically(om, attempt.om);
    return std::move(attempt.placed);
  }

  Result<void> race_rows(std::size_t first, std::size_t end, int times, const Deadline& until) {
    std::vector<std::vector<Placed>> placed;
    std::vector<std::filesystem::path> oms = {model_.setting.untuned_om};
    for (std::size_t row = first; row < end; ++row) {
      oms.push_back(model_.setting.scratch_directory /
                    ("plans_" + std::to_string(oms.size()) + ".om"));
      try {
        placed.push_back(write_row(rows_[row], oms.back()));
      } catch (const Error& e) {
        if (e.code() == ExitCode::kOutput) throw;
        return Unexpected(e.what());
      }
    }
    for (int time = 0; time < times; ++time) {
      if (time > 0 && until.has_passed()) break;
      const auto timings = measurer_.run_models(oms);
      if (!timings) return Unexpected(timings.error());
      if (model_.setting.is_stopped()) return Unexpected("tuning was stopped");
      for (std::size_t i = 0; i < placed.size(); ++i)
        note(rows_[first + i], placed[i], timings->front(), (*timings)[i + 1]);
    }
    return {};
  }

  void note(const Row& row, const std::vector<Placed>& placed, const ModelTiming& before,
            const ModelTiming& after) {
    for (const Placed& each : placed) {
      if (each.places != each.tunable->places()) continue;
      const std::size_t i = entrant_of_.at(each.tunable);
      add_samples(results_[i], {entrants_[i].plans[row.plan_of.at(i)],
                                share_ns(before, each.before), share_ns(after, each.after)});
    }
  }

  const std::vector<Entrants>& entrants_;
  std::map<const Tunable*, std::size_t> entrant_of_;
  const PlanModel& model_;
  Measurer& measurer_;
  std::vector<Row> rows_;
  std::vector<std::vector<PlanInModel>> results_;
};

}  // namespace

void add_samples(std::vector<PlanInModel>& results, const PlanInModel& more) {
  const auto known = std::ranges::find(results, more.plan, &PlanInModel::plan);
  if (known == results.end()) return results.push_back(more);
  known->before_ns.insert(known->before_ns.end(), more.before_ns.begin(), more.before_ns.end());
  known->after_ns.insert(known->after_ns.end(), more.after_ns.begin(), more.after_ns.end());
}

Result<std::vector<std::vector<PlanInModel>>> race_in_model(const std::vector<Entrants>& entrants,
                                                            const PlanModel& model,
                                                            Measurer& measurer, int times,
                                                            const Deadline& until) {
  return PlanRace(entrants, model, measurer).run(times, until);
}

}  // namespace aoe::tuner
