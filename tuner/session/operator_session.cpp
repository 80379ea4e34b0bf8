// tune_operators(): the order OPAT. Tunables are the model's operators; one is searched and decided alone, and stands in
// the model by the strategies that it is compiled with.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.h"
#include "base/log.h"
#include "compiler/precision/mixed_precision.h"
#include "tuner/search/budget.h"
#include "tuner/session/operator_tuner.h"
#include "tuner/session/session.h"
#include "tuner/session/spread_search.h"
#include "tuner/session/tuning_session.h"

namespace aoe::tuner {
namespace {

/// Whether both begin with the same strategy, or have none.
bool is_same_winner(const std::optional<bank::StrategySet>& stored,
                    std::span<const bank::Strategy> others) {
  if (!stored || stored->strategies.empty()) return others.empty();
  if (others.empty()) return false;
  const bank::Strategy &a = stored->strategies.front(), &b = others.front();
  return a.format == b.format && a.impl == b.impl && a.impl_version == b.impl_version &&
         a.schedule == b.schedule;
}

/// A source in which some tasks have nothing but their default: what the next round compiles with.
class DemotedSource final : public bank::StrategySource {
 public:
  DemotedSource(const bank::StrategySource& source, const std::vector<OperatorTask>& tasks,
                const std::set<std::string>& demoted)
      : source_(source) {
    for (const OperatorTask& task : tasks) {
      if (!demoted.contains(task.key.description)) continue;
      bank::Strategy strategy = compiler::strategy_of(task.default_candidate);
      strategy.measured.time_ns = task.model_ns / task.places();
      defaults_[task.key.description].strategies = {std::move(strategy)};
    }
  }
  std::optional<bank::StrategySet> find(const bank::TaskKey& key) const override {
    const auto demoted = defaults_.find(key.description);
    return demoted != defaults_.end() ? demoted->second : source_.find(key);
  }
  std::string description() const override { return source_.description(); }
  std::optional<bank::Roofs> roofs() const override { return source_.roofs(); }

 private:
  const bank::StrategySource& source_;
  std::map<std::string, bank::StrategySet> defaults_;  ///< of the demoted
};

class OperatorSession final : public TuningSession {
 public:
  OperatorSession(const graph::Graph& graph, bank::KnowledgeBank& bank,
                  const bank::StrategySource* built_in, Measurer& measurer,
                  const TuneOptions& options)
      : TuningSession(graph, bank, bank::BankKind::kOp, built_in, measurer, options),
        knowledge_(bank) {}

 private:
  compiler::CompileOptions compile_options() const override {
    compiler::CompileOptions options = TuningSession::compile_options();
    options.subgraphs = options_.subgraphs;
    return options;
  }

  // ---- tasks and their trials ----

  std::vector<const Tunable*> collect() override {
    tasks_ = collect_operators(graph_, baseline_.compilation, options_.soc, options_.filter);
    has_none_ = tasks_.empty();
    std::vector<const Tunable*> tunables;
    for (OperatorTask& task : tasks_) {
      task.model_ns = sum_of_medians_ns(baseline_.timing, untuned_steps_->of(task.ids));
      for (const BodyPlace& place : task.in_bodies)
        task.model_ns +=
            place.share * sum_of_medians_ns(baseline_.timing, untuned_steps_->of(place.control));
      tunables.push_back(&task);
    }
    return tunables;
  }

  std::map<std::string, int> plan() override {
    tuner_.learn();
    std::vector<double> shares;
    std::vector<bool> is_familiar;
    for (const OperatorTask& task : tasks_) {
      shares.push_back(task.model_ns);
      is_familiar.push_back(tuner_.knows(*task.default_candidate.impl));
    }
    const std::vector<int> trials =
        plan_trials(shares, is_familiar, options_.policy.search, options_.max_trials);
    // An interrupted run has taught the cost model, and would plan less for itself than a whole one.
    planned_ = past_.plan;
    for (std::size_t i = 0; i < tasks_.size(); ++i) {
      const int planned = planned_.emplace(tasks_[i].key.description, trials[i]).first->second;
      planned_total_ += planned;
    }
    planned_left_ = planned_total_;
    return planned_;
  }

  int planned_for(const Tunable& tunable) const { return planned_.at(tunable.key.description); }

  /// What the first tasks of a kind taught the cost model serves those that follow.
  int trials_for(const Tunable& tunable) const override {
    const SearchPolicy& policy = options_.policy.search;
    const int planned = planned_for(tunable);
    const auto is_taught = [&](const compiler::Candidate& candidate) {
      const auto searched = searched_with_.find(candidate.impl->name());
      return searched != searched_with_.end() && searched->second >= policy.teachers;
    };
    if (!std::ranges::all_of(task_of(tunable).heuristics, is_taught)) return planned;
    const int share = static_cast<int>(std::ceil(policy.taught_share * planned));
    return std::min(planned, std::max(policy.batch_size, share));
  }

  double share_left() const override {
    return planned_total_ == 0
               ? 1
               : static_cast<double>(planned_left_) / static_cast<double>(planned_total_);
  }

  // ---- what is known ----

  /// Unless somebody else has changed the bank meanwhile.
  bool settle_as_before(const Tunable& tunable) override {
    const auto found = past_.decided.find(tunable.key.description);
    if (found == past_.decided.end()) return false;
    const auto& [conclusion, before] = found->second;
    const auto stored = bank_.find(tunable.key);
    if (!is_same_winner(stored, conclusion.strategies) &&
        !is_same_winner(stored, before ? before->strategies : std::vector<bank::Strategy>{}))
      return false;
    if (is_win(conclusion.decision)) {
      if (!tunable.accepts(conclusion.strategies.front(), options_.soc)) return false;
      tuner_.note_winner(task_of(tunable), conclusion.strategies.front());
    }
    ledger_.settle(tunable, conclusion, before);
    note_searched(tunable);
    return true;
  }

  /// That nothing beats the default is believed of a search that was not much shorter than ours would be.
  bool is_settled_by(const bank::StrategySet& known, const Tunable& tunable) const override {
    return known.has_winner() ||
           2 * known.strategies.front().measured.trials >= trials_for(tunable);
  }

  void on_settled(const Tunable& tunable, const bank::StrategySet& known) override {
    if (known.has_winner()) tuner_.note_winner(task_of(tunable), known.strategies.front());
  }

  void after(const Tunable& tunable) override { planned_left_ -= planned_for(tunable); }

  // ---- search ----

  Searched search(const Tunable& tunable, const Known& known) override {
    const bank::TaskKey& key = tunable.key;
    OperatorTuningInput input{
        .task = task_of(tunable),
        .known = known,
        .limits = {.trials = trials_for(tunable),
                   .deadline = deadline_of(tunable),
                   .stop = options_.stop},
        .keep_records = [&](std::vector<bank::Record> more) { keep(key, more); },
        .on_batch = [&](const SearchResult& so_far) { show(so_far); }};
    // The bank gets records every few seconds, the journal at once.
    if (const auto more = past_.records.find(key.description);
        options_.reload && more != past_.records.end())
      input.records = more->second;
    if (spread_) {
      spread_->send(tunable, known, tuner_.order(std::move(input), node_time_s(tunable)),
                    end_of_searches());
      return Searched::kElsewhere;
    }
    return settle(tunable, known, tuner_.tune(std::move(input)));
  }

  Searched settle(const Tunable& tunable, const Known& known, const Conclusion& conclusion) {
    const bank::TaskKey& key = tunable.key;
    const bool is_done = conclusion.decision != Decision::kStopped;
    if (is_win(conclusion.decision))
      tuner_.note_winner(task_of(tunable), conclusion.strategies.front());
    if (options_.journal != nullptr && is_done) {
      journal_spent();
      options_.journal->note_conclusion(key, conclusion, known);
    }
    ledger_.settle(tunable, conclusion, known);
    if (is_done) note_searched(tunable);
    return is_done ? Searched::kDecided : Searched::kStopped;
  }

  // ---- elsewhere ----

  void before_search() override {
    if (options_.fleet == nullptr) return;
    spread_.emplace(
        *options_.fleet,
        Fleet::Place{.soc_version = options_.soc.version, .index = options_.fleet_index},
        options_.stop);
    spread_->wait_for_turn();
  }

  bool is_of_others(const Tunable& tunable) override {
    return spread_ && spread_->is_of_others(tunable);
  }

  void finish_elsewhere() override {
    if (!spread_) return;
    spread_->note_submitted();
    take_answers();
    // What models before this one have as well is in the bank, once they have ended.
    const std::vector<const Tunable*> shared = spread_->wait_for_shared(search_deadline());
    if (!shared.empty()) see_what_others_committed();
    for (const Tunable* tunable : shared)
      if (!is_stopped()) tune(*tunable);
    take_answers();
  }

  void see_what_others_committed() {
    try {
      knowledge_.refresh();
    } catch (const Error& e) {
      logger("tuner")->warn("{}; what other models have won is searched again", e.what());
    }
  }

  /// Of a node's time: all tasks together take what they would take alone. 0: no limit.
  double node_time_s(const Tunable& tunable) const {
    constexpr double kLeastSeconds = 5;
    const double limit_s = options_.policy.search.time_limit_s;
    if (limit_s <= 0) return 0;
    const double share_s = task_time_s(limit_s, planned_for(tunable), planned_total_);
    return std::min(limit_s, std::max(kLeastSeconds, share_s));
  }

  /// Races and the answer come behind it.
  Deadline end_of_searches() const {
    constexpr double kMostForSearch = 0.8;
    return Deadline::in(kMostForSearch * search_deadline().left_s(), options_.now);
  }

  void take_answers() {
    for (auto found = spread_->wait(search_deadline()); !found.empty();
         found = spread_->wait(search_deadline())) {
      ledger_.hold();
      for (SpreadSearch::Answered& each : found) {
        begin_progress(*each.tunable);
        take_answer(each);
      }
      ledger_.flush();
    }
    if (is_stopped()) return;
    for (const SpreadSearch::Sent& sent : spread_->give_up()) leave(sent);
  }

  void leave(const SpreadSearch::Sent& sent) {
    note_undecided(*sent.tunable, sent.known, 0);
    after(*sent.tunable);
  }

  void take_answer(SpreadSearch::Answered& found) {
    const Tunable& tunable = *found.tunable;
    if (found.is_expired) return leave(found);
    keep(tunable.key, found.records);
    const bank::TaskKey& key = tunable.key;
    Conclusion& conclusion = found.conclusion;
    const auto foreign = std::ranges::find_if(
        conclusion.strategies,
        [&](const bank::Strategy& each) { return !tunable.accepts(each, options_.soc); });
    if (foreign != conclusion.strategies.end())
      conclusion = {.decision = Decision::kFailed,
                    .cause = "node " + found.node +
                             " has found what cannot be built here: " + to_text(*foreign)};
    if (settle(tunable, found.known, conclusion) == Searched::kStopped) return leave(found);
    if (options_.searched != nullptr) options_.searched->insert(key.description);
    progress_.default_ns = conclusion.default_ns;
    progress_.best_ns = conclusion.best_ns;
    progress_.trials = conclusion.measured;
    report(Stage::kSearch);
    note_decided(tunable);
  }

  void keep(const bank::TaskKey& key, const std::vector<bank::Record>& records) {
    outcome_.trials += std::ssize(records);
    if (options_.journal != nullptr && !records.empty()) {
      journal_spent();
      options_.journal->note_records(key, records);
    }
    ledger_.keep_records(key, records);
  }

  /// The races that close a search come after it.
  Deadline deadline_of(const Tunable& tunable) const {
    if (!search_deadline().is_set()) return {};
    constexpr double kMostForSearch = 0.8;
    const double left_s = search_deadline().left_s();
    return Deadline::in(
        std::min(kMostForSearch * left_s, task_time_s(left_s, planned_for(tunable), planned_left_)),
        options_.now);
  }

  // ---- in the model ----

  ConfirmAttempt compile_without(const std::set<std::string>& demoted) override {
    const DemotedSource strategies(layers_, tasks_, demoted);
    compiler::CompileOptions options = compile_options();
    options.strategies = &strategies;
    options.near = options_.near;
    const compiler::Compilation tuned = compiler::compile(graph_, options);
    const StepIndex steps(graph_, tuned.steps);
    ConfirmAttempt attempt{.om = tuned.om.serialize()};
    const auto formats_before = formats_of(baseline_.compilation), formats = formats_of(tuned);
    for (const OperatorTask& task : tasks_) {
      attempt.placed.push_back({.tunable = &task,
                                .places = task.places(),
                                .before = untuned_steps_->of(task.timed_nodes()),
                                .after = steps.of(task.timed_nodes())});
      // Another Format than in the untuned model is paid for in conversions, which no op's own time shows.
      if (std::ranges::any_of(task.ids,
                              [&](graph::NodeId id) { return formats[id] != formats_before[id]; }))
        attempt.suspects.insert(task.key.description);
    }
    return attempt;
  }

  /// By node.
  std::vector<std::string_view> formats_of(const compiler::Compilation& compilation) const {
    std::vector<std::string_view> formats(graph_.nodes.size());
    for (const compiler::NodeReport& node : compilation.nodes) formats[node.id] = node.format;
    return formats;
  }

  void after_confirmation(const Confirmation& confirmed, Fate) override {
    if (options_.full_precision == nullptr || options_.deadline.left_s() < closing_s()) return;
    try {
      compiler::Compilation exact = compiler::compile(*options_.full_precision, compile_options());
      outcome_.error_against_fp32 = result_.error_against_fp32 = compiler::largest_error(
          std::move(exact.om), runtime::Om::parse(confirmed.om, nullptr, graph_.name),
          options_.soc.threads);
    } catch (const compiler::CutOff&) {
      return;  // not measured
    } catch (const Error& e) {
      logger("tuner")->warn("{}", e.what());  // the model is tuned all the same
    }
  }

  // ---- results ----

  SectionResult* fill_section(AoeResult& result) override {
    if (has_none_) return nullptr;  // a run that ended before it knew has a section that says so
    OperatorResult& section = result.operators.emplace();
    for (const Ledger::Entry& entry : ledger_.entries()) {
      const OperatorTask& task = task_of(*entry.tunable);
      if (is_win(entry.decision))
        for (const std::string& node : task.nodes)
          section.modified.push_back({node, task.op_types, entry.conclusion.gains});
      if (entry.decision == Decision::kFailed)
        section.failed.insert(section.failed.end(), task.nodes.begin(), task.nodes.end());
    }
    outcome_.failed_ops = section.failed;
    return &section;
  }

  static const OperatorTask& task_of(const Tunable& tunable) {
    return static_cast<const OperatorTask&>(tunable);
  }

  void note_searched(const Tunable& tunable) {
    std::set<std::string_view> impls;  // each has a cost model of its own
    for (const compiler::Candidate& candidate : task_of(tunable).heuristics)
      impls.insert(candidate.impl->name());
    for (const std::string_view impl : impls) ++searched_with_[impl];
  }

  bank::KnowledgeBank& knowledge_;
  std::vector<OperatorTask> tasks_;
  bool has_none_ = false;
  std::map<std::string_view, int> searched_with_;  ///< tasks by Impl
  std::map<std::string, int> planned_;             ///< trials by description
  std::int64_t planned_total_ = 0;
  std::int64_t planned_left_ = 0;
  std::optional<SpreadSearch> spread_;  ///< with a fleet
  OperatorTuner tuner_{options_, baseline_, bank_, measurer_};
};

}  // namespace

TuneOutcome tune_operators(const graph::Graph& graph, bank::KnowledgeBank& bank,
                           const bank::StrategySource* built_in, Measurer& measurer,
                           const TuneOptions& options) {
  return OperatorSession(graph, bank, built_in, measurer, options).run();
}

}  // namespace aoe::tuner
