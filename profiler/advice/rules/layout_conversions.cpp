// Time spent on changing the Format of tensors.
#include "profiler/advice/advice.h"

namespace aoe::profiler {
namespace {

constexpr double kMostOfConversions = 0.05;

bool is_conversion(const OpTimes& op) {
  return op.op != nullptr && op.op->type == "TransData";
}

std::optional<Diagnosis> check_layout_conversions(const AdviceInput& input) {
  std::int64_t conversion_ns = 0;
  for (const OpTimes& op : input.ops)
    if (is_conversion(op)) conversion_ns += op.typical_ns();
  const double share = input.share_of_ops(conversion_ns);
  if (share <= kMostOfConversions) return std::nullopt;
  Evidence evidence{.columns = {"Op Name", "From", "To", "Shape", "Typical Time(us)", "Ratio"}};
  for (const OpTimes& op : input.ops) {
    if (!is_conversion(op) || evidence.rows.size() == kMostEvidence) continue;
    evidence.rows.push_back({op.op->name, op.op->input_formats, op.op->output_formats,
                             op.op->input_shapes, microseconds(op.typical_ns()),
                             percent(input.share_of_ops(op.typical_ns()))});
  }
  const ModelRow* model = input.profile.model(input.ops.front().model_id);
  return Diagnosis{
      "Layout conversions (TransData) take " + percent(share) + " of the time of all ops.",
      "Tune the model, so that Formats are chosen from measured costs, conversions "
      "included: " +
          (model == nullptr ? std::string("aoe") : tune_command(*model)),
      std::move(evidence)};
}

}  // namespace

void register_layout_conversions(RuleRegistry& registry) {
  registry.add({.name = "layout_conversions",
                .type = "Operator Processing",
                .subtype = "Layout Conversion",
                .view = AdviceView::kOpSummary,
                .check = check_layout_conversions});
}

}  // namespace aoe::profiler
