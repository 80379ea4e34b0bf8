// Writes texts of generated kernels.
#include "tools/atc/kernel_dump.h"

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/file.h"
#include "base/json_text.h"
#include "compiler/loopnest/codegen.h"

namespace aoe::tools {
namespace {

namespace fs = std::filesystem;
namespace loopnest = compiler::loopnest;

nlohmann::json nodes_by_kernel(const runtime::Om& om) {
  nlohmann::json nodes = nlohmann::json::object();
  for (const runtime::OmStep& step : om.steps)
    for (const runtime::OmStage& stage : step.stages)
      nodes[stage.symbol].push_back({{"node", step.name}, {"op_types", step.op_types}});
  return nodes;
}

}  // namespace

void dump_kernels(const std::vector<loopnest::Function>& functions, const runtime::Om& om,
                  const compiler::Soc& soc, int op_debug_level, const fs::path& directory) {
  if (op_debug_level == 0) return;
  std::error_code status;
  fs::create_directories(directory, status);
  if (status)
    throw Error(ExitCode::kOutput, "cannot be created: " + status.message(),
                "--debug_dir " + directory.string(), "choose another one");
  const auto write = [&](const loopnest::Function& function, const char* suffix,
                         const std::string& text) {
    write_file_atomically(directory / (function.name + suffix), text);
  };
  const bool is_debug = op_debug_level == 1 || op_debug_level == 2;
  for (const loopnest::Function& function : functions) {
    write(function, ".s", loopnest::assembly(function, soc));
    if (op_debug_level != 3) write(function, ".nest", loopnest::to_text(function));
    if (is_debug) write(function, ".ll", loopnest::llvm_ir(function, soc, true));
    if (op_debug_level == 2) write(function, ".unopt.ll", loopnest::llvm_ir(function, soc, false));
  }
  write_file_atomically(directory / "kernels.json", json_text(nodes_by_kernel(om), 2) + "\n");
}

}  // namespace aoe::tools
