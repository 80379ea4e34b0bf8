// --mode=3: says of every node whether it could be converted, in a report, and converts nothing.
#pragma once

#include <filesystem>

#include "compiler/model_source.h"

namespace aoe::tools {

/// Writes {"result": "success", "op": [{"op_name", "op_type", "result", "cause"}]}. Error(kModel) when the model cannot be
/// converted, behind the report.
void precheck(const compiler::ModelSource& model, const std::filesystem::path& report);

}  // namespace aoe::tools
