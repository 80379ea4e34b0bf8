// tune_subgraphs(): the order SGAT. Tunables are subgraphs; plans of rewrites are searched alone, decided in the model by
// finals of all subgraphs at once, and put into the model by rewriting it.
#include <algorithm>

#include "base/error.h"
#include "base/hash.h"
#include "base/log.h"
#include "tuner/session/plan_bench.h"
#include "tuner/session/plan_finals.h"
#include "tuner/session/rewritten_node_tuning.h"
#include "tuner/session/session.h"
#include "tuner/session/tuning_session.h"

namespace aoe::tuner {
namespace {

class SubgraphSession final : public TuningSession {
 public:
  SubgraphSession(const SubgraphTuneInput& input, Measurer& measurer, const TuneOptions& options)
      : TuningSession(input.graph, input.graph_bank, bank::BankKind::kGraph, input.built_in,
                      measurer, options),
        in_(input) {
    if (in_.op_bank == nullptr) return;
    op_bank_.emplace(*in_.op_bank, bank::BankKind::kOp, options.result_path);
    op_strategies_.emplace(*op_bank_, *in_.op_strategies);
  }

  TuneOutcome run() override {
    try {
      return TuningSession::run();
    } catch (const std::exception&) {
      has_failed_ = true;
      finish();
      throw;
    }
  }

 private:
  compiler::CompileOptions compile_options() const override {
    compiler::CompileOptions options = TuningSession::compile_options();
    options.strategies = op_strategies_ ? &*op_strategies_ : in_.op_strategies;
    return options;
  }

  std::vector<TuningBank*> banks() override {
    if (!op_bank_) return {&bank_};
    return {&bank_, &*op_bank_};
  }

  // ---- subgraphs ----

  std::vector<const Tunable*> collect() override {
    // What a conversion costs counts for who made the value.
    std::vector<double> node_ns;
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      const auto id = static_cast<graph::NodeId>(i);
      double& ns = node_ns.emplace_back(ns_of(untuned_steps_->of(id)));
      for (const graph::ValueId output : graph_.nodes[i].outputs)
        if (output != graph::kNone) ns += ns_of(untuned_steps_->conversions_of(output));
    }
    times_ = NodeTimes(graph_, std::move(node_ns), options_.soc);
    tasks_ = collect_subgraphs(graph_, options_.soc, times_);
    std::erase_if(tasks_, [this](const SubgraphTask& task) { return !passes_filter(task); });
    std::vector<const Tunable*> tunables;
    for (const SubgraphTask& task : tasks_) tunables.push_back(&task);
    return tunables;
  }

  double ns_of(const std::vector<StepId>& steps) const {
    return sum_of_medians_ns(baseline_.timing, steps);
  }

  bool passes_filter(const SubgraphTask& task) const {
    return std::ranges::any_of(task.instances, [&](const compiler::SubgraphInstance& each) {
      const graph::Graph& graph = graph::graph_at(graph_, each.in);
      const std::string at = graph::text_of(graph_, each.in);
      return std::ranges::any_of(each.form.order, [&](graph::NodeId id) {
        const graph::Node& node = graph.nodes[id];
        return options_.filter.passes(graph::name_at(at, node.name), reference::op_types(node.op));
      });
    });
  }

  bool is_settled_by(const bank::StrategySet&, const Tunable&) const override { return true; }
  int trials_for(const Tunable&) const override { return trials_left(); }

  int trials_left() const {
    const std::int64_t most = options_.policy.search.max_trials;
    if (options_.max_trials <= 0) return static_cast<int>(most);
    return static_cast<int>(
        std::clamp(options_.max_trials - outcome_.trials, std::int64_t{0}, most));
  }

  double share_left() const override {
    const int total = progress_.tasks_total;
    return total == 0 ? 1 : 1 - static_cast<double>(progress_.tasks_done) / total;
  }

  // ---- search ----

  PlanBenchContext bench_context() const {
    return {graph_, compile_options(), baseline_.policy_text, options_};
  }

  Searched search(const Tunable& tunable, const Known& known) override {
    const auto& task = static_cast<const SubgraphTask&>(tunable);
    PlanBench bench(task, bench_context(), measurer_,
                    options_.reload ? bank_.records(task.key) : std::vector<bank::Record>{});
    if (const auto prepared = bench.prepare(); !prepared) {
      ledger_.note_known(task, known);
      logger("tuner")->warn("subgraph of {} cannot be tuned: {}", task.first_node(),
                            prepared.error());
      return Searched::kDecided;
    }
    const PlanSearchLimits limits{.trials = trials_left(),
                                  .patience = options_.policy.search.patience / 2,
                                  .noise = options_.policy.search.noise,
                                  .deadline = search_deadline(),
                                  .stop = options_.stop};
    const std::int64_t trials_before = outcome_.trials;
    const auto measure = [&](const graph::RewritePlan& plan) {
      const PlanTrial trial = bench.measure(plan);
      outcome_.trials = trials_before + bench.measured();
      show_trial(trial);
      return trial;
    };
    PlanSearchResult found =
        search_plans(task.rewrites, measure, limits, options_.seed ^ hash64(task.key.description));
    bank_.commit({.records = bench.take_records()});
    journal_spent();
    if (options_.journal != nullptr) options_.journal->note_spent();
    Finalist finalist{.task = &task, .trials = std::move(found.trials)};
    if (known && known->has_winner())
      finalist.known = *compiler::plan_of(known->strategies.front());
    finalists_.push_back(std::move(finalist));
    known_of_finalists_.push_back(known);
    return Searched::kDecided;
  }

  void show_trial(const PlanTrial& trial) {
    ++progress_.trials;
    if (trial.ok) {
      progress_.default_ns = trial.before_ns;
      if (progress_.best_ns == 0 || trial.time_ns < progress_.best_ns)
        progress_.best_ns = trial.time_ns;
    }
    report(Stage::kSearch);
  }

  void after_search() override {
    tune_rewritten_nodes();
    if (!is_stopped() && !finalists_.empty()) run_finals();
  }

  void tune_rewritten_nodes() {
    if (!op_bank_ || is_time_up()) return;
    rewritten_context_.emplace(bench_context());
    rewritten_nodes_ = find_rewritten_nodes(
        {.finalists = finalists_, .context = *rewritten_context_, .times = times_});
    progress_.tasks_total += static_cast<int>(rewritten_nodes_.size());
    RewrittenNodeTuning& tuning = rewritten_tuning_.emplace(
        *rewritten_context_, RewrittenNodeBanks{.op = *op_bank_, .graph = bank_}, baseline_,
        measurer_);
    for (const RewrittenNode& node : rewritten_nodes_) {
      if (is_stopped() || is_time_up() || trials_left() == 0) break;
      begin_progress(node.task);
      report(Stage::kSearch);
      const SearchLimits limits{.trials = std::min(node.trials, trials_left()),
                                .deadline = search_deadline(),
                                .stop = options_.stop};
      try {
        outcome_.trials += tuning.tune(node, finalists_, limits,
                                       [this](const SearchResult& so_far) { show(so_far); });
      } catch (const compiler::CutOff&) {
        break;
      }
      if (!is_stopped()) ++progress_.tasks_done;
      report(Stage::kSearch);
    }
  }

  // ---- in the model ----

  /// Finals race dozens of plans, four and the untuned model at a time.
  double closing_s() const override {
    constexpr double kRaces = 5, kModels = 5;
    return confirmation_s() +
           kRaces * (kModels * baseline_.measure_s + (kModels - 1) * baseline_.compile_s);
  }

  PlanModel in_model() const {
    return {graph_, compile_options(), *untuned_steps_, confirm_setting()};
  }

  /// With a deadline, they leave the confirmation its time.
  PlanModel in_finals() {
    PlanModel model = in_model();
    Deadline& end = model.setting.deadline;
    constexpr double kMostForConfirmation = 0.4, kShareOfRace = 0.1;
    if (end.is_set())
      end = end.sooner_by(std::min(confirmation_s(), kMostForConfirmation * end.left_s()));
    measurer_.set_bounds({.end = end, .model_s = kShareOfRace * end.left_s()});
    return model;
  }

  void run_finals() {
    report(Stage::kConfirm);
    const VerifyPlan verify = [this](const SubgraphTask& task, const graph::RewritePlan& plan) {
      PlanBench bench(task, bench_context(), measurer_, {});
      if (!bench.prepare()) return false;
      const bool is_right = bench.measure(plan).ok;
      bank_.commit({.records = bench.take_records()});
      return is_right;
    };
    const PlanModel model = in_finals();
    const auto finals = run_finals_in_time(verify, model);
    if (is_stopped()) return;
    if (!finals && model.setting.deadline.has_passed()) return leave_undecided();
    if (!finals)
      throw Error(ExitCode::kFailure, "the rewritten model does not run: " + finals.error(),
                  graph_.name);
    for (std::size_t i = 0; i < finalists_.size(); ++i) {
      const Known& known = known_of_finalists_[i];
      const bank::TaskKey& key = finalists_[i].task->key;
      // A stored plan that this program cannot apply gives way to any other.
      ledger_.settle(*finalists_[i].task, conclude(finalists_[i], (*finals)[i]),
                     known ? known : bank_.find(key));
    }
    write();
  }

  Result<std::vector<std::optional<PlanFinal>>> run_finals_in_time(const VerifyPlan& verify,
                                                                   const PlanModel& model) {
    try {
      return tuner::run_finals(finalists_, verify, model, measurer_);
    } catch (const compiler::CutOff& e) {
      return Unexpected(e.what());
    }
  }

  void leave_undecided() {
    for (std::size_t i = 0; i < finalists_.size(); ++i)
      note_undecided(*finalists_[i].task, known_of_finalists_[i],
                     static_cast<int>(finalists_[i].trials.size()));
    cut_short(RunEnd::kTimeLimit);
  }

  /// What replaces a stored plan must have beaten it.
  Conclusion conclude(const Finalist& finalist, const std::optional<PlanFinal>& final) const {
    const bool had_winner = finalist.known.has_value();
    Conclusion conclusion{.decision = had_winner ? Decision::kReserved : Decision::kUnsatisfied};
    PlanTrial best{.ok = true};
    if (final) {
      best.plan = final->plan;
      best.time_ns = conclusion.best_ns = final->time_ns;
      best.before_ns = conclusion.default_ns = final->before_ns;
    }
    bank::Strategy strategy = measured_strategy(best, bench_context());
    strategy.measured.trials = std::ssize(finalist.trials);
    strategy.provenance = baseline_.origin;
    strategy.provenance.node = finalist.task->first_node();
    strategy.provenance.won.median_ns = best.time_ns;
    strategy.provenance.by_default.median_ns = best.before_ns;
    bool wins = final && final->against_before.is_faster();
    if (wins && had_winner) wins = final->against_known && final->against_known->is_faster();
    if (wins) {
      conclusion.decision = had_winner ? Decision::kUpdate : Decision::kAdd;
      conclusion.paired = final->against_before;
      strategy.measured.verdict = name(Verdict::kFaster);
    } else {
      strategy = finalist.task->default_strategy(strategy);
    }
    conclusion.strategies = {std::move(strategy)};
    return conclusion;
  }

  ConfirmAttempt compile_without(const std::set<std::string>& demoted) override {
    std::vector<PlannedSubgraph> plans;
    std::set<std::string> suspects;
    for (const Ledger::Entry& entry : ledger_.entries()) {
      if (entry.strategies.empty()) continue;
      suspects.insert(entry.tunable->key.description);
      if (demoted.contains(entry.tunable->key.description)) continue;
      plans.push_back({static_cast<const SubgraphTask*>(entry.tunable),
                       *compiler::plan_of(entry.strategies.front())});
    }
    ConfirmAttempt attempt = with_plans(plans, in_model());
    attempt.suspects = std::move(suspects);
    return attempt;
  }

  void after_confirmation(const Confirmation&, Fate fate) override {
    if (rewritten_tuning_) rewritten_tuning_->conclude(fate);
  }

  // ---- results ----

  SectionResult* fill_section(AoeResult& result) override {
    result.subgraphs.reset();
    if (has_failed_) return nullptr;  // documented: no section when the tuning fails
    SubgraphResult& section = result.subgraphs.emplace();
    for (const Ledger::Entry& entry : ledger_.entries())
      if (is_win(entry.decision))
        section.modified.push_back({.repo_key = entry.tunable->key.repo_key(),
                                    .before_ms = entry.conclusion.default_ns / 1e6,
                                    .after_ms = entry.conclusion.best_ns / 1e6,
                                    .is_update = entry.decision == Decision::kUpdate,
                                    .rewrites = entry.tunable->text_of(entry.strategies.front())});
    return &section;
  }

  const SubgraphTuneInput& in_;
  std::optional<TuningBank> op_bank_;
  std::optional<OwnFirst> op_strategies_;
  NodeTimes times_;
  std::vector<SubgraphTask> tasks_;
  std::vector<Finalist> finalists_;
  std::vector<Known> known_of_finalists_;
  std::optional<PlanBenchContext> rewritten_context_;
  std::vector<RewrittenNode> rewritten_nodes_;
  std::optional<RewrittenNodeTuning> rewritten_tuning_;
  bool has_failed_ = false;
};

}  // namespace

TuneOutcome tune_subgraphs(const SubgraphTuneInput& input, Measurer& measurer,
                           const TuneOptions& options) {
  return SubgraphSession(input, measurer, options).run();
}

}  // namespace aoe::tuner
