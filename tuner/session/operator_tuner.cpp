// Lessons, neighbours, and the search that gets them.
#include "tuner/session/operator_tuner.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tuner/fleet/fleet.h"
#include "tuner/session/lessons_file.h"
#include "tuner/session/operator_order.h"

namespace aoe::tuner {
namespace {
constexpr std::size_t kNeighbourSeeds = 3;
}

void OperatorTuner::learn() {
  auto lessons = lessons_of(bank_.recent_records(CostModel::kMostLessons));
  if (options_.fleet != nullptr)
    options_.fleet->publish_lessons(options_.soc.version, lessons.size(),
                                    [&] { return lessons_to_json(lessons); });
  cost_model_.learn(std::move(lessons));
  learn_winners();
}

void OperatorTuner::learn_for(const OperatorTask& task) {
  std::set<std::string> impls;
  for (const compiler::Candidate& candidate : task.heuristics)
    if (learnt_.emplace(candidate.impl->name()).second) impls.emplace(candidate.impl->name());
  if (impls.empty()) return;
  auto lessons = lessons_of(bank_.recent_records(CostModel::kMostLessons));
  std::erase_if(lessons, [&](const Lesson& lesson) { return !impls.contains(lesson.impl); });
  cost_model_.learn(std::move(lessons));
  if (impls.size() == learnt_.size()) learn_winners();  // the first time
}

void OperatorTuner::learn_winners() {
  for (const bank::BankEntry& entry : bank_.entries())
    if (auto neighbour = neighbour_of(entry)) winners_.push_back(std::move(*neighbour));
}

void OperatorTuner::note_winner(const OperatorTask& task, const bank::Strategy& strategy) {
  winners_.push_back(neighbour_of(task.task, strategy));
}

void OperatorTuner::add_what_is_known(OperatorTuningInput& input) const {
  if (options_.reload)
    std::ranges::move(bank_.records(input.task.key), std::back_inserter(input.records));
  const auto neighbours =
      seeds_from_neighbours(input.task, winners_, options_.soc, kNeighbourSeeds);
  input.seeds.insert(input.seeds.begin(), neighbours.begin(), neighbours.end());
}

OperatorTuningContext OperatorTuner::context() const {
  Policy policy = options_.policy;
  policy.measure.weights_in = baseline_.weights_in;
  return {.soc = options_.soc,
          .policy = std::move(policy),
          .policy_text = baseline_.policy_text,
          .origin = baseline_.origin,
          .seed = options_.seed,
          .peak_gflops = bank_.roofs().value_or(bank::Roofs{}).peak_gflops};
}

Conclusion OperatorTuner::tune(OperatorTuningInput input) {
  add_what_is_known(input);
  OperatorTuningContext with_experience = context();
  with_experience.cost_model = &cost_model_;
  return tune_operator(input, measurer_, with_experience);
}

nlohmann::json OperatorTuner::order(OperatorTuningInput input, double limit_s) const {
  add_what_is_known(input);
  return operator_order(input, context(), limit_s);
}

}  // namespace aoe::tuner
