// Features from shapes, Impls and Schedules.
#include "tuner/search/features.h"

#include <algorithm>
#include <cmath>

#include "compiler/roofline.h"

namespace aoe::tuner {
using compiler::Candidate;
using compiler::Features;
using compiler::Task;
namespace {

double log2_of(double value) {
  return std::log2(1 + std::max(0.0, value));
}

/// Counted from the last axis, which is the same thing in tensors of all ranks more often.
void add_extents(const std::string& tensor, const Shape& shape, Features& features) {
  for (std::size_t i = 0; i < shape.size(); ++i)
    features.emplace_back(tensor + ".extent-" + std::to_string(i + 1),
                          log2_of(static_cast<double>(shape[shape.size() - 1 - i])));
}

/// A list of more describes data, such as the nodes of a tree, and not how a task computes.
constexpr std::size_t kMostNumbers = 8;

/// Groups, strides, windows: what extents alone do not tell of a task.
void add_attributes(const reference::Attrs& attrs, Features& features) {
  for (const auto& [name, value] : attrs.all()) {
    const std::string feature = std::string(kAttributePrefix) + name;
    if (const auto* number = std::get_if<std::int64_t>(&value))
      features.emplace_back(feature, log2_of(static_cast<double>(*number)));
    const auto* numbers = std::get_if<std::vector<std::int64_t>>(&value);
    if (numbers != nullptr && numbers->size() <= kMostNumbers)
      for (std::size_t i = 0; i < numbers->size(); ++i)
        features.emplace_back(feature + "-" + std::to_string(i + 1),
                              log2_of(static_cast<double>((*numbers)[i])));
  }
}

std::string arm_name(const Candidate& candidate) {
  return std::string(candidate.impl->name()) + "/" + candidate.format.name;
}

Features features_of_task(const Task& task, const compiler::Soc& soc, WeightsIn weights_in,
                          double roofline) {
  const std::size_t anchors = reference::anchor(task.op).body == nullptr ? 1 : 0;
  Features features = {
      {kRooflineFeature, roofline},
      {"task.flops", log2_of(compiler::flops(task))},
      {"task.bytes", log2_of(compiler::bytes_moved(task))},
      {"task.intensity", compiler::flops(task) / std::max(1.0, compiler::bytes_moved(task))},
      {"task.threads", static_cast<double>(soc.threads)},
      {"task.weights_in", static_cast<double>(weights_in)},
      {"task.epilogue_steps", static_cast<double>(reference::op_types(task.op).size() - anchors)}};
  for (std::size_t i = 0; i < std::min<std::size_t>(2, task.inputs.size()); ++i)
    if (task.inputs[i].is_present())
      add_extents("in" + std::to_string(i), task.in(i).shape, features);
  if (!task.outputs.empty()) add_extents("out", task.out().shape, features);
  add_attributes(reference::anchor(task.op).attrs, features);
  return features;
}

}  // namespace

double roofline_ns(const Task& task, const compiler::Soc& soc) {
  return compiler::launch_ns(soc) + std::max(compiler::compute_ns(soc, compiler::flops(task), 1.0),
                                             compiler::memory_ns(soc, compiler::bytes_moved(task)));
}

FeatureSource::FeatureSource(const Task& task, const compiler::Soc& soc, WeightsIn weights_in,
                             const Candidate& default_candidate)
    : task_(task),
      soc_(soc),
      roofline_ns_(tuner::roofline_ns(task, soc)),
      of_task_(features_of_task(task, soc, weights_in, roofline_ns_)) {
  add_default(default_candidate);
}

void FeatureSource::add_default(const Candidate& candidate) {
  const Arm& arm = arm_of(candidate);
  of_task_.emplace_back(kDefaultEstimateFeature, arm.estimate_ratio);
  of_task_.emplace_back("default." + arm_name(candidate), 1);
  const Features own = arm.plan->features(candidate.schedule);
  if (const auto cycles = find_feature(own, "core_cycles"))
    of_task_.emplace_back("default.cycles_ratio", *cycles / roofline_ns_);
}

const FeatureSource::Arm& FeatureSource::arm_of(const Candidate& candidate) {
  const auto [at, is_new] = arms_.try_emplace(arm_name(candidate));
  Arm& arm = at->second;
  if (is_new) {
    arm.plan = candidate.impl->plan(task_, candidate.format, soc_);
    const double ns = arm.plan->estimate_ns(arm.plan->heuristic());
    arm.estimate_ratio = std::log(std::max(ns, 1.0) / roofline_ns_);
  }
  return arm;
}

Features FeatureSource::of(const Candidate& candidate) {
  Features features = of_task_;
  const Arm& arm = arm_of(candidate);
  features.emplace_back(kEstimateFeature, arm.estimate_ratio);
  features.emplace_back("format." + candidate.format.name, 1);
  for (const auto& [name, value] : candidate.schedule)
    features.emplace_back("axis." + name, static_cast<double>(value));
  for (const auto& [name, value] : arm.plan->features(candidate.schedule)) {
    features.emplace_back("impl." + name, value);
    // As a ratio it means the same in every task.
    if (name == "core_cycles") features.emplace_back("cycles_ratio", value / roofline_ns_);
  }
  return features;
}

std::optional<double> find_feature(const Features& features, std::string_view name) {
  for (const auto& [key, value] : features)
    if (key == name) return value;
  return std::nullopt;
}

}  // namespace aoe::tuner
