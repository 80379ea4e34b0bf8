// TaskModel: expected times of one task's candidates. What other tasks taught (CostModel; an Impl's
// own estimate where nothing did) is corrected by what was measured of this task: first by how far
// off the Impl is as a whole, then by small trees for what is left.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "compiler/impl.h"
#include "tuner/measure/measurer.h"
#include "tuner/search/cost_model.h"
#include "tuner/search/features.h"

namespace aoe::tuner {

class TaskModel {
 public:
  /// `experience` may be nullptr. All references stay with the caller.
  TaskModel(const compiler::Task& task, const compiler::Soc& soc, WeightsIn weights_in,
            const compiler::Candidate& default_candidate, const CostModel* experience);

  compiler::Features features(const compiler::Candidate& candidate) {
    return source_.of(candidate);
  }
  bool has_experience(const compiler::Impl& impl) const;

  /// A measurement of this task; failures count as slower than all that ran.
  void learn(const compiler::Impl& impl, const compiler::Features& features, const Timing& timing);
  /// Takes in what was learnt: some milliseconds.
  void fit();

  std::vector<double> expected_ns(std::span<const compiler::Candidate> candidates);
  /// What can be said without a measurement of this task: the estimate for the default, which all
  /// others are compared with; of other candidates only where lessons are near, else infinity.
  std::vector<double> promised_ns(std::span<const compiler::Candidate> candidates);

 private:
  struct Measured {
    compiler::Features features;
    double expected = 0;  ///< before any correction; ln ratio
    double actual = 0;
    bool is_ok = true;
  };
  struct Correction {
    std::vector<Measured> measured;
    double offset = 0;
    FeatureTable table;
    std::optional<Booster> trees;
  };

  std::vector<double> uncorrected(const compiler::Impl& impl,
                                  std::span<const compiler::Features> features) const;
  void fit_trees(Correction& correction, double slowest) const;

  FeatureSource source_;
  compiler::Candidate default_;
  const CostModel* experience_;
  std::map<std::string, Correction> corrections_;  ///< by Impl
  double task_offset_ = 0;                         ///< of Impls without a measurement
};

}  // namespace aoe::tuner
