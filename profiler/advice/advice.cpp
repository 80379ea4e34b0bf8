// Runs the rules, and writes what they found.
#include "profiler/advice/advice.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>

#include "all_rules.inc"
#include "base/file.h"
#include "base/json_text.h"
#include "profiler/export/text_file.h"

namespace aoe::profiler {
namespace {
using nlohmann::ordered_json;

ordered_json to_json(const Finding& finding) {
  ordered_json data = ordered_json::array();
  for (const auto& row : finding.diagnosis.evidence.rows) {
    ordered_json object = ordered_json::object();
    for (std::size_t i = 0; i < row.size(); ++i)
      object[finding.diagnosis.evidence.columns.at(i)] = row[i];
    data.push_back(std::move(object));
  }
  return {{"Rule Name", finding.rule},
          {"Rule Type", finding.type},
          {"Rule Subtype", finding.subtype},
          {"Rule Description", finding.diagnosis.description},
          {"Rule Suggestion", finding.diagnosis.suggestion},
          {"Tuning Data", std::move(data)}};
}

}  // namespace

std::string_view name_of(AdviceView view) {
  switch (view) {
    case AdviceView::kOpSummary:
      return "Op Summary";
    case AdviceView::kOpParallel:
      return "Op Parallel";
    case AdviceView::kModelSummary:
      return "Model Summary";
  }
  return "";
}

AdviceInput::AdviceInput(const Database& database)
    : profile(database), ops(op_times(database, {})), types(type_times(database, {})) {
  op_ns = typical_ns(ops);
  Statement row = database.connection().prepare(
      "SELECT coalesce(sum(endNs - startNs), 0), count(*) FROM MODEL_EXECUTION");
  row.step();
  execution_ns = row.integer(0);
  executions = row.integer(1);
}

RuleRegistry::RuleRegistry() {
  register_all_rules(*this);
}

std::vector<Finding> advise(const Database& profile) {
  const AdviceInput input(profile);
  std::vector<Finding> findings;
  const RuleRegistry registry;
  for (const Rule& rule : registry.rules())
    if (std::optional<Diagnosis> diagnosis = rule.check(input))
      findings.push_back({rule.name, rule.type, rule.subtype, rule.view, std::move(*diagnosis)});
  return findings;
}

void write_advice(const std::vector<Finding>& findings, const std::filesystem::path& path) {
  ordered_json data = ordered_json::object();
  for (const AdviceView view :
       {AdviceView::kOpSummary, AdviceView::kOpParallel, AdviceView::kModelSummary})
    data[std::string(name_of(view))] = ordered_json::array();
  for (const Finding& finding : findings)
    data[std::string(name_of(finding.view))].push_back(to_json(finding));
  const ordered_json file = {{"data", std::move(data)}};
  write_file_atomically(path, json_text(file, 2, BadUtf8::kReplaced) + "\n");
}

OpSelection select_ops(const AdviceInput& input,
                       const std::function<bool(const OpTimes&)>& wanted) {
  OpSelection selection;
  for (const OpTimes& op : input.ops) {
    if (!wanted(op)) continue;
    selection.ops.push_back(&op);
    selection.typical_ns += op.typical_ns();
  }
  std::ranges::stable_sort(selection.ops, std::ranges::greater{},
                           [](const OpTimes* op) { return op->typical_ns(); });
  return selection;
}

std::string percent(double share) {
  std::string text;
  append_real(text, 100 * share, 1);
  return text + "%";
}

std::string microseconds(std::int64_t ns) {
  std::string text;
  append_us(text, ns);
  return text;
}

bool runs_bodies(const OpRow& op) {
  return op.impl == "control";
}

std::string tune_command(const ModelRow& model) {
  // An om does not say which file it was compiled from: the file's name is the best guess.
  const std::string stem = std::filesystem::path(model.om_path).stem().string();
  const bool has_parts =
      std::ranges::any_of(model.ops, [](const OpRow& op) { return op.type == "MapSlices"; });
  return "aoe --framework=5 --model=" + (stem.empty() ? model.name : stem) + ".onnx --job_type=2" +
         (has_parts
              ? " --input_shape=\"NAME:SIZES\", with sizes in the place of open ones: those of "
                "the parts that aoe_bank explain lists"
              : "");
}

}  // namespace aoe::profiler
