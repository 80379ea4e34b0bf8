// Ops that were compiled without a strategy of the knowledge bank.
#include "profiler/advice/advice.h"

namespace aoe::profiler {
namespace {

constexpr double kMostWithoutStrategy =
    0.1;  // aoe keeps the default where nothing beats it: some are normal

bool lacks_strategy(const OpTimes& op) {
  return op.op != nullptr && op.op->task_type == "AI_CORE" && op.op->strategy == "default" &&
         !op.op->repo_key.empty() && !runs_bodies(*op.op);
}

std::optional<Diagnosis> check_no_strategy(const AdviceInput& input) {
  const auto [ops, sum_ns] = select_ops(input, lacks_strategy);
  const double share = input.share_of_ops(sum_ns);
  if (share <= kMostWithoutStrategy) return std::nullopt;
  Evidence evidence{.columns = {"Op Name", "OP Type", "Repo Key", "Typical Time(us)", "Ratio"}};
  for (const OpTimes* op : ops) {
    if (evidence.rows.size() == kMostEvidence) break;
    evidence.rows.push_back({op->op->name, op->op->type, op->op->repo_key,
                             microseconds(op->typical_ns()),
                             percent(input.share_of_ops(op->typical_ns()))});
  }
  const ModelRow* model = input.profile.model(ops.front()->model_id);
  return Diagnosis{std::to_string(ops.size()) +
                       " ops run with the default, not with a strategy of the bank; they take " +
                       percent(share) + " of the time of all ops.",
                   "Tune the model and compile it again: " +
                       (model == nullptr ? std::string("aoe") : tune_command(*model)),
                   std::move(evidence)};
}

}  // namespace

void register_no_strategy(RuleRegistry& registry) {
  registry.add({.name = "no_strategy",
                .type = "Computation",
                .subtype = "No Strategy In Bank",
                .view = AdviceView::kOpSummary,
                .check = check_no_strategy});
}

}  // namespace aoe::profiler
