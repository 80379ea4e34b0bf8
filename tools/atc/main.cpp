// atc: compiles an ONNX model to an om, with the strategies that the knowledge bank holds.
#include <iostream>

#include "base/file.h"
#include "base/log.h"
#include "compiler/compiler.h"
#include "compiler/gear_split.h"
#include "graph/passes.h"
#include "graph/precision.h"
#include "tools/atc/debug_split.h"
#include "tools/atc/kernel_dump.h"
#include "tools/atc/model_json.h"
#include "tools/atc/om_report.h"
#include "tools/atc/precheck.h"
#include "tools/atc/settings.h"
#include "tools/common/banks.h"
#include "tools/common/environment.h"
#include "tools/common/float16_choice.h"
#include "tools/common/model_graph.h"
#include "tools/common/single_op.h"
#include "tools/common/tool.h"
#include "tuner/precision/mixed_precision.h"

namespace aoe::tools {
namespace {

/// Rewrites what the subgraph bank knows.
std::vector<compiler::AppliedSubgraph> apply_graph_bank(graph::GearedGraph& model,
                                                        const BuildSettings& settings) {
  if (!settings.queries_banks) return {};
  const Banks banks = open_banks(bank::BankKind::kGraph, bank::BankUse::kRead, settings.soc.version,
                                 settings.mdl_bank_path);
  const WitnessedBanks plans(banks);
  auto applied = compiler::apply_graph_strategies(model.graph, plans, settings.soc);
  std::vector<std::string> hits;
  for (const compiler::AppliedSubgraph& each : applied) hits.push_back(each.repo_key);
  logger("atc")->info("graph bank {} (from {}): {} subgraphs hit the bank{}",
                      banks.location.directory.string(), banks.location.chosen_by, applied.size(),
                      plans.built_in_share(hits));
  return applied;
}

compiler::Compilation compile_with_banks(const graph::Graph& graph, const BuildSettings& settings,
                                         compiler::CompileOptions options) {
  if (!settings.queries_banks) {
    logger("atc")->info("banks are not queried: CANN_KNOWLEDGE_BANK_PROCESS_NUM is 0");
    return compiler::compile(graph, options);
  }
  const Banks banks = open_banks(bank::BankKind::kOp, bank::BankUse::kRead, settings.soc.version,
                                 settings.op_bank_path);
  const WitnessedBanks strategies(banks);
  options.strategies = &strategies;
  compiler::Compilation compilation = compiler::compile(graph, options);
  std::vector<std::string> hits;
  for (const compiler::NodeReport& node : compilation.nodes)
    if (node.bank_hit) hits.push_back(node.repo_key);
  logger("atc")->info("op bank {} (from {}): {} of {} ops hit the bank{}",
                      banks.location.directory.string(), banks.location.chosen_by, hits.size(),
                      compilation.nodes.size(), strategies.built_in_share(hits));
  return compilation;
}

/// To `output`.
void build(const BuildSettings& settings, graph::GearedGraph model,
           const std::filesystem::path& output, const std::string& command_line) {
  std::vector<compiler::loopnest::Function> kernels;
  compiler::CompileOptions options{.soc = settings.soc,
                                   .compile_threads = compile_threads(),
                                   .reuse_memory = settings.reuse_memory,
                                   .fixed = {},
                                   .subgraphs = apply_graph_bank(model, settings)};
  if (settings.op_debug_level > 0)
    options.on_kernel = [&](const compiler::loopnest::Function& kernel) {
      kernels.push_back(kernel);
    };
  if (settings.model.precision.allow_bf16) {
    compiler::CompileOptions chosen = options;
    chosen.soc.has_fp16 &= settings.model.precision.allow_fp16;
    keep_dtypes(model.graph, settings.model.op_precision);
    const tuner::MixedPrecision choice = tuner::choose_bf16(model.graph, chosen);
    graph::forget_kept_dtypes(model.graph);
    logger("atc")->info("bfloat16 in {} of {} products, error {:.1e} of the range", choice.lowered,
                        choice.candidates, choice.error);
  }
  compiler::Compilation compilation = compile_with_banks(model.graph, settings, std::move(options));
  note_origin(compilation.om, command_line);
  dump_kernels(kernels, compilation.om, settings.soc, settings.op_debug_level, settings.debug_dir);
  write_file_atomically(output, compiler::om_file(std::move(compilation.om), model.gears));
}

void build_all(BuildSettings settings, const std::string& command_line) {
  if (settings.single_ops.empty()) {
    keep_float16_to_budget(
        settings.model, {},
        {.soc = settings.soc, .compile_threads = compile_threads(), .fixed = {}, .subgraphs = {}},
        "atc");
    return build(settings, read_graph(settings.model, {}), settings.output, command_line);
  }
  for (SingleOp& op : read_single_ops(settings.single_ops)) {
    graph::GearedGraph model{.graph = std::move(op.graph), .gears = {}};
    graph::run_passes(model.graph, passes_of(settings.model, {}));
    ask_high_precision(model.graph, settings.model.op_precision);
    build(settings, std::move(model), settings.output / (op.name + ".om"), command_line);
  }
}

void compile_model(const po::variables_map& flags, const std::string& command_line) {
  const BuildSettings settings = read_build_settings(flags);
  build_all(settings, command_line);
  if (settings.shows_report && settings.single_ops.empty())
    print_om_report(std::cout, runtime::GearedOm::load(settings.output));
}

ExitCode run(const po::variables_map& flags, const std::string& command_line) {
  switch (read_mode(flags)) {
    case Mode::kShowOm:
      print_om_report(std::cout, runtime::GearedOm::load(read_om_path(flags)));
      return ExitCode::kSuccess;
    case Mode::kBuild:
      compile_model(flags, command_line);
      break;
    case Mode::kToJson:
      write_model_json(flags);
      break;
    case Mode::kCheck:
      precheck(read_model_flags(flags), read_report_path(flags));
      break;
    case Mode::kTextToJson:
      write_text_json(flags);
      break;
    case Mode::kSplitDebug:
      split_debug(read_om_path(flags), read_split_output(flags));
      break;
  }
  std::cout << "ATC run success, welcome to the next use.\n";
  return ExitCode::kSuccess;
}

}  // namespace
}  // namespace aoe::tools

int main(int argc, char** argv) {
  using namespace aoe::tools;
  std::string command_line = argv[0];
  for (int i = 1; i < argc; ++i) command_line += std::string(" ") + argv[i];
  Tool tool;
  tool.name = "atc";
  tool.synopsis = "atc --framework=5 --model=M.onnx --output=M [flags]";
  tool.summary =
      "Compiles an ONNX model to an offline model (om) for this machine or another one. Ops that "
      "the\n"
      "knowledge bank knows get their tuned strategies, others the heuristic default.";
  tool.examples =
      "  atc --framework=5 --model=resnet50.onnx --output=resnet50\n"
      "  atc --model=bert.onnx --output=bert --input_shape=\"input_ids:1,128\" --log=info\n"
      "  atc --model=m.onnx --output=m --input_shape=\"data:-1,3,224,224\" "
      "--dynamic_batch_size=\"1,4,8\"\n"
      "  atc --model=m.onnx --output=m --soc_version=x86_64-icelake-server --threads=8\n"
      "  atc --model=m.onnx --output=m --insert_op_conf=aipp.cfg --output_type=FP16\n"
      "  atc --singleop=ops.json --output=oms\n"
      "  atc --mode=1 --om=resnet50.om --json=resnet50.json\n"
      "  atc --mode=6 --om=resnet50.om\n\n"
      "Variables: TUNE_BANK_PATH and ASCEND_CACHE_PATH (bank), CANN_KNOWLEDGE_BANK_PROCESS_NUM (0: "
      "no bank),\n"
      "  TE_PARALLEL_COMPILER (compile threads), OMP_NUM_THREADS,\n"
      "  AOE_CONFIG_DIR (descriptions of hardware, and beside it the built-in bank)\n";
  add_flags(tool.flags);
  tool.run = [&](const auto& flags) { return run(flags, command_line); };
  return run_tool(argc, argv, std::move(tool));
}
