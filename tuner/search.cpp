// Batches of seeds, random Schedules and mutations, over all (Impl, Format) arms of a task.
#include "tuner/search.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "base/log.h"

namespace aoe::tuner {
using compiler::Candidate;
using compiler::Schedule;
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
/// An arm twice as slow as the best gets a sixteenth of its share of trials.
constexpr double kArmSharpness = 4;

/// One (Impl, Format): its space and what was found in it.
struct Arm {
  Candidate heuristic;
  compiler::ScheduleSpace space;
  std::vector<std::pair<double, Schedule>> found;  ///< verified, fastest first
  bool is_exhausted = false;

  double best_ns() const { return found.empty() ? kInfinity : found.front().first; }
  bool is_arm_of(const Candidate& c) const {
    return c.impl == heuristic.impl && c.format.name == heuristic.format.name;
  }
};

class TaskSearch {
 public:
  TaskSearch(const SearchTask& what, Measurer& measurer, const SearchPolicy& policy,
             const SearchLimits& limits, Random& random)
      : what_(what), measurer_(measurer), policy_(policy), limits_(limits), random_(random) {}

  SearchResult run() {
    std::vector<Candidate> seeds = {what_.default_candidate};
    seeds.insert(seeds.end(), what_.seeds.begin(), what_.seeds.end());
    try_seeds(unseen(std::move(seeds)));
    while (result_.ended_by.empty()) {
      if (const char* reason = limit_reached()) {
        result_.ended_by = reason;
        break;
      }
      const std::vector<Candidate> batch = propose();
      if (batch.empty())
        result_.ended_by = "exhausted";
      else
        try_all(batch);
    }
    return std::move(result_);
  }

 private:
  /// Null while the search may go on.
  const char* limit_reached() const {
    if (limits_.stop.stop_requested()) return "stopped";
    if (limits_.deadline && std::chrono::steady_clock::now() >= *limits_.deadline) return "time";
    if (static_cast<int>(result_.trials.size()) >= limits_.trials) return "trials";
    if (since_better_ >= policy_.patience) return "patience";
    return nullptr;
  }

  std::vector<Candidate> unseen(std::vector<Candidate> candidates) {
    std::erase_if(candidates, [&](const Candidate& c) { return !seen_.insert(to_text(c)).second; });
    return candidates;
  }

  /// In batches, too: the limits hold for many seeds as well. The default is in the first, always.
  void try_seeds(const std::vector<Candidate>& seeds) {
    std::size_t end = 0;
    for (std::size_t begin = 0; begin < seeds.size(); begin = end) {
      if (begin > 0 && limit_reached() != nullptr) return;
      const int left = std::max(1, limits_.trials - static_cast<int>(result_.trials.size()));
      end = std::min(seeds.size(),
                     begin + static_cast<std::size_t>(std::min(policy_.batch_size, left)));
      try_all({seeds.begin() + static_cast<std::ptrdiff_t>(begin),
               seeds.begin() + static_cast<std::ptrdiff_t>(end)});
    }
  }

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
      result_.trials.push_back({candidate, std::move(known).value_or(Timing{}), is_recalled});
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
    if (!trial.timing.ok()) {
      logger("tuner")->debug("candidate={} outcome={} cause={}", to_text(trial.candidate),
                             name(trial.timing.outcome), trial.timing.cause);
      return;
    }
    const double ns = trial.timing.median_ns();
    logger("tuner")->trace("candidate={} us={:.2f} dropped={}", to_text(trial.candidate), ns / 1e3,
                           trial.timing.dropped);
    if (ns < best_ns_ * (1 - policy_.noise)) since_better_ = 0;
    best_ns_ = std::min(best_ns_, ns);
    Arm& arm = arm_of(trial.candidate);
    const auto place =
        std::ranges::lower_bound(arm.found, ns, {}, [](const auto& f) { return f.first; });
    arm.found.insert(place, {ns, trial.candidate.schedule});
  }

  Arm& arm_of(const Candidate& candidate) {
    for (Arm& arm : arms_)
      if (arm.is_arm_of(candidate)) return arm;
    arms_.push_back(
        {candidate, candidate.impl->space(what_.task, candidate.format, what_.soc), {}, false});
    return arms_.back();
  }

  /// Arms that are not exhausted, the faster the likelier; nullptr when all are.
  Arm* choose_arm() {
    std::vector<double> weights;
    for (const Arm& arm : arms_)
      weights.push_back(arm.is_exhausted ? 0 : std::pow(best_ns_ / arm.best_ns(), kArmSharpness));
    double sum = 0;
    for (const double weight : weights) sum += weight;
    if (!(sum > 0)) return nullptr;
    return &arms_[std::discrete_distribution<std::size_t>(weights.begin(), weights.end())(random_)];
  }

  std::optional<Schedule> propose_in(const Arm& arm) {
    if (std::bernoulli_distribution(policy_.explore)(random_)) return draw(arm.space, random_);
    const std::size_t parents =
        std::min(arm.found.size(), static_cast<std::size_t>(policy_.parents));
    const std::size_t parent = std::uniform_int_distribution<std::size_t>(0, parents - 1)(random_);
    return mutate(arm.space, arm.found[parent].second, random_);
  }

  std::vector<Candidate> propose() {
    const int tried = static_cast<int>(result_.trials.size());
    const int wanted = std::min(policy_.batch_size, limits_.trials - tried);
    std::vector<Candidate> batch;
    // Repeats show that an arm has little left; after many in a row it counts as exhausted.
    constexpr int kMostRepeats = 40;
    while (static_cast<int>(batch.size()) < wanted) {
      Arm* arm = choose_arm();
      if (arm == nullptr) break;
      bool is_new = false;
      for (int attempt = 0; attempt < kMostRepeats && !is_new; ++attempt) {
        const std::optional<Schedule> schedule = propose_in(*arm);
        if (!schedule) break;
        Candidate candidate{arm->heuristic.impl, arm->heuristic.format, *schedule};
        is_new = seen_.insert(to_text(candidate)).second;
        if (is_new) batch.push_back(std::move(candidate));
      }
      arm->is_exhausted = !is_new;
    }
    return batch;
  }

  const SearchTask& what_;
  Measurer& measurer_;
  const SearchPolicy& policy_;
  const SearchLimits& limits_;
  Random& random_;
  SearchResult result_;
  std::vector<Arm> arms_;
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

}  // namespace aoe::tuner
