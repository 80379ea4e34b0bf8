// The report, from what the importer says.
#include "tools/atc/precheck.h"

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/file.h"
#include "base/json_text.h"
#include "graph/import/onnx_check.h"

namespace aoe::tools {
namespace {

using nlohmann::json;

constexpr int kUnsupported = 1;  ///< the only code of a cause that we have

json entry(const graph::NodeCheck& node) {
  json op = {{"op_name", node.name}, {"op_type", node.type}, {"result", "success"}};
  if (node.problem.empty()) return op;
  op["result"] = "failed";
  op["cause"] = {{{"code", kUnsupported}, {"message", node.problem}}};
  return op;
}

}  // namespace

void precheck(const compiler::ModelSource& model, const std::filesystem::path& report) {
  graph::ImportOptions options = model.import;
  if (model.gears) options.input_shapes = graph::input_shapes_of(*model.gears, 0);
  const graph::ModelCheck check = graph::check_onnx(model.path, options);
  json ops = json::array();
  for (const graph::NodeCheck& node : check.nodes) ops.push_back(entry(node));
  json content = {{"result", check.problem.empty() ? "success" : "failed"}, {"op", std::move(ops)}};
  if (!check.problem.empty()) content["cause"] = check.problem;
  write_file_atomically(report, json_text(content, 2, BadUtf8::kReplaced) + "\n");
  if (!check.problem.empty())
    throw Error(ExitCode::kModel, check.problem, model.path.string(),
                "the report is " + report.string());
}

}  // namespace aoe::tools
