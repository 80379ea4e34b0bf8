// tune_subgraphs(): baseline, the search of every subgraph, confirmation in the model, results.
#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>

#include "base/error.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/log.h"
#include "tuner/measure/calm_measurer.h"
#include "tuner/measure/statistics.h"
#include "tuner/search/plan_search.h"
#include "tuner/session/baseline.h"
#include "tuner/session/job_journal.h"
#include "tuner/session/made_node_tuning.h"
#include "tuner/session/plan_bench.h"
#include "tuner/session/plan_finals.h"
#include "tuner/session/session.h"
#include "tuner/session/subgraph_confirm.h"
#include "tuner/session/subgraph_ledger.h"
#include "tuner/session/task_progress.h"
#include "tuner/session/tuning_bank.h"

namespace aoe::tuner {
using Clock = std::chrono::steady_clock;
namespace {

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

Clock::time_point ago(double seconds) {
  return Clock::now() -
         std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

class SubgraphTuning {
 public:
  SubgraphTuning(const SubgraphTuneInput& input, Measurer& measurer, const TuneOptions& options)
      : in_(input),
        graph_bank_(input.graph_bank, bank::BankKind::kGraph, options.result_path),
        layers_(input.built_in != nullptr
                    ? std::vector<const bank::StrategySource*>{&graph_bank_, input.built_in}
                    : std::vector<const bank::StrategySource*>{&graph_bank_}),
        measurer_(measurer),
        options_(options) {
    if (in_.op_bank == nullptr) return;
    op_bank_.emplace(*in_.op_bank, bank::BankKind::kOp, options.result_path);
    op_strategies_.emplace(*op_bank_, *in_.op_strategies);
  }

  TuneOutcome run() {
    outcome_.trials = result_.trials = past_.trials;
    try {
      write_result(result_, options_.result_path);
      if (!is_stopped()) measure_untuned();
      if (!is_stopped()) collect();
      for (const std::size_t index : by_share()) {
        if (is_stopped()) break;
        tune(tasks_[index]);
      }
      if (!is_stopped()) tune_made_nodes();
      if (!is_stopped()) run_finals();
      if (!is_stopped()) confirm();
    } catch (const std::exception&) {
      result_.subgraphs.reset();  // documented: no section when the tuning fails
      finish();
      throw;
    }
    finish();
    return std::move(outcome_);
  }

 private:
  static AoeResult empty_result(const TuneOptions& options) {
    AoeResult result = result_of_run(options);
    result.subgraphs.emplace();
    return result;
  }

  bool is_stopped() const { return options_.stop.stop_requested(); }
  SubgraphResult& section() { return *result_.subgraphs; }

  compiler::CompileOptions compile_options() const {
    compiler::CompileOptions options = compile_options_of(options_);
    options.strategies = op_strategies_ ? &*op_strategies_ : in_.op_strategies;
    return options;
  }

  // ---- baseline ----

  void measure_untuned() {
    report(Stage::kBaseline);
    auto baseline = measure_baseline(in_.graph, compile_options(), measurer_, options_);
    if (!baseline) return;
    baseline_ = std::move(*baseline);
    outcome_.baseline_ms = baseline_.median_ms();
    section().baseline_ms = outcome_.baseline_ms;
    // A conversion is told by the value it converts: its cost counts for who made the value.
    std::map<std::string, double> step_ns;
    for (const StepTiming& step : baseline_.timing.steps)
      if (!step.samples_ns.empty())
        step_ns[step.is_conversion ? step.node.substr(0, step.node.rfind(':')) : step.node] +=
            median(step.samples_ns);
    for (const graph::Node& node : in_.graph.nodes) {
      double& ns = node_ns_[node.name] = step_ns[node.name];
      for (const graph::ValueId output : node.outputs)
        if (output != graph::kNone && in_.graph.values[output].name != node.name)
          ns += step_ns[in_.graph.values[output].name];
    }
  }

  void collect() {
    tasks_ = collect_subgraphs(in_.graph, options_.soc,
                               [this](const graph::Node& node) { return node_ns_[node.name]; });
    std::erase_if(tasks_, [this](const SubgraphTask& task) { return !passes_filter(task); });
    outcome_.tasks = progress_.tasks_total = static_cast<int>(tasks_.size());
    search_begin_ = ago(past_.search_seconds());
    journal_spent();
    if (options_.journal != nullptr && !past_.seconds_before_search)
      options_.journal->note_plan({});
    write_result(result_, options_.result_path);
  }

  bool passes_filter(const SubgraphTask& task) const {
    if (options_.filter.empty()) return true;
    const std::set<std::string> names(task.nodes.front().begin(), task.nodes.front().end());
    return std::ranges::any_of(in_.graph.nodes, [&](const graph::Node& node) {
      return names.contains(node.name) &&
             options_.filter.passes(node.name, reference::op_types(node.op));
    });
  }

  std::vector<std::size_t> by_share() const {
    std::vector<std::size_t> order(tasks_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, std::ranges::greater{},
                             [this](std::size_t i) { return tasks_[i].model_ns; });
    return order;
  }

  // ---- one subgraph ----

  void tune(const SubgraphTask& task) {
    progress_.op_name = task.nodes.front().front();
    progress_.op_type = task.type_text;
    progress_.default_ns = progress_.best_ns = 0;
    progress_.trials = 0;
    report(Stage::kSearch);
    const auto known = known_plan(task, layers_.find(task.key));
    const bool is_settled = known && !options_.repeat_tune;
    const auto unconfirmed = options_.repeat_tune
                                 ? std::nullopt
                                 : known_plan(task, graph_bank_.find_unconfirmed(task.key));
    if (is_settled || unconfirmed) ++outcome_.settled;
    if (unconfirmed)  // this run's model decides
      ledger_.adopt(task, *unconfirmed);
    else if (is_settled || is_time_up() || trials_left() == 0)
      ledger_.note_not_searched(task, known);
    else
      search(task, known);
    ++progress_.tasks_done;
    write_result(result_, options_.result_path);
    report(Stage::kSearch);
  }

  /// What the banks have for it, if this program can still apply it.
  std::optional<KnownPlan> known_plan(const SubgraphTask& task,
                                      std::optional<bank::StrategySet> set) const {
    if (!set || set->strategies.empty()) return std::nullopt;
    auto plan = graph::plan_from_json(
        nlohmann::json::parse(set->strategies.front().rewrite, nullptr, false));
    if (!plan) return std::nullopt;
    graph::Graph trial = in_.graph;
    if (!graph::apply_plan(trial, task.instances.front().order, *plan)) return std::nullopt;
    return KnownPlan{std::move(*plan), std::move(*set)};
  }

  PlanBenchContext bench_context() const {
    return {in_.graph, compile_options(), baseline_.policy_text, options_};
  }

  void search(const SubgraphTask& task, const std::optional<KnownPlan>& known) {
    PlanBench bench(task, bench_context(), measurer_,
                    options_.reload ? graph_bank_.records(task.key) : std::vector<bank::Record>{});
    if (const auto prepared = bench.prepare(); !prepared) {
      ledger_.note_not_searched(task, known);
      logger("tuner")->warn("subgraph of {} cannot be tuned: {}", task.nodes.front().front(),
                            prepared.error());
      return;
    }
    const PlanSearchLimits limits{.trials = trials_left(),
                                  .patience = options_.policy.search.patience / 2,
                                  .noise = options_.policy.search.noise,
                                  .deadline = deadline(),
                                  .stop = options_.stop};
    const std::int64_t trials_before = outcome_.trials;
    const auto measure = [&](const graph::RewritePlan& plan) {
      const PlanTrial trial = bench.measure(plan);
      outcome_.trials = trials_before + bench.measured();
      show(trial);
      return trial;
    };
    PlanSearchResult found =
        search_plans(task.places, measure, limits, options_.seed ^ hash64(task.key.description));
    graph_bank_.commit({.records = bench.take_records()});
    journal_spent();
    if (options_.journal != nullptr) options_.journal->note_spent();
    const bool has_winner = known && known->has_winner();
    finalists_.push_back(
        {&task, std::move(found.trials), has_winner ? std::optional(known->plan) : std::nullopt});
    known_of_finalists_.push_back(known);
  }

  // ---- nodes that rewrites make ----

  void tune_made_nodes() {
    if (!op_bank_ || is_time_up()) return;
    const PlanBenchContext context = bench_context();
    const auto node_ns = [this](const graph::Node& node) { return node_ns_.at(node.name); };
    const std::vector<MadeNode> nodes =
        find_made_nodes({.finalists = finalists_, .context = context, .node_ns = node_ns});
    progress_.tasks_total += static_cast<int>(nodes.size());
    made_nodes_context_.emplace(context);
    MadeNodeTuning& tuning = made_nodes_.emplace(
        *made_nodes_context_, MadeNodeBanks{.op = *op_bank_, .graph = graph_bank_},
        baseline_.weights_in, measurer_);
    for (const MadeNode& node : nodes) {
      if (is_stopped() || is_time_up() || trials_left() == 0) break;
      begin_task(progress_, node.task);
      report(Stage::kSearch);
      const SearchLimits limits{.trials = std::min(node.trials, trials_left()),
                                .deadline = deadline(),
                                .stop = options_.stop};
      outcome_.trials += tuning.tune(node, finalists_, limits,
                                     [this](const SearchResult& so_far) { show(so_far); });
      if (!is_stopped()) ++progress_.tasks_done;
      report(Stage::kSearch);
    }
  }

  // ---- in the whole model ----

  void run_finals() {
    report(Stage::kConfirm);
    const VerifyPlan verify = [this](const SubgraphTask& task, const graph::RewritePlan& plan) {
      PlanBench bench(task, bench_context(), measurer_, {});
      if (!bench.prepare()) return false;
      const bool is_right = bench.measure(plan).ok;
      graph_bank_.commit({.records = bench.take_records()});
      return is_right;
    };
    const auto finals = tuner::run_finals(finalists_, verify, in_model(), measurer_);
    if (is_stopped()) return;
    if (!finals)
      throw Error(ExitCode::kFailure, "the rewritten model does not run: " + finals.error(),
                  in_.graph.name);
    for (std::size_t i = 0; i < finalists_.size(); ++i)
      ledger_.settle(*finalists_[i].task, known_of_finalists_[i], (*finals)[i],
                     finalists_[i].trials.size(), bench_context());
    write_result(result_, options_.result_path);
  }

  SubgraphConfirmInput in_model() const {
    return {.graph = in_.graph,
            .compile = compile_options(),
            .plans = ledger_.plans(),
            .setting = {.untuned_om = baseline_.om_path,
                        .scratch_directory = options_.work_directory,
                        .policy = options_.policy.confirm,
                        .is_stopped = [this] { return is_stopped(); }}};
  }

  void journal_spent() const {
    if (options_.journal != nullptr)
      options_.journal->set_spent(seconds_since(begin_), outcome_.trials);
  }

  // ---- limits ----

  int trials_left() const {
    const std::int64_t most = options_.policy.search.max_trials;
    if (options_.max_trials <= 0) return static_cast<int>(most);
    return static_cast<int>(
        std::clamp(options_.max_trials - outcome_.trials, std::int64_t{0}, most));
  }

  std::optional<Clock::time_point> deadline() const {
    const double limit_s = options_.policy.search.time_limit_s;
    if (limit_s <= 0) return std::nullopt;
    return search_begin_ +
           std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(limit_s));
  }

  bool is_time_up() const { return deadline() && Clock::now() >= *deadline(); }

  // ---- confirmation ----

  void confirm() {
    report(Stage::kConfirm);
    auto confirmed = confirm_subgraphs(in_model(), measurer_);
    if (is_stopped()) return;
    if (!confirmed)
      throw Error(ExitCode::kFailure, "the tuned model does not run: " + confirmed.error(),
                  in_.graph.name);
    const bool keeps = confirmed->comparison.speedup >= 1;
    if (!keeps) keep_untuned(*confirmed, baseline_.compilation.om.serialize(), ledger_.won());
    ledger_.confirm(confirmed->demoted);
    if (made_nodes_) made_nodes_->confirm(keeps);
    outcome_.baseline_ms = confirmed->untuned_ns / 1e6;
    outcome_.result_ms = confirmed->tuned_ns / 1e6;
    outcome_.verdict = confirmed->comparison.verdict;
    section().baseline_ms = outcome_.baseline_ms;
    section().result_ms = outcome_.result_ms;
    result_.verdict = outcome_.verdict;
    write_file_atomically(options_.tuned_om_path,
                          om_file_of(*confirmed, in_.graph.name, options_.gears));
    outcome_.om_written = true;
  }

  void finish() {
    if (outcome_.om_written) result_.state = TuningState::kSuccessful;
    outcome_.state = result_.state;
    outcome_.gains = ledger_.gains();
    result_.trials = outcome_.trials;
    result_.tuning_time_s = seconds_since(begin_);
    write_result(result_, options_.result_path);
    if (auto rescued = graph_bank_.finish()) outcome_.rescued.push_back(std::move(*rescued));
    if (op_bank_)
      if (auto rescued = op_bank_->finish()) outcome_.rescued.push_back(std::move(*rescued));
    if (options_.journal != nullptr && result_.state != TuningState::kIncomplete) {
      journal_spent();
      options_.journal->note_end(text(result_.state));
    }
    report(Stage::kDone);
  }

  // ---- progress ----

  void show(const PlanTrial& trial) {
    ++progress_.trials;
    if (!trial.ok) return report(Stage::kSearch);
    progress_.default_ns = trial.before_ns;
    if (progress_.best_ns == 0 || trial.time_ns < progress_.best_ns)
      progress_.best_ns = trial.time_ns;
    report(Stage::kSearch);
  }

  void show(const SearchResult& so_far) {
    note_batch(progress_, so_far);
    report(Stage::kSearch);
  }

  void report(Stage stage) {
    if (!options_.on_progress) return;
    progress_.stage = stage;
    progress_.elapsed_s = seconds_since(begin_);
    const int done = progress_.tasks_done, left = progress_.tasks_total - done;
    progress_.remaining_s =
        stage == Stage::kSearch && done > 0 ? seconds_since(search_begin_) / done * left : 0;
    options_.on_progress(progress_);
  }

  const SubgraphTuneInput& in_;
  TuningBank graph_bank_;
  std::optional<TuningBank> op_bank_;
  std::optional<OwnFirst> op_strategies_;
  const bank::LayeredSource layers_;
  Measurer& measurer_;
  const TuneOptions& options_;

  const JobPast past_ = options_.journal != nullptr ? options_.journal->past() : JobPast{};
  const Clock::time_point begin_ = ago(past_.seconds);
  Clock::time_point search_begin_ = begin_;
  Baseline baseline_;
  std::map<std::string, double> node_ns_;  ///< in the untuned model, by name
  std::vector<SubgraphTask> tasks_;
  std::vector<Finalist> finalists_;
  std::vector<std::optional<KnownPlan>> known_of_finalists_;
  AoeResult result_ = empty_result(options_);
  SubgraphLedger ledger_{graph_bank_, section()};
  std::optional<PlanBenchContext> made_nodes_context_;
  std::optional<MadeNodeTuning> made_nodes_;
  TuneOutcome outcome_;
  Progress progress_;
};

}  // namespace

TuneOutcome tune_subgraphs(const SubgraphTuneInput& input, Measurer& measurer,
                           const TuneOptions& options) {
  CalmMeasurer calm(measurer, options.policy.measure, options.stop);
  return SubgraphTuning(input, calm, options).run();
}

}  // namespace aoe::tuner
