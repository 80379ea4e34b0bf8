// Corrections of the experience by the task at hand.
#include "tuner/search/task_model.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace aoe::tuner {
using compiler::Candidate;
using compiler::Features;
using compiler::Impl;
namespace {

/// Times the roofline: how much worse a candidate is exactly should not cost the trees a leaf.
constexpr double kMostRatio = 32;
/// Measurements of an Impl from which trees can tell more than the mean does.
constexpr std::size_t kFewestForTrees = 6;
/// Few rows: small trees that leave the rest to the experience.
constexpr BoosterOptions kCorrection = {
    .rounds = 20, .depth = 3, .learning_rate = 0.25, .min_rows_per_leaf = 1};
/// A failure counts as this much slower than the slowest that ran; ln.
constexpr double kFailurePenalty = 0.7;

/// CostModel::distance() up to which an expectation is trusted unmeasured: a convolution of twice
/// the input channels is 2 away. With no such bound most predictions made whole models slower.
constexpr double kNear = 3;

/// Mean of `sum` over `count` that starts as `prior`, which weighs like one measurement.
double shrunk_mean(double sum, std::size_t count, double prior) {
  return (sum + prior) / static_cast<double>(count + 1);
}

}  // namespace

TaskModel::TaskModel(const compiler::Task& task, const compiler::Soc& soc, WeightsIn weights_in,
                     const Candidate& default_candidate, const CostModel* experience)
    : source_(task, soc, weights_in, default_candidate),
      default_(default_candidate),
      experience_(experience) {
}

bool TaskModel::has_experience(const Impl& impl) const {
  return experience_ != nullptr && experience_->knows(impl);
}

std::vector<double> TaskModel::uncorrected(const Impl& impl,
                                           std::span<const Features> features) const {
  if (has_experience(impl)) return experience_->predict(impl, features);
  std::vector<double> ratios;
  for (const Features& of_one : features)
    ratios.push_back(find_feature(of_one, kEstimateFeature).value_or(0));
  return ratios;
}

void TaskModel::learn(const Impl& impl, const Features& features, const Timing& timing) {
  if (timing.outcome == Outcome::kStopped || timing.outcome == Outcome::kKilled) return;
  const double expected = uncorrected(impl, std::span(&features, 1)).front();
  const double ratio = timing.ok() ? timing.median_ns() / source_.roofline_ns() : 1;
  const double actual = std::log(std::clamp(ratio, 1 / kMostRatio, kMostRatio));
  corrections_[std::string(impl.name())].measured.push_back(
      {features, expected, actual, timing.ok()});
}

void TaskModel::fit() {
  double sum = 0, slowest = 0;
  std::size_t count = 0;
  for (const auto& [name, correction] : corrections_) {
    for (const Measured& m : correction.measured) {
      if (!m.is_ok) continue;
      sum += m.actual - m.expected;
      slowest = count++ == 0 ? m.actual : std::max(slowest, m.actual);
    }
  }
  task_offset_ = shrunk_mean(sum, count, 0);
  for (auto& [name, correction] : corrections_) {
    double own_sum = 0;
    std::size_t own_count = 0;
    for (const Measured& m : correction.measured) {
      own_sum += m.is_ok ? m.actual - m.expected : 0;
      own_count += m.is_ok ? 1 : 0;
    }
    correction.offset = shrunk_mean(own_sum, own_count, task_offset_);
    if (correction.measured.size() >= kFewestForTrees) fit_trees(correction, slowest);
  }
}

void TaskModel::fit_trees(Correction& correction, double slowest) const {
  std::vector<const Features*> features;
  std::vector<float> left_over;
  for (const Measured& m : correction.measured) {
    correction.table.add_columns(m.features);
    features.push_back(&m.features);
    const double actual = m.is_ok ? m.actual : slowest + kFailurePenalty;
    left_over.push_back(static_cast<float>(actual - m.expected - correction.offset));
  }
  correction.trees.emplace(correction.table.rows(features), left_over, kCorrection);
}

std::vector<double> TaskModel::expected_ns(std::span<const Candidate> candidates) {
  std::map<const Impl*, std::vector<std::size_t>> places;
  for (std::size_t i = 0; i < candidates.size(); ++i) places[candidates[i].impl].push_back(i);
  std::vector<double> times(candidates.size());
  for (const auto& [impl, of_impl] : places) {
    std::vector<Features> features;
    for (const std::size_t i : of_impl) features.push_back(source_.of(candidates[i]));
    std::vector<double> ratios = uncorrected(*impl, features);
    const auto known = corrections_.find(std::string(impl->name()));
    std::vector<float> left_over(features.size());
    if (known != corrections_.end() && known->second.trees) {
      std::vector<const Features*> pointers;
      for (const Features& of_one : features) pointers.push_back(&of_one);
      left_over = known->second.trees->predict(known->second.table.rows(pointers));
    }
    const double offset = known == corrections_.end() ? task_offset_ : known->second.offset;
    for (std::size_t k = 0; k < of_impl.size(); ++k)
      times[of_impl[k]] = source_.roofline_ns() * std::exp(ratios[k] + offset + left_over[k]);
  }
  return times;
}

std::vector<double> TaskModel::promised_ns(std::span<const Candidate> candidates) {
  std::vector<double> times;
  for (const Candidate& candidate : candidates) {
    const Features features = source_.of(candidate);
    double ratio = std::numeric_limits<double>::infinity();
    if (to_text(candidate) == to_text(default_))
      ratio = find_feature(features, kEstimateFeature).value_or(0);
    else if (has_experience(*candidate.impl) &&
             experience_->distance(*candidate.impl, features) <= kNear)
      ratio = experience_->predict(*candidate.impl, std::span(&features, 1)).front();
    times.push_back(source_.roofline_ns() * std::exp(ratio));
  }
  return times;
}

}  // namespace aoe::tuner
