// One op type that takes most of the time: that is where work pays.
#include <algorithm>

#include "profiler/advice/advice.h"

namespace aoe::profiler {
namespace {

constexpr double kMostOfOneType = 0.5;

std::optional<Diagnosis> check_dominating_type(const AdviceInput& input) {
  if (input.types.size() < 2) return std::nullopt;
  const auto first = std::ranges::max_element(input.types, {}, &TypeTimes::typical_ns);
  const double share = input.share_of_ops(first->typical_ns);
  if (share <= kMostOfOneType) return std::nullopt;
  Evidence evidence{.columns = {"Op Name", "Count", "Typical Time(us)", "Ratio"}};
  const OpSelection selection = select_ops(input, [&](const OpTimes& op) {
    return op.op != nullptr && op.op->type == first->op_type &&
           op.op->task_type == first->task_type;
  });
  for (const OpTimes* op : selection.ops) {
    if (evidence.rows.size() == kMostEvidence) break;
    evidence.rows.push_back({op->op->name, std::to_string(op->stats.count),
                             microseconds(op->typical_ns()),
                             percent(input.share_of_ops(op->typical_ns()))});
  }
  return Diagnosis{first->op_type + " takes " + percent(share) + " of the time of all ops.",
                   "Tune these ops first (tune_ops_file of aoe), and compare their "
                   "analytic_roofline_share in op_summary: a low share can still be gained.",
                   std::move(evidence)};
}

}  // namespace

void register_dominating_type(RuleRegistry& registry) {
  registry.add({.name = "dominating_type",
                .type = "Computation",
                .subtype = "Dominating Op Type",
                .view = AdviceView::kOpSummary,
                .check = check_dominating_type});
}

}  // namespace aoe::profiler
