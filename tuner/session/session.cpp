// tune_operators(): baseline, the search of every task, confirmation in the model, results.
#include "tuner/session/session.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <numeric>

#include "base/error.h"
#include "base/file.h"
#include "base/log.h"
#include "compiler/compiler.h"
#include "tuner/measure/calm_measurer.h"
#include "tuner/measure/statistics.h"
#include "compiler/precision/mixed_precision.h"
#include "tuner/result/aoe_result.h"
#include "tuner/search/budget.h"
#include "tuner/search/cost_model.h"
#include "tuner/session/baseline.h"
#include "tuner/session/confirm.h"
#include "tuner/session/job_journal.h"
#include "tuner/session/ledger.h"
#include "tuner/session/task_progress.h"
#include "tuner/session/task_tuning.h"
#include "tuner/session/tuning_bank.h"
#include "tuner/tasks/neighbours.h"
#include "tuner/tasks/task_list.h"

namespace aoe::tuner {
using Clock = std::chrono::steady_clock;
namespace {

constexpr std::size_t kNeighbourSeeds = 3;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

Clock::time_point ago(double seconds) {
  return Clock::now() -
         std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

bool is_same_work(const bank::Strategy& a, const bank::Strategy& b) {
  return a.format == b.format && a.impl == b.impl && a.impl_version == b.impl_version &&
         a.schedule == b.schedule;
}

/// Whether both begin with the same strategy, or have none.
bool is_same_winner(const std::optional<bank::StrategySet>& stored,
                    std::span<const bank::Strategy> others) {
  if (!stored || stored->strategies.empty()) return others.empty();
  return !others.empty() && is_same_work(stored->strategies.front(), others.front());
}

class OperatorTuning {
 public:
  OperatorTuning(const graph::Graph& graph, bank::KnowledgeBank& bank,
                 const bank::StrategySource* built_in, Measurer& measurer,
                 const TuneOptions& options)
      : graph_(graph),
        bank_(bank, bank::BankKind::kOp, options.result_path),
        layers_(built_in != nullptr ? std::vector<const bank::StrategySource*>{&bank_, built_in}
                                    : std::vector<const bank::StrategySource*>{&bank_}),
        measurer_(measurer),
        options_(options) {}

  TuneOutcome run() {
    outcome_.trials = result_.trials = past_.trials;
    write_result(result_, options_.result_path);
    if (!is_stopped()) measure_untuned();
    if (!is_stopped()) collect();
    if (!is_stopped()) learn_from_bank();
    if (!is_stopped()) plan();
    for (const std::size_t index : order_by_gain(shares_)) {
      if (is_stopped()) break;
      tune(index);
    }
    if (!is_stopped()) confirm();
    finish();
    return std::move(outcome_);
  }

 private:
  bool is_stopped() const { return options_.stop.stop_requested(); }

  // ---- baseline ----

  compiler::CompileOptions compile_options() const {
    compiler::CompileOptions options = compile_options_of(options_);
    options.subgraphs = options_.subgraphs;
    return options;
  }

  void measure_untuned() {
    report(Stage::kBaseline);
    auto baseline = measure_baseline(graph_, compile_options(), measurer_, options_);
    if (!baseline) return;
    baseline_ = std::move(*baseline);
    outcome_.baseline_ms = baseline_.median_ms();
    result_.baseline_ms = outcome_.baseline_ms;
  }

  // ---- tasks ----

  void collect() {
    tasks_ = collect_tasks(graph_, baseline_.compilation, options_.soc, options_.filter);
    std::map<std::string, double> node_ns;
    for (const StepTiming& step : baseline_.timing.steps)
      if (!step.is_conversion && !step.samples_ns.empty())
        node_ns[step.node] += median(step.samples_ns);
    for (TuningTask& task : tasks_) {
      for (const std::string& node : task.nodes) task.model_ns += node_ns[node];
      shares_.push_back(task.model_ns);
    }
    result_.has_tunable_operator = !tasks_.empty();
    outcome_.tasks = static_cast<int>(tasks_.size());
    progress_.tasks_total = outcome_.tasks;
    search_begin_ = ago(past_.search_seconds());
    write_result(result_, options_.result_path);
  }

  /// What earlier runs measured and won, of this model or another.
  void learn_from_bank() {
    cost_model_.learn(lessons_of(bank_.recent_records(CostModel::kMostLessons)));
    for (const bank::BankEntry& entry : bank_.entries())
      if (auto neighbour = neighbour_of(entry)) winners_.push_back(std::move(*neighbour));
  }

  void plan() {
    std::vector<bool> is_familiar;
    for (const TuningTask& task : tasks_)
      is_familiar.push_back(cost_model_.knows(*task.default_candidate.impl));
    planned_ = plan_trials(shares_, is_familiar, options_.policy.search, options_.max_trials);
    keep_to_journaled_plan();
    planned_left_ = planned_total_ =
        std::accumulate(planned_.begin(), planned_.end(), std::int64_t{0});
  }

  /// An interrupted run has taught the cost model, and would plan less for itself than a whole one.
  void keep_to_journaled_plan() {
    if (options_.journal == nullptr) return;
    std::map<std::string, int> plan;
    for (std::size_t i = 0; i < tasks_.size(); ++i) {
      const auto planned = past_.plan.find(tasks_[i].key.description);
      if (planned != past_.plan.end()) planned_[i] = planned->second;
      plan[tasks_[i].key.description] = planned_[i];
    }
    options_.journal->set_spent(seconds_since(begin_), outcome_.trials);
    if (past_.plan.empty()) options_.journal->note_plan(plan);
  }

  void tune(std::size_t index) {
    const TuningTask& task = tasks_[index];
    begin_task(progress_, task);
    report(Stage::kSearch);

    const std::optional<bank::StrategySet> known = find_known(task);
    bool is_done = true;
    if (settle_as_before(task)) {
      // decided by this run before it was interrupted
    } else if (adopt(task, planned_[index])) {
      ++outcome_.settled;
    } else if (known && is_settled_by(*known, planned_[index])) {
      ++outcome_.settled;
      ledger_.note_known(*known);
      remember_winner(task, *known);
    } else if (is_time_up() || planned_[index] == 0) {
      ledger_.note_not_searched(known);
    } else {
      is_done = search(index, known);
    }
    planned_left_ -= planned_[index];
    if (is_done) ++progress_.tasks_done;
    write_result(result_, options_.result_path);
    report(Stage::kSearch);
  }

  /// A task that the run had decided before it was interrupted is settled as it was then, unless
  /// somebody else has changed the bank meanwhile. False: it is still to do.
  bool settle_as_before(const TuningTask& task) {
    const auto found = past_.decided.find(task.key.description);
    if (found == past_.decided.end()) return false;
    const DecidedTask& decided = found->second;
    const auto stored = bank_.find(task.key);
    const auto before = decided.before ? decided.before->strategies : std::vector<bank::Strategy>{};
    if (!is_same_winner(stored, decided.verdict.strategies) && !is_same_winner(stored, before))
      return false;
    TaskVerdict verdict = decided.verdict;
    if (verdict.decision == Decision::kAdd || verdict.decision == Decision::kUpdate) {
      const auto winner =
          compiler::candidate_of(verdict.strategies.front(), task.task, options_.soc);
      if (!winner) return false;
      verdict.winner = *winner;
      winners_.push_back(neighbour_of(task.task, verdict.strategies.front()));
    }
    return ledger_.settle(task, verdict, decided.before);
  }

  /// What the banks have for the task and this program can still build.
  std::optional<bank::StrategySet> find_known(const TuningTask& task) const {
    return if_valid(layers_.find(task.key), task);
  }

  std::optional<bank::StrategySet> if_valid(std::optional<bank::StrategySet> found,
                                            const TuningTask& task) const {
    if (!found || found->strategies.empty()) return std::nullopt;
    const auto valid = compiler::candidate_of(found->strategies.front(), task.task, options_.soc);
    return valid ? found : std::nullopt;
  }

  /// Whether an earlier run has left the task undecided by a model only: this run's model decides.
  bool adopt(const TuningTask& task, int planned_trials) {
    const auto unconfirmed = if_valid(bank_.find_unconfirmed(task.key), task);
    if (!unconfirmed || !is_settled_by(*unconfirmed, planned_trials)) return false;
    ledger_.adopt(task, *unconfirmed);
    remember_winner(task, *unconfirmed);
    return true;
  }

  /// A winner settles a task unless REPEAT_TUNE asks again; that nothing beats the default is
  /// believed of a search that was not much shorter than ours would be.
  bool is_settled_by(const bank::StrategySet& known, int planned_trials) const {
    if (options_.repeat_tune) return false;
    return known.has_winner() || 2 * known.strategies.front().measured.trials >= planned_trials;
  }

  void remember_winner(const TuningTask& task, const bank::StrategySet& known) {
    if (!known.has_winner()) return;
    const auto candidate =
        compiler::candidate_of(known.strategies.front(), task.task, options_.soc);
    if (candidate) winners_.push_back(neighbour_of(task.task, known.strategies.front()));
  }

  bool search(std::size_t index, const std::optional<bank::StrategySet>& known) {
    const TuningTask& task = tasks_[index];
    const TaskTuningContext context{.soc = options_.soc,
                                    .policy = options_.policy,
                                    .policy_text = baseline_.policy_text,
                                    .seed = options_.seed,
                                    .weights_in = baseline_.weights_in,
                                    .cost_model = &cost_model_,
                                    .keep_records =
                                        [&](std::vector<bank::Record> more) {
                                          outcome_.trials += std::ssize(more);
                                          journal(task, more);
                                          ledger_.keep_records(task.key, std::move(more));
                                        },
                                    .on_batch = [&](const SearchResult& so_far) { show(so_far); }};
    const TaskTuningInput input{
        .task = task,
        .neighbours = seeds_from_neighbours(task, winners_, options_.soc, kNeighbourSeeds),
        .banked = known && known->has_winner() ? known : std::nullopt,
        .records = recalled_records(task),
        .limits = {.trials = planned_[index], .deadline = deadline(index), .stop = options_.stop}};
    const TaskVerdict verdict = tune_task(input, measurer_, context);
    result_.trials = outcome_.trials;
    if (verdict.winner)
      winners_.push_back(neighbour_of(task.task, compiler::strategy_of(*verdict.winner)));
    if (options_.journal != nullptr && verdict.decision != Decision::kStopped) {
      options_.journal->set_spent(seconds_since(begin_), outcome_.trials);
      options_.journal->note_verdict(task.key, verdict, known);
    }
    return ledger_.settle(task, verdict, known);
  }

  void journal(const TuningTask& task, const std::vector<bank::Record>& records) {
    if (options_.journal == nullptr || records.empty()) return;
    options_.journal->set_spent(seconds_since(begin_), outcome_.trials);
    options_.journal->note_records(task.key, records);
  }

  /// Of an interrupted run: the bank gets records every few seconds, the journal at once.
  std::vector<bank::Record> recalled_records(const TuningTask& task) const {
    if (!options_.reload) return {};
    std::vector<bank::Record> records = bank_.records(task.key);
    if (const auto more = past_.records.find(task.key.description); more != past_.records.end())
      records.insert(records.end(), more->second.begin(), more->second.end());
    return records;
  }

  bool is_time_up() const {
    const double limit_s = options_.policy.search.time_limit_s;
    return limit_s > 0 && seconds_since(search_begin_) >= limit_s;
  }

  std::optional<Clock::time_point> deadline(std::size_t index) const {
    const double limit_s = options_.policy.search.time_limit_s;
    if (limit_s <= 0) return std::nullopt;
    const double left_s = std::max(0.0, limit_s - seconds_since(search_begin_));
    const std::chrono::duration<double> mine(task_time_s(left_s, planned_[index], planned_left_));
    return Clock::now() + std::chrono::duration_cast<Clock::duration>(mine);
  }

  // ---- confirmation ----

  void confirm() {
    report(Stage::kConfirm);
    compiler::CompileOptions options = compile_options();
    options.strategies = &layers_;
    auto confirmed = confirm_in_model({.graph = graph_,
                                       .compile = options,
                                       .tasks = tasks_,
                                       .setting = {.untuned_om = baseline_.om_path,
                                                   .scratch_directory = options_.work_directory,
                                                   .policy = options_.policy.confirm,
                                                   .is_stopped = [this] { return is_stopped(); }}},
                                      measurer_);
    if (is_stopped()) return;
    if (!confirmed)
      throw Error(ExitCode::kFailure, "the tuned model does not run: " + confirmed.error(),
                  graph_.name);
    if (confirmed->comparison.speedup < 1)
      keep_untuned(*confirmed, baseline_.compilation.om.serialize(), ledger_.won());
    ledger_.confirm(confirmed->demoted);
    outcome_.baseline_ms = confirmed->untuned_ns / 1e6;
    outcome_.result_ms = confirmed->tuned_ns / 1e6;
    outcome_.verdict = confirmed->comparison.verdict;
    result_.baseline_ms = outcome_.baseline_ms;
    result_.result_ms = outcome_.result_ms;
    result_.verdict = outcome_.verdict;
    write_file_atomically(options_.tuned_om_path,
                          om_file_of(*confirmed, graph_.name, options_.gears));
    outcome_.om_written = true;
    if (options_.full_precision != nullptr) measure_error(confirmed->om);
  }

  void measure_error(const std::string& tuned_om) {
    compiler::Compilation exact = compiler::compile(*options_.full_precision, compile_options());
    const double error =
        compiler::largest_error(std::move(exact.om), runtime::Om::parse(tuned_om, nullptr, graph_.name),
                      options_.soc.threads);
    outcome_.error_against_fp32 = result_.error_against_fp32 = error;
  }

  void finish() {
    ledger_.flush();
    outcome_.failed_ops = result_.failed_operators;
    if (outcome_.om_written)
      result_.state = outcome_.failed_ops.empty() ? TuningState::kSuccessful : TuningState::kFailed;
    outcome_.state = result_.state;
    outcome_.gains = ledger_.gains();
    result_.tuning_time_s = seconds_since(begin_);
    write_result(result_, options_.result_path);
    if (auto rescued = bank_.finish()) outcome_.rescued.push_back(std::move(*rescued));
    if (options_.journal != nullptr && result_.state != TuningState::kIncomplete)
      options_.journal->note_end(text(result_.state));
    report(Stage::kDone);
  }

  // ---- progress ----

  void show(const SearchResult& so_far) {
    note_batch(progress_, so_far);
    report(Stage::kSearch);
  }

  void report(Stage stage) {
    if (!options_.on_progress) return;
    progress_.stage = stage;
    progress_.elapsed_s = seconds_since(begin_);
    progress_.remaining_s = stage == Stage::kSearch ? remaining_s() : 0;
    options_.on_progress(progress_);
  }

  /// From the pace so far, per planned trial; not beyond the time limit.
  double remaining_s() const {
    const std::int64_t done = planned_total_ - planned_left_;
    if (done <= 0) return 0;
    const double spent_s = seconds_since(search_begin_);
    const double rest_s = spent_s / static_cast<double>(done) * static_cast<double>(planned_left_);
    const double limit_s = options_.policy.search.time_limit_s;
    return limit_s > 0 ? std::clamp(rest_s, 0.0, std::max(0.0, limit_s - spent_s)) : rest_s;
  }

  const graph::Graph& graph_;
  TuningBank bank_;
  const bank::LayeredSource layers_;
  Measurer& measurer_;
  const TuneOptions& options_;

  const JobPast past_ = options_.journal != nullptr ? options_.journal->past() : JobPast{};
  const Clock::time_point begin_ = ago(past_.seconds);
  Clock::time_point search_begin_ = begin_;
  Baseline baseline_;
  std::vector<TuningTask> tasks_;
  std::vector<double> shares_;  ///< of each task in the untuned model's time, in nanoseconds
  std::vector<int> planned_;    ///< trials by task
  std::int64_t planned_total_ = 0;
  std::int64_t planned_left_ = 0;
  std::vector<Neighbour> winners_;  ///< of this run and of the bank: seeds for the tasks to come
  CostModel cost_model_;

  AoeResult result_ = result_of_run(options_);
  Ledger ledger_{bank_, result_};
  TuneOutcome outcome_;
  Progress progress_;
};

}  // namespace

TuneOutcome tune_operators(const graph::Graph& graph, bank::KnowledgeBank& bank,
                           const bank::StrategySource* built_in, Measurer& measurer,
                           const TuneOptions& options) {
  CalmMeasurer calm(measurer, options.policy.measure, options.stop);
  return OperatorTuning(graph, bank, built_in, calm, options).run();
}

}  // namespace aoe::tuner
