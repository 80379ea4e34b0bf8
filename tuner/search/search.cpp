// First candidates, then batches of evolution's proposals, and when to end.
#include "tuner/search/search.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <numbers>
#include <set>

#include "base/log.h"
#include "tuner/search/evolution.h"
#include "tuner/search/task_model.h"

namespace aoe::tuner {
using compiler::Candidate;
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
/// A heuristic Schedule is left to the proposals when it is expected to be this many times slower
/// than the best: by experience, and by a mere estimate of its Impl.
constexpr double kKnownToBeSlow = 2;
constexpr double kEstimatedToBeSlow = 8;
/// A prediction must look this much faster than the default, which was not chosen by luck.
constexpr double kDoubt = 0.1;
/// Rounds of evolution without anything new after which a space counts as used up.
constexpr int kEmptyRounds = 4;
/// A best so near what the machine can do at all ends the search. Peaks are measured to about 1%.
constexpr double kNearTheRoof = 1.02;

std::vector<Arm> arms_of(const SearchTask& what) {
  std::vector<Arm> arms;
  const auto add = [&](const Candidate& c) {
    if (std::ranges::none_of(arms, [&](const Arm& arm) { return arm.holds(c); }))
      arms.emplace_back(c, what.task, what.soc);
  };
  add(what.default_candidate);
  for (const Candidate& c : what.heuristics) add(c);
  for (const Candidate& c : what.seeds) add(c);
  return arms;
}

/// How wrong expectations of this task were lately: the standard deviation of ln(time / expected).
class Surprise {
 public:
  void note(double expected_ns, double measured_ns) {
    errors_.push_back(std::log(measured_ns / expected_ns));
    if (errors_.size() > kRemembered) errors_.pop_front();
  }
  double deviation() const {
    double sum = kPriorWeight * kPrior * kPrior;
    for (const double error : errors_) sum += error * error;
    return std::sqrt(sum / (kPriorWeight + static_cast<double>(errors_.size())));
  }

 private:
  static constexpr std::size_t kRemembered = 16;
  static constexpr double kPrior = 0.2;
  static constexpr double kPriorWeight = 2;
  std::deque<double> errors_;
};

/// Expected part of the time that a candidate saves, when its ln(time) is normal around what is
/// expected: the textbook's "expected improvement".
double expected_gain(double best_ns, double expected_ns, double deviation) {
  const double z = std::log(best_ns / expected_ns) / deviation;
  const double density = std::exp(-z * z / 2) / std::sqrt(2 * std::numbers::pi);
  const double below = std::erfc(-z / std::numbers::sqrt2) / 2;
  return deviation * (z * below + density);
}

class TaskSearch {
 public:
  TaskSearch(const SearchTask& what, Measurer& measurer, const SearchPolicy& policy,
             const SearchLimits& limits, Random& random)
      : what_(what),
        measurer_(measurer),
        policy_(policy),
        limits_(limits),
        random_(random),
        arms_(arms_of(what)),
        model_(what.task, what.soc, what.weights_in, what.default_candidate, what.experience) {}

  SearchResult run() {
    try_first(unseen(first_candidates()));
    while (result_.ended_by.empty()) {
      if (const char* reason = limit_reached()) {
        result_.ended_by = reason;
        break;
      }
      if (best_ns_ <= kNearTheRoof * what_.least_ns) {
        result_.ended_by = "roof";
        break;
      }
      const std::vector<Proposal> batch = propose();
      if (batch.empty())
        result_.ended_by = "exhausted";
      else if (has_little_to_gain(batch))
        result_.ended_by = "gain";
      else
        try_proposals(batch);
    }
    return std::move(result_);
  }

 private:
  // ---- limits ----

  /// Null while the search may go on.
  const char* limit_reached() const {
    if (limits_.stop.stop_requested()) return "stopped";
    if (limits_.deadline.has_passed()) return "time";
    if (trials_left() <= 0) return "trials";
    if (since_better_ >= policy_.patience) return "patience";
    return nullptr;
  }

  int trials_left() const { return limits_.trials - static_cast<int>(result_.trials.size()); }

  /// Only after a batch that brought nothing: a search that moves is not argued with.
  bool has_little_to_gain(const std::vector<Proposal>& batch) const {
    if (since_better_ < policy_.batch_size || std::isinf(best_ns_)) return false;
    double gain = 0;
    for (const Proposal& p : batch)
      gain += expected_gain(best_ns_, p.expected_ns, surprise_.deviation());
    return gain < policy_.min_expected_gain;
  }

  // ---- first candidates ----

  std::vector<Candidate> first_candidates() {
    std::vector<Candidate> list = {what_.default_candidate};
    list.insert(list.end(), what_.seeds.begin(), what_.seeds.end());
    if (std::ranges::any_of(
            arms_, [&](const Arm& arm) { return model_.has_experience(*arm.heuristic.impl); }))
      list.push_back(evolve().front().candidate);
    add_heuristics(list);
    return list;
  }

  /// Fastest expected first; slow ones only where their Format would stay unknown, since Formats
  /// are chosen for the whole model.
  void add_heuristics(std::vector<Candidate>& list) {
    std::vector<Candidate> heuristics;
    for (const Arm& arm : arms_) heuristics.push_back(arm.heuristic);
    const std::vector<double> expected = model_.expected_ns(heuristics);
    std::vector<std::size_t> order(heuristics.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::ranges::stable_sort(order, {}, [&](std::size_t i) { return expected[i]; });
    std::set<std::string> formats;
    for (const std::size_t i : order) {
      const bool is_known = model_.has_experience(*heuristics[i].impl);
      const double limit = is_known ? kKnownToBeSlow : kEstimatedToBeSlow;
      const bool is_new_format = formats.insert(heuristics[i].format.name).second;
      if (is_new_format || expected[i] <= limit * expected[order.front()])
        list.push_back(heuristics[i]);
    }
  }

  std::vector<Candidate> unseen(std::vector<Candidate> candidates) {
    std::erase_if(candidates, [&](const Candidate& c) { return !seen_.insert(to_text(c)).second; });
    return candidates;
  }

  /// In batches, too: the limits hold for many of them as well. The default is in the first,
  /// always.
  void try_first(const std::vector<Candidate>& candidates) {
    std::size_t end = 0;
    for (std::size_t begin = 0; begin < candidates.size(); begin = end) {
      if (begin > 0 && limit_reached() != nullptr) return;
      const int count = std::min(policy_.batch_size, std::max(1, trials_left()));
      end = std::min(candidates.size(), begin + static_cast<std::size_t>(count));
      try_all({candidates.begin() + static_cast<std::ptrdiff_t>(begin),
               candidates.begin() + static_cast<std::ptrdiff_t>(end)});
    }
    since_better_ = 0;  // patience is with the proposals
  }

  // ---- proposals ----

  std::vector<Proposal> evolve() {
    Evolution evolution(
        arms_, seen_, policy_,
        [this](std::span<const Candidate> candidates) { return model_.expected_ns(candidates); },
        random_);
    return evolution.run(measured_);
  }

  /// The most promising, but for some places that go to any candidate of the pool.
  std::vector<Proposal> propose() {
    model_.fit();
    std::vector<Proposal> pool;
    for (int round = 0; round < kEmptyRounds && pool.empty(); ++round) pool = evolve();
    const int wanted = std::min(policy_.batch_size, trials_left());
    std::vector<Proposal> batch;
    while (static_cast<int>(batch.size()) < wanted && !pool.empty()) {
      const bool is_random = std::bernoulli_distribution(policy_.explore)(random_);
      const std::size_t place =
          is_random ? std::uniform_int_distribution<std::size_t>(0, pool.size() - 1)(random_) : 0;
      batch.push_back(std::move(pool[place]));
      pool.erase(pool.begin() + static_cast<std::ptrdiff_t>(place));
    }
    return batch;
  }

  void try_proposals(const std::vector<Proposal>& batch) {
    std::vector<Candidate> candidates;
    for (const Proposal& p : batch) candidates.push_back(p.candidate);
    const std::size_t before = result_.trials.size();
    try_all(unseen(std::move(candidates)));
    for (std::size_t i = before; i < result_.trials.size(); ++i)
      if (result_.trials[i].timing.ok())
        surprise_.note(batch[i - before].expected_ns, result_.trials[i].timing.median_ns());
  }

  // ---- measuring ----

  void try_all(const std::vector<Candidate>& candidates) {
    const std::size_t before = result_.trials.size();
    std::vector<Candidate> to_measure;
    std::vector<std::size_t> places;
    for (const Candidate& candidate : candidates) {
      std::optional<Timing> known = what_.recall ? what_.recall(candidate) : std::nullopt;
      if (!known) {
        places.push_back(result_.trials.size());
        to_measure.push_back(candidate);
      }
      const bool is_recalled = known.has_value();
      result_.trials.push_back({candidate, std::move(known).value_or(Timing{}), is_recalled,
                                model_.features(candidate)});
    }
    if (!to_measure.empty()) {
      const std::vector<Timing> timings = measurer_.measure(what_.task, to_measure, best_ns_);
      for (std::size_t i = 0; i < places.size(); ++i) result_.trials[places[i]].timing = timings[i];
    }
    for (std::size_t i = before; i < result_.trials.size(); ++i) learn(result_.trials[i]);
    // What a stop request cut off was never measured.
    std::erase_if(result_.trials,
                  [](const Trial& t) { return t.timing.outcome == Outcome::kStopped; });
    if (result_.trials.empty()) result_.ended_by = "stopped";
    if (what_.on_batch) what_.on_batch(result_, result_.trials.size() - before);
  }

  void learn(const Trial& trial) {
    if (trial.timing.outcome == Outcome::kStopped) return;
    if (!trial.is_recalled) ++result_.measured;
    ++since_better_;
    model_.learn(*trial.candidate.impl, trial.features, trial.timing);
    const std::size_t arm = arm_of(trial.candidate);
    if (!trial.timing.ok()) {
      arms_[arm].is_closed =
          std::ranges::none_of(measured_, [&](const Proposal& p) { return p.arm == arm; });
      logger("tuner")->debug("candidate={} outcome={} cause={}", to_text(trial.candidate),
                             name(trial.timing.outcome), trial.timing.cause);
      return;
    }
    const double ns = trial.timing.median_ns();
    logger("tuner")->trace("candidate={} us={:.2f} dropped={}", to_text(trial.candidate), ns / 1e3,
                           trial.timing.dropped);
    if (ns < best_ns_ * (1 - policy_.noise)) since_better_ = 0;
    best_ns_ = std::min(best_ns_, ns);
    arms_[arm].is_closed = false;
    measured_.push_back({trial.candidate, ns, arm});
  }

  std::size_t arm_of(const Candidate& candidate) const {
    const auto arm = std::ranges::find_if(arms_, [&](const Arm& a) { return a.holds(candidate); });
    return static_cast<std::size_t>(arm - arms_.begin());
  }

  const SearchTask& what_;
  Measurer& measurer_;
  const SearchPolicy& policy_;
  const SearchLimits& limits_;
  Random& random_;
  SearchResult result_;
  std::vector<Arm> arms_;
  TaskModel model_;
  std::vector<Proposal> measured_;  ///< verified ones, with their times
  Surprise surprise_;
  std::set<std::string> seen_;
  double best_ns_ = kInfinity;
  int since_better_ = 0;
};

}  // namespace

std::vector<const Trial*> SearchResult::ranked() const {
  std::vector<const Trial*> list;
  for (const Trial& trial : trials)
    if (trial.timing.ok()) list.push_back(&trial);
  std::ranges::stable_sort(list, {}, [](const Trial* t) { return t->timing.median_ns(); });
  return list;
}

const Trial* SearchResult::best() const {
  const auto list = ranked();
  return list.empty() ? nullptr : list.front();
}

SearchResult search(const SearchTask& what, Measurer& measurer, const SearchPolicy& policy,
                    const SearchLimits& limits, Random& random) {
  return TaskSearch(what, measurer, policy, limits, random).run();
}

std::vector<Prediction> predict(const SearchTask& what) {
  std::vector<Candidate> known = {what.default_candidate};
  known.insert(known.end(), what.seeds.begin(), what.seeds.end());
  known.insert(known.end(), what.heuristics.begin(), what.heuristics.end());
  TaskModel model(what.task, what.soc, what.weights_in, what.default_candidate, what.experience);
  const std::vector<double> expected = model.promised_ns(known);
  std::vector<Prediction> list;
  for (std::size_t i = 0; i < known.size(); ++i)
    if (std::isfinite(expected[i]))
      list.push_back({known[i], i == 0 ? expected[i] : (1 + kDoubt) * expected[i]});
  std::ranges::stable_sort(list, {}, &Prediction::expected_ns);
  std::set<std::string> formats;
  std::erase_if(
      list, [&](const Prediction& p) { return !formats.insert(p.candidate.format.name).second; });
  return list;
}

}  // namespace aoe::tuner
