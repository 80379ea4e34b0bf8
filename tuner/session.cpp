// tune_operators(): baseline, the search of every task, confirmation in the model, results.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <numeric>

#include "base/error.h"
#include "base/file.h"
#include "base/log.h"
#include "compiler/compiler.h"
#include "tuner/aoe_result.h"
#include "tuner/budget.h"
#include "tuner/confirm.h"
#include "tuner/statistics.h"
#include "tuner/task_list.h"
#include "tuner/task_tuning.h"
#include "tuner/tuner.h"

namespace aoe::tuner {
using Clock = std::chrono::steady_clock;
namespace {

/// A commit syncs the disk; measurements of a task are gathered at most so long before one.
constexpr double kRecordCommitInterval_s = 10;
constexpr std::size_t kNeighbourSeeds = 4;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

class OperatorTuning {
 public:
  OperatorTuning(const graph::Graph& graph, bank::KnowledgeBank& bank,
                 const bank::StrategySource* built_in, Measurer& measurer,
                 const TuneOptions& options)
      : graph_(graph), bank_(bank), built_in_(built_in), measurer_(measurer), options_(options) {
    result_.tuning_name = options.tuning_name;
    result_.soc_version = options.soc.version;
    result_.threads = options.soc.threads;
  }

  TuneOutcome run() {
    write_result(result_, options_.result_path);
    measure_untuned();
    collect();
    for (const std::size_t index : order_by_gain(shares_)) {
      if (options_.stop.stop_requested()) break;
      tune(index);
    }
    if (!options_.stop.stop_requested()) confirm();
    finish();
    return std::move(outcome_);
  }

 private:
  // ---- baseline ----

  compiler::CompileOptions compile_options() const {
    compiler::CompileOptions options;
    options.soc = options_.soc;
    options.compile_threads = options_.compile_threads;
    return options;
  }

  void measure_untuned() {
    progress_.stage = Stage::kBaseline;
    report();
    untuned_ = compiler::compile(graph_, compile_options());
    untuned_path_ = options_.work_directory / "untuned.om";
    write_file_atomically(untuned_path_, untuned_.om.serialize());
    decide_weights_place();
    const std::filesystem::path paths[] = {untuned_path_};
    const auto timings = measurer_.run_models(paths);
    if (options_.stop.stop_requested()) return;
    if (!timings)
      throw Error(ExitCode::kFailure, "the untuned model does not run: " + timings.error(),
                  graph_.name);
    untuned_timing_ = timings->front();
    outcome_.baseline_ms = median(untuned_timing_.samples_ns) / 1e6;
    result_.baseline_ms = outcome_.baseline_ms;
    logger("tuner")->info("model={} untuned_ms={:.3f} weights_in={}", graph_.name,
                          outcome_.baseline_ms, name(weights_in_));
  }

  /// A model that fits into the L3 cache finds its weights there at the next run; a larger one has evicted them.
  void decide_weights_place() {
    weights_in_ = options_.policy.measure.weights_in;
    if (weights_in_ == WeightsIn::kAuto) {
      const double model_bytes =
          static_cast<double>(untuned_.om.weights.size() + untuned_.om.arena_bytes);
      weights_in_ = model_bytes < static_cast<double>(options_.soc.l3_bytes) ? WeightsIn::kL3
                                                                             : WeightsIn::kMemory;
    }
    measurer_.set_weights_in(weights_in_);
    policy_text_ = fmt::format("{} weights_in={}", options_.policy.measure.name, name(weights_in_));
  }

  // ---- tasks ----

  void collect() {
    if (options_.stop.stop_requested()) return;
    tasks_ = collect_tasks(graph_, untuned_, options_.soc, options_.filter);
    std::map<std::string, double> node_ns;
    for (const StepTiming& step : untuned_timing_.steps)
      if (!step.is_conversion && !step.samples_ns.empty())
        node_ns[step.node] += median(step.samples_ns);
    for (TuningTask& task : tasks_) {
      for (const std::string& node : task.nodes) task.model_ns += node_ns[node];
      shares_.push_back(task.model_ns);
    }
    planned_ = plan_trials(shares_, options_.policy.search, options_.max_trials);
    planned_left_ = std::accumulate(planned_.begin(), planned_.end(), std::int64_t{0});
    result_.has_tunable_operator = !tasks_.empty();
    outcome_.tasks = static_cast<int>(tasks_.size());
    progress_.tasks_total = outcome_.tasks;
    search_begin_ = Clock::now();
    write_result(result_, options_.result_path);
  }

  // ---- one task ----

  void tune(std::size_t index) {
    const TuningTask& task = tasks_[index];
    progress_.stage = Stage::kSearch;
    progress_.op_name = task.nodes.front();
    progress_.op_type = task.type_text();
    progress_.shape = task.shape_text();
    progress_.default_ns = progress_.best_ns = 0;
    progress_.trials = 0;
    report();

    const std::optional<bank::StrategySet> banked = find_banked(task);
    if (banked) ++outcome_.bank_hits;
    const std::vector<bank::Record> records =
        options_.reload ? bank_.records(task.key) : std::vector<bank::Record>{};
    if (banked && !options_.repeat_tune) {
      ++result_.summary.reserved;
      with_strategy_.push_back(index);
      remember(task, banked->strategies.front());
    } else if (!banked && was_decided(records, policy_text_, options_.soc.threads)) {
      ++result_.summary.unsatisfied;
    } else {
      search(index, banked, records);
    }
    planned_left_ -= planned_[index];
    ++progress_.tasks_done;
    write_result(result_, options_.result_path);
    report();
  }

  std::optional<bank::StrategySet> find_banked(const TuningTask& task) const {
    auto found = bank_.find(task.key);
    if (!found && built_in_ != nullptr) found = built_in_->find(task.key);
    if (!found || found->strategies.empty()) return std::nullopt;
    const auto valid = compiler::candidate_of(found->strategies.front(), task.task, options_.soc);
    return valid ? found : std::nullopt;
  }

  void search(std::size_t index, const std::optional<bank::StrategySet>& banked,
              const std::vector<bank::Record>& records) {
    const TuningTask& task = tasks_[index];
    const TaskTuningContext context{
        .soc = options_.soc,
        .policy = options_.policy,
        .policy_text = policy_text_,
        .seed = options_.seed,
        .keep_records =
            [&](std::vector<bank::Record> more) { keep_records(task.key, std::move(more)); },
        .on_batch = [&](const SearchResult& so_far) { show(so_far); }};
    const TaskTuningInput input{
        .task = task,
        .neighbours = seeds_from_neighbours(task, winners_, options_.soc, kNeighbourSeeds),
        .banked = banked,
        .records = records,
        .limits = {.trials = planned_[index], .deadline = deadline(index), .stop = options_.stop}};
    const TaskVerdict verdict = tune_task(input, measurer_, context);
    outcome_.trials += verdict.measured;
    result_.trials = outcome_.trials;
    settle(index, verdict, banked);
  }

  /// A task that comes after the time is up still gets its default and seeds measured, so that each one has an answer.
  std::optional<Clock::time_point> deadline(std::size_t index) const {
    const double limit_s = options_.policy.search.time_limit_s;
    if (limit_s <= 0) return std::nullopt;
    const double left_s = std::max(0.0, limit_s - seconds_since(search_begin_));
    const double mine_s = task_time_s(left_s, planned_[index], planned_left_);
    return Clock::now() +
           std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(mine_s));
  }

  void settle(std::size_t index, const TaskVerdict& verdict,
              const std::optional<bank::StrategySet>& banked) {
    const TuningTask& task = tasks_[index];
    bank::Commit commit;
    for (const bank::Record& record : verdict.race_records) pending_.push_back({task.key, record});
    switch (verdict.decision) {
      case Decision::kStopped:
        break;
      case Decision::kFailed:
        ++result_.summary.unsatisfied;
        outcome_.failed_ops.insert(outcome_.failed_ops.end(), task.nodes.begin(), task.nodes.end());
        result_.failed_operators = outcome_.failed_ops;
        logger("tuner")->warn("op={} cannot be tuned: {}", task.nodes.front(), verdict.cause);
        break;
      case Decision::kUnsatisfied:
        ++result_.summary.unsatisfied;
        break;
      case Decision::kReserved:
        ++result_.summary.reserved;
        with_strategy_.push_back(index);
        break;
      case Decision::kAdd:
      case Decision::kUpdate: {
        const bool is_update = verdict.decision == Decision::kUpdate;
        ++(is_update ? result_.summary.update : result_.summary.add);
        for (const bank::Strategy& strategy : verdict.strategies)
          commit.strategies.push_back({task.key, strategy, is_update});
        with_strategy_.push_back(index);
        won_[index] = {verdict, banked};
        winners_.push_back({&task, *verdict.winner});
        result_.modified.push_back({task.nodes.front(), task.op_types, verdict.gains});
        break;
      }
    }
    commit_to_bank(std::move(commit));
  }

  void remember(const TuningTask& task, const bank::Strategy& strategy) {
    const auto candidate = compiler::candidate_of(strategy, task.task, options_.soc);
    if (candidate) winners_.push_back({&task, *candidate});
  }

  // ---- bank ----

  void keep_records(const bank::TaskKey& key, std::vector<bank::Record> records) {
    for (bank::Record& record : records) pending_.push_back({key, std::move(record)});
    if (seconds_since(last_commit_) > kRecordCommitInterval_s) commit_to_bank({});
  }

  /// With all records that wait.
  void commit_to_bank(bank::Commit commit) {
    commit.records = std::move(pending_);
    pending_.clear();
    last_commit_ = Clock::now();
    if (commit.strategies.empty() && commit.records.empty() && commit.withdrawn.empty()) return;
    bank_.commit(commit);
  }

  // ---- confirmation ----

  void confirm() {
    progress_.stage = Stage::kConfirm;
    report();
    std::vector<TuningTask> tasks;
    for (const std::size_t index : with_strategy_) tasks.push_back(tasks_[index]);
    std::vector<const bank::StrategySource*> layers = {&bank_};
    if (built_in_ != nullptr) layers.push_back(built_in_);
    const bank::LayeredSource strategies(std::move(layers));
    compiler::CompileOptions options = compile_options();
    options.strategies = &strategies;
    auto confirmed =
        confirm_in_model({.graph = graph_,
                          .compile = options,
                          .tasks = tasks,
                          .untuned_om = untuned_path_,
                          .scratch_directory = options_.work_directory,
                          .policy = options_.policy.confirm,
                          .is_stopped = [this] { return options_.stop.stop_requested(); }},
                         measurer_);
    if (options_.stop.stop_requested()) return;
    if (!confirmed)
      throw Error(ExitCode::kFailure, "the tuned model does not run: " + confirmed.error(),
                  graph_.name);
    if (confirmed->comparison.verdict == "slower") keep_untuned(*confirmed);
    withdraw(confirmed->demoted);
    outcome_.baseline_ms = confirmed->untuned_ns / 1e6;
    outcome_.result_ms = confirmed->tuned_ns / 1e6;
    outcome_.verdict = confirmed->comparison.verdict;
    result_.baseline_ms = outcome_.baseline_ms;
    result_.result_ms = outcome_.result_ms;
    result_.verdict = outcome_.verdict;
    write_file_atomically(options_.tuned_om_path, confirmed->om);
    outcome_.om_written = true;
  }

  /// Rounds were used up and the whole is still slower than what it should replace.
  void keep_untuned(Confirmation& confirmation) const {
    logger("tuner")->warn("the tuned model is slower than the untuned one, which is kept");
    confirmation.om = untuned_.om.serialize();
    confirmation.tuned_ns = confirmation.untuned_ns;
    confirmation.comparison = {.speedup = 1, .low = 1, .high = 1, .verdict = "same"};
    for (const auto& [index, win] : won_)
      confirmation.demoted.insert(tasks_[index].key.description);
  }

  /// Takes back what this run won and the model did not confirm. What the bank had before comes back.
  void withdraw(const std::set<std::string>& demoted) {
    bank::Commit commit;
    for (auto win = won_.begin(); win != won_.end();) {
      const TuningTask& task = tasks_[win->first];
      if (!demoted.contains(task.key.description)) {
        ++win;
        continue;
      }
      commit.withdrawn.push_back(task.key);
      const bool is_update = win->second.verdict.decision == Decision::kUpdate;
      --(is_update ? result_.summary.update : result_.summary.add);
      ++(is_update ? result_.summary.reserved : result_.summary.unsatisfied);
      if (is_update)
        for (const bank::Strategy& strategy : win->second.banked->strategies)
          commit.strategies.push_back({task.key, strategy, true});
      std::erase_if(result_.modified,
                    [&](const ModifiedOperator& op) { return op.op_name == task.nodes.front(); });
      win = won_.erase(win);
    }
    commit_to_bank(std::move(commit));
  }

  // ---- end ----

  void finish() {
    commit_to_bank({});
    const bool is_complete = outcome_.om_written;
    if (is_complete)
      result_.state = outcome_.failed_ops.empty() ? TuningState::kSuccessful : TuningState::kFailed;
    outcome_.state = result_.state;
    result_.tuning_time_s = seconds_since(begin_);
    for (const auto& [index, win] : won_)
      outcome_.gains.push_back(gain_of(tasks_[index], win.verdict));
    std::ranges::stable_sort(outcome_.gains, std::ranges::greater{}, [](const TaskGain& g) {
      return g.count * (g.before_ns - g.after_ns);
    });
    write_result(result_, options_.result_path);
    progress_.stage = Stage::kDone;
    report();
  }

  static TaskGain gain_of(const TuningTask& task, const TaskVerdict& verdict) {
    return {
        .op_name = task.nodes.front(),
        .op_type = task.type_text(),
        .shape = task.shape_text(),
        .count = static_cast<int>(task.nodes.size()),
        .strategy = fmt::format("{} {}", verdict.winner->impl->name(), verdict.winner->format.name),
        .before_ns = verdict.default_ns,
        .after_ns = verdict.best_ns};
  }

  // ---- progress ----

  void show(const SearchResult& so_far) {
    progress_.trials = static_cast<int>(so_far.trials.size());
    if (!so_far.trials.empty() && so_far.default_trial().timing.ok())
      progress_.default_ns = so_far.default_trial().timing.median_ns();
    if (const Trial* best = so_far.best()) progress_.best_ns = best->timing.median_ns();
    report();
  }

  void report() {
    if (!options_.on_progress) return;
    progress_.elapsed_s = seconds_since(begin_);
    progress_.remaining_s = remaining_s();
    options_.on_progress(progress_);
  }

  /// From the pace so far, per planned trial; not beyond the time limit.
  double remaining_s() const {
    const std::int64_t planned = std::accumulate(planned_.begin(), planned_.end(), std::int64_t{0});
    const std::int64_t done = planned - planned_left_;
    if (progress_.stage != Stage::kSearch || done <= 0) return 0;
    const double spent_s = seconds_since(search_begin_);
    const double rest_s = spent_s / static_cast<double>(done) * static_cast<double>(planned_left_);
    const double limit_s = options_.policy.search.time_limit_s;
    return limit_s > 0 ? std::clamp(rest_s, 0.0, std::max(0.0, limit_s - spent_s)) : rest_s;
  }

  struct Win {
    TaskVerdict verdict;
    std::optional<bank::StrategySet> banked;  ///< what it replaced
  };

  const graph::Graph& graph_;
  bank::KnowledgeBank& bank_;
  const bank::StrategySource* built_in_;
  Measurer& measurer_;
  const TuneOptions& options_;

  const Clock::time_point begin_ = Clock::now();
  Clock::time_point search_begin_ = begin_;
  Clock::time_point last_commit_ = begin_;
  compiler::Compilation untuned_;
  std::filesystem::path untuned_path_;
  ModelTiming untuned_timing_;
  WeightsIn weights_in_ = WeightsIn::kMemory;
  std::string policy_text_;

  std::vector<TuningTask> tasks_;
  std::vector<double> shares_;  ///< of each task in the untuned model's time, in nanoseconds
  std::vector<int> planned_;    ///< trials by task
  std::int64_t planned_left_ = 0;
  std::vector<std::size_t> with_strategy_;  ///< tasks the bank has a strategy for now
  std::map<std::size_t, Win> won_;          ///< in this run
  std::vector<Winner> winners_;             ///< seeds for the tasks to come
  std::vector<bank::NewRecord> pending_;

  AoeResult result_;
  TuneOutcome outcome_;
  Progress progress_;
};

}  // namespace

TuneOutcome tune_operators(const graph::Graph& graph, bank::KnowledgeBank& bank,
                           const bank::StrategySource* built_in, Measurer& measurer,
                           const TuneOptions& options) {
  return OperatorTuning(graph, bank, built_in, measurer, options).run();
}

}  // namespace aoe::tuner
