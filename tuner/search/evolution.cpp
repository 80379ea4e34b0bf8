// Founders, generations, and what comes out of them.
#include "tuner/search/evolution.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "tuner/measure/measurer.h"

namespace aoe::tuner {
using compiler::Candidate;
using compiler::Schedule;
namespace {

/// Up to so many points are judged one and all.
constexpr std::size_t kSmallSpace = 512;
/// An arm that looks twice as slow as the best gets a sixteenth of its share of random draws.
constexpr double kArmSharpness = 4;
constexpr double kCrossing = 0.25;
/// Children that are legal and new get rare in a space that is nearly used up.
constexpr int kTriesPerChild = 6;

}  // namespace

Arm::Arm(const Candidate& any, const compiler::Task& task, const compiler::Soc& soc)
    : heuristic(any), plan(any.impl->plan(task, any.format, soc)) {
  heuristic.schedule = plan->heuristic();
  all = enumerate(*plan, kSmallSpace);
}

Candidate Arm::at(Schedule schedule) const {
  return {heuristic.impl, heuristic.format, std::move(schedule)};
}

bool Arm::holds(const Candidate& c) const {
  return c.impl == heuristic.impl && c.format.name == heuristic.format.name;
}

Evolution::Evolution(const std::vector<Arm>& arms, const std::set<std::string>& seen,
                     const SearchPolicy& policy, Judge judge, Random& random)
    : arms_(arms), seen_(seen), policy_(policy), judge_(std::move(judge)), random_(random) {
}

void Evolution::add(std::size_t arm, Schedule schedule) {
  Candidate candidate = arms_[arm].at(std::move(schedule));
  const std::string text = to_text(candidate);
  if (!seen_.contains(text) && in_pool_.insert(text).second)
    added_.push_back({std::move(candidate), 0, arm});
}

void Evolution::judge_added() {
  std::vector<Candidate> candidates;
  for (const Proposal& proposal : added_) candidates.push_back(proposal.candidate);
  const std::vector<double> times = judge_(candidates);
  for (std::size_t i = 0; i < added_.size(); ++i) {
    added_[i].expected_ns = times[i];
    pool_.push_back(std::move(added_[i]));
  }
  added_.clear();
}

/// Heuristics, small spaces whole, and random draws, more of them from arms that look fast.
void Evolution::add_founders(const std::vector<Proposal>& measured) {
  for (std::size_t arm = 0; arm < arms_.size(); ++arm) {
    if (arms_[arm].is_closed) continue;
    add(arm, arms_[arm].heuristic.schedule);
    for (const Schedule& schedule : arms_[arm].all) add(arm, schedule);
  }
  judge_added();
  std::vector<double> fastest(arms_.size(), std::numeric_limits<double>::infinity());
  for (const std::vector<Proposal>* list : {&std::as_const(pool_), &measured})
    for (const Proposal& p : *list) fastest[p.arm] = std::min(fastest[p.arm], p.expected_ns);
  const double best = *std::ranges::min_element(fastest);
  std::vector<double> weights;
  for (std::size_t arm = 0; arm < arms_.size(); ++arm) {
    const bool is_drawn = !arms_[arm].is_closed && arms_[arm].all.empty();
    weights.push_back(is_drawn ? std::pow(best / fastest[arm], kArmSharpness) : 0);
  }
  if (std::ranges::none_of(weights, [](double w) { return w > 0; })) return;
  std::discrete_distribution<std::size_t> choose(weights.begin(), weights.end());
  for (int i = 0; i < policy_.population; ++i) {
    const std::size_t arm = choose(random_);
    if (auto schedule = draw(*arms_[arm].plan, random_)) add(arm, std::move(*schedule));
  }
  judge_added();
}

std::vector<const Proposal*> Evolution::parents(const std::vector<Proposal>& measured) const {
  std::vector<const Proposal*> list;
  for (const std::vector<Proposal>* source : {&measured, &pool_})
    for (const Proposal& p : *source)
      if (arms_[p.arm].all.empty()) list.push_back(&p);
  std::ranges::stable_sort(list, {}, &Proposal::expected_ns);
  if (list.size() > static_cast<std::size_t>(policy_.parents))
    list.resize(static_cast<std::size_t>(policy_.parents));
  return list;
}

void Evolution::add_children(const std::vector<const Proposal*>& parents, int count) {
  std::uniform_int_distribution<std::size_t> any(0, parents.size() - 1);
  const std::size_t enough = static_cast<std::size_t>(count);
  for (int i = 0; i < kTriesPerChild * count && added_.size() < enough; ++i) {
    const Proposal& mother = *parents[std::min(any(random_), any(random_))];  // better ones oftener
    const Proposal& father = *parents[any(random_)];
    const Arm& arm = arms_[mother.arm];
    const bool is_crossing =
        father.arm == mother.arm && std::bernoulli_distribution(kCrossing)(random_);
    auto child = is_crossing ? cross(*arm.plan, mother.candidate.schedule,
                                     father.candidate.schedule, random_)
                             : mutate(*arm.plan, mother.candidate.schedule, random_);
    if (child) add(mother.arm, std::move(*child));
  }
}

std::vector<Proposal> Evolution::run(const std::vector<Proposal>& measured) {
  add_founders(measured);
  for (int generation = 0; generation < policy_.generations; ++generation) {
    const std::vector<const Proposal*> best = parents(measured);
    if (best.empty()) break;
    add_children(best, policy_.population);
    judge_added();
  }
  std::ranges::stable_sort(pool_, {}, &Proposal::expected_ns);
  return std::move(pool_);
}

}  // namespace aoe::tuner
