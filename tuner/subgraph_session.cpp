// tune_subgraphs(): baseline, the search of every subgraph, confirmation in the model, results.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>

#include "base/error.h"
#include "base/file.h"
#include "base/log.h"
#include "compiler/compiler.h"
#include "tuner/cache_state.h"
#include "tuner/statistics.h"
#include "tuner/subgraph_confirm.h"
#include "tuner/subgraph_search.h"
#include "tuner/subgraph_tuner.h"

namespace aoe::tuner {
using Clock = std::chrono::steady_clock;
namespace {

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

class SubgraphTuning {
 public:
  SubgraphTuning(const SubgraphTuneInput& input, Measurer& measurer, const TuneOptions& options)
      : in_(input),
        layers_(input.built_in != nullptr
                    ? std::vector<const bank::StrategySource*>{&input.graph_bank, input.built_in}
                    : std::vector<const bank::StrategySource*>{&input.graph_bank}),
        measurer_(measurer),
        options_(options) {
    result_.tuning_name = options.tuning_name;
    result_.soc_version = options.soc.version;
    result_.threads = options.soc.threads;
    result_.subgraphs.emplace();
  }

  TuneOutcome run() {
    try {
      write_result(result_, options_.result_path);
      if (!is_stopped()) measure_untuned();
      if (!is_stopped()) collect();
      for (const std::size_t index : by_share()) {
        if (is_stopped()) break;
        tune(tasks_[index]);
      }
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
  bool is_stopped() const { return options_.stop.stop_requested(); }
  SubgraphResult& section() { return *result_.subgraphs; }

  compiler::CompileOptions compile_options() const {
    compiler::CompileOptions options;
    options.soc = options_.soc;
    options.compile_threads = options_.compile_threads;
    options.strategies = in_.op_strategies;
    return options;
  }

  // ---- baseline ----

  void measure_untuned() {
    report(Stage::kBaseline);
    compiler::Compilation untuned = compiler::compile(in_.graph, compile_options());
    untuned_path_ = options_.work_directory / "untuned.om";
    write_file_atomically(untuned_path_, untuned.om.serialize());
    const WeightsIn weights_in =
        resolved(options_.policy.measure.weights_in,
                 untuned.om.weights.size() + untuned.om.arena_bytes, options_.soc);
    measurer_.set_weights_in(weights_in);
    policy_text_ = fmt::format("{} weights_in={}", options_.policy.measure.name, name(weights_in));
    const std::filesystem::path paths[] = {untuned_path_};
    const auto timings = measurer_.run_models(paths);
    if (is_stopped()) return;
    if (!timings)
      throw Error(ExitCode::kFailure, "the untuned model does not run: " + timings.error(),
                  in_.graph.name);
    outcome_.baseline_ms = median(timings->front().samples_ns) / 1e6;
    section().baseline_ms = outcome_.baseline_ms;
    // A conversion is told by the value it converts: its cost counts for who made the value.
    std::map<std::string, double> step_ns;
    for (const StepTiming& step : timings->front().steps)
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
    search_begin_ = Clock::now();
    write_result(result_, options_.result_path);
  }

  bool passes_filter(const SubgraphTask& task) const {
    const OpFilter& filter = options_.filter;
    if (filter.names.empty() && filter.types.empty()) return true;
    const std::set<std::string> names(task.nodes.front().begin(), task.nodes.front().end());
    return std::ranges::any_of(in_.graph.nodes, [&](const graph::Node& node) {
      if (!names.contains(node.name)) return false;
      const auto types = reference::op_types(node.op);
      return filter.names.contains(node.name) ||
             std::ranges::any_of(
                 types, [&](const std::string& type) { return filter.types.contains(type); });
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
    const auto known = known_plan(task);
    if (known && known->second.has_winner()) ++outcome_.bank_hits;
    if (known && !options_.repeat_tune) {
      note_known(task, *known);
    } else if (is_time_up() || trials_left() == 0) {
      known ? note_known(task, *known) : void(++section().summary.unsatisfied);
    } else {
      search(task, known);
    }
    ++progress_.tasks_done;
    write_result(result_, options_.result_path);
    report(Stage::kSearch);
  }

  using Known = std::pair<graph::RewritePlan, bank::StrategySet>;

  /// What the banks have for it and this program can still apply.
  std::optional<Known> known_plan(const SubgraphTask& task) const {
    auto set = layers_.find(task.key);
    if (!set || set->strategies.empty()) return std::nullopt;
    auto plan = graph::plan_from_json(
        nlohmann::json::parse(set->strategies.front().rewrite, nullptr, false));
    if (!plan) return std::nullopt;
    graph::Graph trial = in_.graph;
    if (!graph::apply_plan(trial, task.instances.front().order, *plan)) return std::nullopt;
    return Known{std::move(*plan), std::move(*set)};
  }

  void note_known(const SubgraphTask& task, const Known& known) {
    if (!known.second.has_winner()) {
      ++section().summary.unsatisfied;
      return;
    }
    ++section().summary.reserved;
    plans_.push_back({&task, known.first});
  }

  void search(const SubgraphTask& task, const std::optional<Known>& known) {
    Bench bench(*this, task);
    if (auto failure = bench.prepare()) {
      ++section().summary.unsatisfied;
      logger("tuner")->warn("subgraph of {} cannot be tuned: {}", task.nodes.front().front(),
                            *failure);
      return;
    }
    const PlanSearchLimits limits{.trials = trials_left(),
                                  .patience = options_.policy.search.patience / 2,
                                  .noise = options_.policy.search.noise,
                                  .deadline = deadline(),
                                  .stop = options_.stop};
    const PlanSearchResult found = search_plans(
        task.places, [&](const graph::RewritePlan& plan) { return bench.measure(plan); }, limits,
        options_.seed ^ hash64(task.key.description));
    if (is_stopped()) return in_.graph_bank.commit({.records = bench.take_records()}), void();
    settle(task, known, found, bench);
  }

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

  /// Compiles and measures plans of one subgraph.
  class Bench {
   public:
    Bench(SubgraphTuning& tuning, const SubgraphTask& task)
        : tuning_(tuning), task_(task), directory_(tuning.options_.work_directory) {
      if (!tuning.options_.reload) return;
      for (const bank::Record& record : tuning.in_.graph_bank.records(task.key))
        if (record.strategy.measured.policy == tuning.policy_text_)
          recalled_.emplace(record.strategy.rewrite, record);
    }

    /// The subgraph as it is, and by reference steps; the reason when that does not compile.
    std::optional<std::string> prepare() {
      try {
        const graph::Graph plain = part(tuning_.in_.graph, task_.instances.front());
        compiler::CompileOptions by_reference = tuning_.compile_options();
        const compiler::Impl* reference = compiler::impls().find("reference");
        for (std::size_t i = 0; i < plain.nodes.size(); ++i) {
          const compiler::Task op = compiler::task_of(plain, static_cast<graph::NodeId>(i));
          by_reference.fixed[plain.nodes[i].name] = {
              reference, reference->formats(op, tuning_.options_.soc).front(), {}};
        }
        write_om(plain, by_reference, reference_);
        write_om(plain, tuning_.compile_options(), before_);
      } catch (const Error& e) {
        return e.what();
      }
      return std::nullopt;
    }

    PlanTrial measure(const graph::RewritePlan& plan) {
      PlanTrial trial{.plan = plan};
      const std::string text = graph::to_json(plan).dump();
      if (const auto known = recalled_.find(text); known != recalled_.end())
        return recalled(std::move(trial), known->second);
      bank::Record record{.seed = tuning_.options_.seed};
      if (auto made = write_candidate(plan, after_); !made) {
        record.status = std::string(name(Outcome::kCompileError));
        record.detail = trial.cause = made.error();
      } else {
        ++tuning_.outcome_.trials;
        const auto [before, after] = race(before_, after_);
        record.status = std::string(name(after.outcome));
        record.detail = trial.cause = before.ok() ? after.cause : before.cause;
        trial.ok = before.ok() && after.ok();
        if (trial.ok) trial.before_ns = before.median_ns();
        if (trial.ok) trial.time_ns = after.median_ns();
      }
      logger("tuner")->debug("subgraph={} plan='{}' us={:.2f} before_us={:.2f} {} {}",
                             task_.nodes.front().front(), graph::to_text(plan), trial.time_ns / 1e3,
                             trial.before_ns / 1e3, record.status, trial.cause);
      record.strategy = strategy_of(trial);
      if (record.status != name(Outcome::kStopped))
        records_.push_back({task_.key, std::move(record)});
      tuning_.show(trial);
      return trial;
    }

    /// A race of its own for what won: the best of several is partly the luckiest.
    std::optional<Comparison> compare(const graph::RewritePlan& before,
                                      const graph::RewritePlan& after) {
      const auto other = directory_ / "subgraph_other.om";
      if (!write_candidate(before, other) || !write_candidate(after, after_)) return std::nullopt;
      const auto [a, b] = race(other, after_);
      if (!a.ok() || !b.ok()) return std::nullopt;
      last_before_ns_ = a.median_ns();
      last_after_ns_ = b.median_ns();
      return compare_pairs(a.samples_ns, b.samples_ns, tuning_.options_.policy.confirm.min_gain);
    }
    double last_before_ns() const { return last_before_ns_; }
    double last_after_ns() const { return last_after_ns_; }

    bank::Strategy strategy_of(const PlanTrial& trial) const {
      bank::Strategy strategy{.rewrite = graph::to_json(trial.plan).dump()};
      strategy.impl = "rewrite";
      strategy.measured = {.time_ns = trial.time_ns,
                           .default_time_ns = trial.before_ns,
                           .policy = tuning_.policy_text_,
                           .threads = tuning_.options_.soc.threads,
                           .trials = static_cast<std::int64_t>(records_.size()),
                           .when_utc = now_utc()};
      return strategy;
    }

    std::vector<bank::NewRecord> take_records() { return std::move(records_); }

   private:
    static graph::Graph part(const graph::Graph& graph, const graph::CanonicalForm& form) {
      const auto readers = graph::readers_of_values(graph);
      return graph::extract(graph, graph::subgraph_of(graph, readers, form.order));
    }

    void write_om(const graph::Graph& graph, const compiler::CompileOptions& options,
                  const std::filesystem::path& path) const {
      write_file_atomically(path, compiler::compile(graph, options).om.serialize());
    }

    /// The plan on the subgraph alone; its canonical ids are the part's node ids.
    Result<void> write_candidate(const graph::RewritePlan& plan,
                                 const std::filesystem::path& path) const {
      graph::Graph graph = part(tuning_.in_.graph, task_.instances.front());
      std::vector<graph::NodeId> order(graph.nodes.size());
      std::iota(order.begin(), order.end(), graph::NodeId{0});
      if (auto applied = graph::apply_plan(graph, order, plan); !applied) return applied;
      graph.compact();
      try {
        write_om(graph, tuning_.compile_options(), path);
      } catch (const Error& e) {
        return Unexpected(e.what());
      }
      return {};
    }

    std::pair<Timing, Timing> race(const std::filesystem::path& a, const std::filesystem::path& b) {
      const std::filesystem::path both[] = {a, b};
      std::vector<Timing> timings = tuning_.measurer_.race_subgraphs(reference_, both);
      return {std::move(timings[0]), std::move(timings[1])};
    }

    static PlanTrial recalled(PlanTrial trial, const bank::Record& record) {
      trial.ok = record.status == name(Outcome::kOk);
      trial.cause = record.detail;
      trial.time_ns = record.strategy.measured.time_ns;
      trial.before_ns = record.strategy.measured.default_time_ns;
      return trial;
    }

    SubgraphTuning& tuning_;
    const SubgraphTask& task_;
    const std::filesystem::path directory_;
    const std::filesystem::path reference_ =
        directory_ / ("subgraph_" + task_.key.repo_key() + "_reference.om");
    const std::filesystem::path before_ = directory_ / "subgraph_before.om";
    const std::filesystem::path after_ = directory_ / "subgraph_after.om";
    std::map<std::string, bank::Record> recalled_;  ///< by plan
    std::vector<bank::NewRecord> records_;
    double last_before_ns_ = 0, last_after_ns_ = 0;
  };

  void settle(const SubgraphTask& task, const std::optional<Known>& known,
              const PlanSearchResult& found, Bench& bench) {
    const bool had_winner = known && known->second.has_winner();
    bank::Commit commit{.records = bench.take_records()};
    std::optional<Comparison> verdict;
    if (found.best) verdict = bench.compare({}, found.best->plan);
    bool wins = verdict && verdict->verdict == "faster";
    const double plain_ns = bench.last_before_ns(), best_ns = bench.last_after_ns();
    // What replaces a stored plan must beat it side by side, today.
    if (wins && had_winner && !(found.best->plan == known->first)) {
      const auto against_bank = bench.compare(known->first, found.best->plan);
      wins = against_bank && against_bank->verdict == "faster";
    } else if (had_winner) {
      wins = false;
    }
    RepoSummary& summary = section().summary;
    if (!wins) {
      ++(had_winner ? summary.reserved : summary.unsatisfied);
      if (had_winner) plans_.push_back({&task, known->first});
      if (!had_winner) commit_unsatisfied(task, bench, commit);
      in_.graph_bank.commit(commit);
      return;
    }
    PlanTrial best = *found.best;
    best.before_ns = plain_ns;
    best.time_ns = best_ns;
    bank::Strategy strategy = bench.strategy_of(best);
    strategy.measured.verdict = "faster";
    strategy.measured.trials = static_cast<std::int64_t>(found.trials.size());
    commit.strategies.push_back({task.key, strategy, true});
    in_.graph_bank.commit(commit);
    ++(had_winner ? summary.update : summary.add);
    section().modified.push_back({.repo_key = task.key.repo_key(),
                                  .before_ms = plain_ns / 1e6,
                                  .after_ms = best_ns / 1e6,
                                  .is_update = had_winner,
                                  .rewrites = graph::to_text(best.plan)});
    wins_[task.key.description] = {best, known};
    plans_.push_back({&task, best.plan});
  }

  /// That nothing beats the subgraph as it is, is knowledge, too: the empty plan says so.
  static void commit_unsatisfied(const SubgraphTask& task, const Bench& bench,
                                 bank::Commit& commit) {
    bank::Strategy strategy = bench.strategy_of({});
    strategy.measured.verdict = "same";
    commit.strategies.push_back({task.key, strategy, true});
  }

  // ---- confirmation ----

  void confirm() {
    report(Stage::kConfirm);
    auto confirmed = confirm_subgraphs({.graph = in_.graph,
                                        .compile = compile_options(),
                                        .plans = plans_,
                                        .untuned_om = untuned_path_,
                                        .scratch_directory = options_.work_directory,
                                        .policy = options_.policy.confirm,
                                        .is_stopped = [this] { return is_stopped(); }},
                                       measurer_);
    if (is_stopped()) return;
    if (!confirmed)
      throw Error(ExitCode::kFailure, "the tuned model does not run: " + confirmed.error(),
                  in_.graph.name);
    demote(confirmed->demoted);
    outcome_.baseline_ms = confirmed->untuned_ns / 1e6;
    outcome_.result_ms = confirmed->tuned_ns / 1e6;
    outcome_.verdict = confirmed->comparison.verdict;
    section().baseline_ms = outcome_.baseline_ms;
    section().result_ms = outcome_.result_ms;
    result_.verdict = outcome_.verdict;
    write_file_atomically(options_.tuned_om_path, confirmed->om);
    outcome_.om_written = true;
  }

  /// Takes back what this run won and the model did not confirm; what the bank had before comes back.
  void demote(const std::set<std::string>& descriptions) {
    bank::Commit commit;
    RepoSummary& summary = section().summary;
    for (const std::string& description : descriptions) {
      const auto win = wins_.find(description);
      if (win == wins_.end()) continue;  // not won by this run: others may profit from it
      const auto& [trial, before] = win->second;
      const bank::TaskKey key{description, options_.soc.version};
      commit.withdrawn.push_back(key);
      const bool had_winner = before && before->second.has_winner();
      --(had_winner ? summary.update : summary.add);
      ++(had_winner ? summary.reserved : summary.unsatisfied);
      bank::Strategy plain;
      plain.impl = "rewrite";
      plain.rewrite = graph::to_json(graph::RewritePlan{}).dump();
      plain.measured = {.time_ns = trial.before_ns,
                        .default_time_ns = trial.before_ns,
                        .verdict = "same",
                        .policy = policy_text_,
                        .threads = options_.soc.threads,
                        .when_utc = now_utc()};
      commit.strategies.push_back(
          {key, had_winner ? before->second.strategies.front() : plain, true});
      std::erase_if(section().modified,
                    [&](const ModifiedSubgraph& each) { return each.repo_key == key.repo_key(); });
      wins_.erase(win);
    }
    if (!commit.withdrawn.empty()) in_.graph_bank.commit(commit);
  }

  void finish() {
    if (outcome_.om_written) result_.state = TuningState::kSuccessful;
    outcome_.state = result_.state;
    for (const SubgraphTask& task : tasks_) {
      const auto win = wins_.find(task.key.description);
      if (win == wins_.end()) continue;
      outcome_.gains.push_back({.op_name = task.nodes.front().front(),
                                .op_type = task.type_text,
                                .count = static_cast<int>(task.instances.size()),
                                .strategy = graph::to_text(win->second.first.plan),
                                .before_ns = win->second.first.before_ns,
                                .after_ns = win->second.first.time_ns});
    }
    std::ranges::stable_sort(outcome_.gains, std::ranges::greater{}, [](const TaskGain& gain) {
      return gain.count * (gain.before_ns - gain.after_ns);
    });
    result_.trials = outcome_.trials;
    result_.tuning_time_s = seconds_since(begin_);
    write_result(result_, options_.result_path);
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
  const bank::LayeredSource layers_;
  Measurer& measurer_;
  const TuneOptions& options_;

  const Clock::time_point begin_ = Clock::now();
  Clock::time_point search_begin_ = begin_;
  std::filesystem::path untuned_path_;
  std::string policy_text_;
  std::map<std::string, double> node_ns_;  ///< in the untuned model, by name
  std::vector<SubgraphTask> tasks_;
  std::vector<PlannedSubgraph> plans_;  ///< to be confirmed: this run's and the bank's
  std::map<std::string, std::pair<PlanTrial, std::optional<Known>>> wins_;  ///< by description
  AoeResult result_;
  TuneOutcome outcome_;
  Progress progress_;
};

}  // namespace

TuneOutcome tune_subgraphs(const SubgraphTuneInput& input, Measurer& measurer,
                           const TuneOptions& options) {
  return SubgraphTuning(input, measurer, options).run();
}

}  // namespace aoe::tuner
