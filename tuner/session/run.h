// A tuning run from outside: what it is told, what it says on the way, and how it ended.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "base/gears.h"
#include "base/statistics.h"
#include "compiler/lowering/graph_strategies.h"
#include "compiler/lowering/near_strategies.h"
#include "compiler/soc.h"
#include "graph/graph.h"
#include "tuner/deadline.h"
#include "tuner/policy.h"
#include "tuner/result/aoe_result.h"
#include "tuner/tasks/op_filter.h"

namespace aoe::tuner {

class Fleet;       // tuner/fleet/fleet.h
class JobJournal;  // job_journal.h

enum class Stage { kBaseline, kSearch, kConfirm, kDone };

/// Told on each step; for progress displays.
struct Progress {
  Stage stage = Stage::kBaseline;
  int tasks_done = 0;
  int tasks_total = 0;
  std::string op_name;  ///< the task at hand: its first op, "Conv2D+Relu", "1x64x56x56"
  std::string op_type;
  std::string shape;
  double default_ns = 0;  ///< 0: not known yet
  double best_ns = 0;
  int trials = 0;  ///< of this task
  double elapsed_s = 0;
  double remaining_s = 0;    ///< of the search, an estimate; 0: none yet
  double limit_left_s = -1;  ///< until the run's deadline; negative: it has none
  std::string waiting;       ///< why nothing is measured at the moment; empty: something is
  int known = 0;  ///< tasks that are not searched because the bank knows them; among tasks_done
  int not_searched = 0;  ///< when the search has ended: tasks that are not decided
};

struct TuneOptions {
  compiler::Soc soc;
  Policy policy;
  OpFilter filter;
  bool repeat_tune = false;  ///< REPEAT_TUNE: tune what the bank already knows, too
  bool reload = false;       ///< take measurements of an interrupted run from the bank's records
  /// Written as the run goes on, unless it is nullptr. What it knew when it was opened is part of
  /// this run: not done again, and counted (times, trials, tasks).
  JobJournal* journal = nullptr;
  /// Of a session over several models: descriptions of what was searched, so that it is not searched again for the next of
  /// them, REPEAT_TUNE or not. nullptr: one model.
  std::set<std::string>* searched = nullptr;
  /// Asked for operators that nothing is known of when the tuned om is compiled: those that were not tuned.
  const compiler::NearSource* near = nullptr;
  std::uint64_t seed = 1;
  /// Of the whole run; 0: no limit. A trial is a candidate measured in a search: the races that
  /// close searches repeat measurements and are none. With `reload`, recalled ones count as well.
  std::int64_t max_trials = 0;
  int compile_threads = 1;
  /// Nodes that search operators' tasks, many at once; the run holds its turn (Fleet::lock()). nullptr: the Measurer alone.
  Fleet* fleet = nullptr;
  int fleet_index = 0;  ///< this run's place among those of its soc_version
  /// The same model in float32: as it was before choose_bf16(), or without products of bytes. With it, the tuned om's error
  /// against it is measured and reported.
  const graph::Graph* full_precision = nullptr;
  /// When the graph is that of several gears (graph/import/gears.h): the tuned om is split into them. The
  /// model's times are those of one inference of each gear, one after the other.
  Gears gears;
  /// What the graph bank has done to the graph; for the om's tuning section.
  std::vector<compiler::AppliedSubgraph> subgraphs = {};
  std::string tuning_name;  ///< in the result file
  std::filesystem::path result_path;
  std::filesystem::path work_directory;  ///< for the oms that are measured; exists
  std::filesystem::path tuned_om_path;   ///< written at the end
  /// Of everything, from the baseline to the files: only the compilation of the untuned model is not cut off.
  Deadline deadline = {};
  /// What has elapsed counts from here, as the deadline does; nothing: from the session's own start.
  std::optional<TimePoint> begin = {};
  Now now = std::chrono::steady_clock::now;
  std::stop_token stop;  ///< ends the run soon, with what was won
  /// Once, before anything is measured; not in a run that takes all it needs from the bank.
  std::function<void()> before_measuring;
  std::function<void(const Progress&)> on_progress;
};

/// A task whose strategy is in the bank now; one line of the before/after table.
struct TaskGain {
  std::string repo_key;  ///< what the bank calls the task
  std::string op_name;
  std::string op_type;
  std::string shape;
  int count = 1;         ///< how many ops of the model share it
  std::string strategy;  ///< "direct NC1HWC0"
  double before_ns = 0;
  double after_ns = 0;
  Comparison paired;  ///< of the race that decided
};

/// What became of a task, whether it was won or not.
struct TaskFate {
  std::string repo_key, op_name, op_type, shape;
  int count = 1;
  std::string fate;       ///< name(Decision)
  double model_ns = 0;    ///< of all its ops in one run of the untuned model; 0: not measured
  double default_ns = 0;  ///< by its own race; 0: there was none
  double best_ns = 0;
  int trials = 0;
};

/// What a run has taken.
struct BudgetUsed {
  double elapsed_s = 0;  ///< of the job: with what an interrupted run before it took
  double compile_s = 0;  ///< of it, the compilation of the untuned model
  double search_s = 0;   ///< of it, from the end of the baseline to the confirmation
  double waited_s = 0;   ///< for the machine to be calm, and what was measured again
};

/// What a bank that failed did not take.
struct RescuedBank {
  std::filesystem::path file;  ///< for `aoe_bank import`
  std::string cause;
};

struct TuneOutcome {
  TuningState state = TuningState::kIncomplete;
  RunEnd ended_by = RunEnd::kStopped;
  double baseline_ms = 0;  ///< of the untuned model alone, before the search; 0: not measured
  std::optional<ModelVerdict>
      model;  ///< of the tuned om against the untuned one; nothing: not measured
  std::optional<double> error_against_fp32;  ///< see compiler/precision/mixed_precision.h
  std::vector<TaskGain> gains;               ///< by gain in the whole model, largest first
  std::vector<TaskFate> fates;  ///< of all tasks that were decided, the largest in the model first
  std::vector<std::string> failed_ops;
  int tasks = 0;
  int not_searched = 0;     ///< tasks that are not decided
  int settled = 0;          ///< tasks not searched again: the bank knows how they ended
  std::int64_t trials = 0;  ///< made by this run; at most max_trials
  BudgetUsed used;
  bool om_written = false;           ///< without `model` it is the untuned one
  std::vector<RescuedBank> rescued;  ///< empty: the banks have it all
};

}  // namespace aoe::tuner
