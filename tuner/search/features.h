// What the cost model is told of a candidate: its task, how its Impl sees it, its Format and its
// Schedule, as named numbers. They are stored with every record of the bank.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "compiler/impl.h"
#include "tuner/policy.h"

namespace aoe::tuner {

/// Lower bound of a task's time on a rough machine: launch, and the larger of flops at the vector
/// peak and bytes through the memory. Times are learnt as ratios to it, so that tasks of all sizes
/// teach each other.
double roofline_ns(const compiler::Task& task, const compiler::Soc& soc);

/// The features of one task's candidates, the task's default among them: what a candidate is better
/// or worse than matters as much as what it is itself. What does not depend on the Schedule is computed once.
class FeatureSource {
 public:
  FeatureSource(const compiler::Task& task, const compiler::Soc& soc, WeightsIn weights_in,
                const compiler::Candidate& default_candidate);

  compiler::Features of(const compiler::Candidate& candidate);
  double roofline_ns() const { return roofline_ns_; }

 private:
  const compiler::Task& task_;
  const compiler::Soc& soc_;
  struct Arm {
    std::unique_ptr<compiler::Plan> plan;
    double estimate_ratio = 0;  ///< ln(estimate of the heuristic / roofline)
  };

  void add_default(const compiler::Candidate& default_candidate);
  const Arm& arm_of(const compiler::Candidate& candidate);

  double roofline_ns_;
  std::map<std::string, Arm> arms_;  ///< by "impl/format"
  compiler::Features of_task_;       ///< and of its default candidate
};

/// Names of features that are read again: FeatureSource writes them for every candidate.
inline constexpr const char* kRooflineFeature = "roofline_ns";
inline constexpr const char* kEstimateFeature = "estimate_ratio";  ///< ln, of the heuristic
inline constexpr const char* kDefaultEstimateFeature = "default.estimate_ratio";
inline constexpr std::string_view kAttributePrefix = "task.attr.";  ///< log2(1 + value)

std::optional<double> find_feature(const compiler::Features& features, std::string_view name);

}  // namespace aoe::tuner
