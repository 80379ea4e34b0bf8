// Search, race and decision for one operator's task.
#include "tuner/session/operator_tuning.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <map>
#include <set>

#include "base/check.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/statistics.h"
#include "graph/precision.h"
#include "tuner/session/attribution.h"

namespace aoe::tuner {
using bank::Record;
using bank::Strategy;
using compiler::Candidate;
namespace {

bank::SampleSummary summary_of(const Timing& timing) {
  if (timing.samples_ns.empty()) return {};
  return {timing.median_ns(), quartile_range(timing.samples_ns),
          static_cast<std::int64_t>(timing.samples_ns.size())};
}

class OperatorTuning {
 public:
  OperatorTuning(const OperatorTuningInput& input, Measurer& measurer,
                 const OperatorTuningContext& context)
      : in_(input), task_(input.task), measurer_(measurer), context_(context) {}

  Conclusion run() {
    recall_records();
    find_banked();
    search_candidates();
    Conclusion conclusion;
    conclusion.measured = result_.measured;
    if (result_.ended_by == "stopped") return conclusion;
    const Trial& by_default = result_.default_trial();
    if (!by_default.timing.ok()) {
      fail(conclusion, by_default.timing);
      return conclusion;
    }
    race();
    decide(conclusion);
    return conclusion;
  }

 private:
  struct Racer {
    Candidate candidate;
    Timing timing;
  };

  // ---- search ----

  void recall_records() {
    for (const Record& record : in_.records) {
      const bank::Measurement& m = record.strategy.measured;
      if (m.policy != context_.policy_text || m.threads != context_.soc.threads) continue;
      const auto outcome = outcome_from_name(record.status);
      if (!outcome || *outcome == Outcome::kStopped) continue;
      Timing timing = Timing::failure(*outcome, record.detail);
      if (*outcome == Outcome::kOk) timing.samples_ns = {m.time_ns};
      recalled_[to_text(record.strategy)] = std::move(timing);
    }
  }

  void find_banked() {
    if (!in_.known || !in_.known->has_winner()) return;
    const Result<Candidate> candidate =
        compiler::candidate_of(in_.known->strategies.front(), task_.task, context_.soc);
    if (candidate)
      banked_ = *candidate;
    else
      logger("tuner")->info("op={} banked strategy is no longer valid: {}", task_.nodes.front(),
                            candidate.error());
  }

  void search_candidates() {
    std::vector<Candidate> seeds;
    if (banked_) seeds.push_back(*banked_);
    seeds.insert(seeds.end(), in_.seeds.begin(), in_.seeds.end());
    const SearchTask what{.task = task_.task,
                          .soc = context_.soc,
                          .default_candidate = task_.default_candidate,
                          .seeds = std::move(seeds),
                          .heuristics = task_.heuristics,
                          .experience = context_.cost_model,
                          .weights_in = context_.policy.measure.weights_in,
                          .least_ns = least_ns(),
                          .recall = [this](const Candidate& c) { return recall(c); },
                          .on_batch = [this](const SearchResult& so_far,
                                             std::size_t added) { on_batch(so_far, added); }};
    // The task decides the draws, not its place in the list: a search can be replayed alone.
    Random random(context_.seed ^ hash64(task_.key.description));
    result_ = search(what, measurer_, context_.policy.search, in_.limits, random);
    logger("tuner")->debug("op={} trials={} ended_by={}", task_.nodes.front(),
                           result_.trials.size(), result_.ended_by);
    if (context_.cost_model) context_.cost_model->learn(lessons());
  }

  /// What the multiply-adds take at the machine's peak; 0 where that is no bound: an Impl that saves
  /// arithmetic takes part (its sums' errors grow, see Impl::error_growth()), or the numbers are not
  /// float32 throughout.
  double least_ns() const {
    const auto is_float = [](const TensorDesc& desc) {
      return desc.dtype == DataType::kFloat || desc.dtype == DataType::kUndefined;
    };
    const compiler::Task& task = task_.task;
    const auto saves_arithmetic = [&](const Candidate& c) {
      return c.impl->error_growth(task) > 1;
    };
    if (context_.peak_gflops <= 0 || graph::allows_bf16(task.op) || graph::allows_fp16(task.op) ||
        !std::ranges::all_of(task.inputs, is_float, &compiler::TaskInput::desc) ||
        !std::ranges::all_of(task.outputs, is_float) ||
        std::ranges::any_of(task_.heuristics, saves_arithmetic))
      return 0;
    return compiler::flops(task) / context_.peak_gflops;
  }

  /// 0 when it failed: nothing can be compared with it.
  static double default_ns(const SearchResult& result) {
    if (result.trials.empty() || !result.default_trial().timing.ok()) return 0;
    return result.default_trial().timing.median_ns();
  }

  std::vector<Lesson> lessons() const {
    std::vector<Lesson> list;
    const double by_default_ns = default_ns(result_);
    for (const Trial& trial : result_.trials)
      if (auto lesson =
              lesson_of(*trial.candidate.impl, trial.features, trial.timing, by_default_ns))
        list.push_back(std::move(*lesson));
    return list;
  }

  std::optional<Timing> recall(const Candidate& candidate) const {
    const auto found = recalled_.find(to_text(candidate));
    if (found == recalled_.end()) return std::nullopt;
    return found->second;
  }

  void on_batch(const SearchResult& so_far, std::size_t added) {
    std::vector<Record> records;
    for (const Trial& trial : std::span(so_far.trials).last(added)) {
      if (trial.is_recalled) continue;
      records.push_back(record_of(strategy_with_time(trial.candidate, trial.timing), trial.timing));
      records.back().strategy.measured.default_time_ns = default_ns(so_far);
      records.back().features = trial.features;
    }
    in_.keep_records(std::move(records));
    in_.on_batch(so_far);
  }

  // ---- race ----

  /// The default, what is banked, the fastest of the search and the fastest of every Format.
  std::vector<Candidate> finalists() const {
    std::vector<Candidate> list = {task_.default_candidate};
    std::set<std::string> names = {to_text(task_.default_candidate)};
    const auto add = [&](const Candidate& c) {
      if (names.insert(to_text(c)).second) list.push_back(c);
    };
    if (banked_) add(*banked_);
    std::set<std::string> formats;
    int places = context_.policy.search.finalists;
    for (const Trial* trial : result_.ranked()) {
      const bool is_first_of_format = formats.insert(trial->candidate.format.name).second;
      if (places-- > 0 || is_first_of_format) add(trial->candidate);
    }
    return list;
  }

  void race() {
    const std::vector<Candidate> candidates = finalists();
    const std::vector<Timing> timings = measurer_.race(task_.task, candidates);
    for (std::size_t i = 0; i < candidates.size(); ++i)
      racers_.push_back({candidates[i], timings[i]});
  }

  const Racer* fastest_challenger() const {
    const Racer* best = nullptr;
    for (std::size_t i = 1; i < racers_.size(); ++i)
      if (racers_[i].timing.ok() &&
          (!best || racers_[i].timing.median_ns() < best->timing.median_ns()))
        best = &racers_[i];
    return best;
  }

  const Racer* banked_racer() const {
    for (const Racer& racer : racers_)
      if (banked_ && to_text(racer.candidate) == to_text(*banked_)) return &racer;
    return nullptr;
  }

  Comparison compare(const Racer& before, const Racer& after) const {
    return compare_pairs(before.timing.samples_ns, after.timing.samples_ns,
                         context_.policy.confirm.min_gain);
  }

  // ---- decision ----

  void decide(Conclusion& conclusion) {
    const Racer& by_default = racers_.front();
    if (by_default.timing.outcome == Outcome::kStopped) return;
    if (!by_default.timing.ok()) {
      fail(conclusion, by_default.timing);
      return;
    }
    for (const Racer& racer : racers_)
      conclusion.race_records.push_back(record_of(measured_strategy(racer), racer.timing));
    conclusion.default_ns = conclusion.best_ns = by_default.timing.median_ns();
    conclusion.decision = banked_ ? Decision::kReserved : Decision::kUnsatisfied;
    const Racer* best = fastest_challenger();
    const Racer* banked = banked_racer();
    const bool is_better = best != nullptr && beats(*best, by_default);
    if (was_cut_off_) {
      conclusion.decision = Decision::kStopped;
      return;
    }
    if (!is_better || bank_is_as_good(banked, *best)) {
      conclusion.strategies = best_of_formats(by_default);
      if (!banked_) withdraw_first_impressions(conclusion.strategies);
      return;
    }
    conclusion.decision = banked_ ? Decision::kUpdate : Decision::kAdd;
    conclusion.best_ns = best->timing.median_ns();
    conclusion.paired = compare(by_default, *best);
    conclusion.strategies = best_of_formats(*best);
    conclusion.gains = gains(*best, banked);
  }

  static void fail(Conclusion& conclusion, const Timing& timing) {
    conclusion.decision = Decision::kFailed;
    conclusion.cause = std::string(name(timing.outcome)) + ": " + timing.cause;
  }

  bool beats(const Racer& best, const Racer& by_default) {
    const Comparison c = compare(by_default, best);
    logger("tuner")->debug(
        "op={} best={} default_us={:.2f} us={:.2f} verdict={} interval={:.3f}..{:.3f}",
        task_.nodes.front(), to_text(best.candidate), by_default.timing.median_ns() / 1e3,
        best.timing.median_ns() / 1e3, name(c.verdict), c.low, c.high);
    return c.is_faster() && beats_again(best, by_default);
  }

  /// The fastest of several is partly the luckiest; a second race of its own is not chosen by luck.
  bool beats_again(const Racer& best, const Racer& by_default) {
    const Candidate pair[] = {by_default.candidate, best.candidate};
    const std::vector<Timing> timings = measurer_.race(task_.task, pair);
    was_cut_off_ = timings[0].outcome == Outcome::kStopped;
    if (!timings[0].ok() || !timings[1].ok()) return false;
    return compare_pairs(timings[0].samples_ns, timings[1].samples_ns,
                         context_.policy.confirm.min_gain)
        .is_faster();
  }

  /// What looked faster than the default at first and did not prove so is no winner of the bank's either.
  static void withdraw_first_impressions(std::vector<Strategy>& strategies) {
    for (Strategy& strategy : strategies)
      if (strategy.measured.verdict == name(Verdict::kFaster))
        strategy.measured.verdict = name(Verdict::kAmbiguous);
  }

  bool bank_is_as_good(const Racer* banked, const Racer& best) const {
    if (banked == nullptr || !banked->timing.ok()) return false;
    return banked == &best || !compare(*banked, best).is_faster();
  }

  /// `first`, and the fastest of every other Format.
  std::vector<Strategy> best_of_formats(const Racer& first) const {
    std::map<std::string, const Racer*> best_of;
    for (const Racer& racer : racers_) {
      if (!racer.timing.ok()) continue;
      const Racer*& best = best_of[racer.candidate.format.name];
      if (!best || racer.timing.median_ns() < best->timing.median_ns()) best = &racer;
    }
    std::vector<Strategy> list = {measured_strategy(first)};
    for (const auto& [format, racer] : best_of)
      if (format != first.candidate.format.name) list.push_back(measured_strategy(*racer));
    return list;
  }

  Strategy measured_strategy(const Racer& racer) const {
    Strategy strategy = strategy_with_time(racer.candidate, racer.timing);
    if (!racer.timing.ok() || !racers_.front().timing.ok()) return strategy;
    strategy.measured.default_time_ns = racers_.front().timing.median_ns();
    strategy.measured.verdict = name(compare(racers_.front(), racer).verdict);
    strategy.measured.trials = static_cast<std::int64_t>(result_.trials.size());
    strategy.provenance = context_.origin;
    strategy.provenance.node = task_.first_node();
    strategy.provenance.won = summary_of(racer.timing);
    strategy.provenance.by_default = summary_of(racers_.front().timing);
    return strategy;
  }

  /// An update is told against what it replaces, a new strategy against the default.
  std::vector<ModeGain> gains(const Racer& winner, const Racer* banked) const {
    const bool is_update = banked != nullptr && banked->timing.ok();
    const Racer& before = is_update ? *banked : racers_.front();
    const Candidate& c = winner.candidate;
    auto list = attribute_gain(result_, before.candidate, c, before.timing.median_ns(),
                               winner.timing.median_ns(),
                               c.impl->plan(task_.task, c.format, context_.soc)->heuristic());
    for (ModeGain& gain : list) gain.is_update = banked_.has_value();
    return list;
  }

  Strategy strategy_with_time(const Candidate& candidate, const Timing& timing) const {
    Strategy strategy = compiler::strategy_of(candidate);
    strategy.measured.time_ns = timing.ok() ? timing.median_ns() : 0;
    strategy.measured.policy = context_.policy_text;
    strategy.measured.threads = context_.soc.threads;
    strategy.measured.when_utc = now_utc();
    return strategy;
  }

  /// Of measurements, of which there are many, the origin is not kept.
  Record record_of(Strategy strategy, const Timing& timing) const {
    strategy.provenance = {};
    return {.strategy = std::move(strategy),
            .status = std::string(name(timing.outcome)),
            .detail = timing.dropped ? "dropped after a few samples" : timing.cause,
            .seed = context_.seed};
  }

  const OperatorTuningInput& in_;
  const OperatorTask& task_;
  Measurer& measurer_;
  const OperatorTuningContext& context_;
  std::map<std::string, Timing> recalled_;
  std::optional<Candidate> banked_;
  SearchResult result_;
  std::vector<Racer> racers_;  ///< the default first
  bool was_cut_off_ = false;   ///< the second race
};

}  // namespace

Conclusion tune_operator(const OperatorTuningInput& input, Measurer& measurer,
                         const OperatorTuningContext& context) {
  return OperatorTuning(input, measurer, context).run();
}

}  // namespace aoe::tuner
