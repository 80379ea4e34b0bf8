// Ops that run on their plain reference implementation, because no Impl carries them.
#include "profiler/advice/advice.h"

namespace aoe::profiler {
namespace {

constexpr double kMostOnReference = 0.01;

std::optional<Diagnosis> check_reference_path(const AdviceInput& input) {
  const auto [ops, sum_ns] = select_ops(
      input, [](const OpTimes& op) { return op.op != nullptr && op.op->task_type == "AI_CPU"; });
  const double share = input.share_of_ops(sum_ns);
  if (share <= kMostOnReference) return std::nullopt;
  Evidence evidence{.columns = {"Op Name", "OP Type", "Input Shapes", "Input Data Types",
                                "Typical Time(us)", "Ratio"}};
  for (const OpTimes* op : ops) {
    if (evidence.rows.size() == kMostEvidence) break;
    evidence.rows.push_back({op->op->name, op->op->type, op->op->input_shapes,
                             op->op->input_data_types, microseconds(op->typical_ns()),
                             percent(input.share_of_ops(op->typical_ns()))});
  }
  return Diagnosis{std::to_string(ops.size()) + " ops on the reference path (AI_CPU) take " +
                       percent(share) + " of the time of all ops.",
                   "Replace these operators in the model by ones that have an Impl, or give them "
                   "the data type that has one (float32); CONTRIBUTING.md says how to add an Impl.",
                   std::move(evidence)};
}

}  // namespace

void register_reference_path(RuleRegistry& registry) {
  registry.add({.name = "reference_path",
                .type = "Operator Schedule",
                .subtype = "AI CPU Ops",
                .view = AdviceView::kOpSummary,
                .check = check_reference_path});
}

}  // namespace aoe::profiler
