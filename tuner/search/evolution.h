// Evolution: proposes candidates of all (Impl, Format) arms of a task. A population of heuristics
// and random Schedules is judged by the cost model, and generations of mutations and crossings of
// the best, measured ones among them, are added to it. Nothing is measured here.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "compiler/impl.h"
#include "tuner/policy.h"
#include "tuner/search/sampler.h"

namespace aoe::tuner {

/// One (Impl, Format) of a task.
struct Arm {
  compiler::Candidate heuristic;
  std::unique_ptr<compiler::Plan> plan;
  std::vector<compiler::Schedule> all;  ///< of a small space: every point, judged without drawing
  bool is_closed = false;               ///< it failed, and nothing of it ran: not proposed again

  Arm(const compiler::Candidate& any, const compiler::Task& task, const compiler::Soc& soc);
  compiler::Candidate at(compiler::Schedule schedule) const;
  bool holds(const compiler::Candidate& candidate) const;
};

struct Proposal {
  compiler::Candidate candidate;
  double expected_ns = 0;  ///< measured, of a parent
  std::size_t arm = 0;
};

class Evolution {
 public:
  using Judge = std::function<std::vector<double>(std::span<const compiler::Candidate>)>;

  /// `seen`: texts (to_text()) of what must not be proposed.
  Evolution(const std::vector<Arm>& arms, const std::set<std::string>& seen,
            const SearchPolicy& policy, Judge judge, Random& random);

  /// Unseen candidates, the most promising first. Empty: everything was seen, or nearly so.
  std::vector<Proposal> run(const std::vector<Proposal>& measured);

 private:
  void add(std::size_t arm, compiler::Schedule schedule);
  void judge_added();
  void add_founders(const std::vector<Proposal>& measured);
  void add_children(const std::vector<const Proposal*>& parents, int count);
  std::vector<const Proposal*> parents(const std::vector<Proposal>& measured) const;

  const std::vector<Arm>& arms_;
  const std::set<std::string>& seen_;
  const SearchPolicy& policy_;
  const Judge judge_;
  Random& random_;
  std::vector<Proposal> pool_;
  std::set<std::string> in_pool_;
  std::vector<Proposal> added_;  ///< not judged yet
};

}  // namespace aoe::tuner
