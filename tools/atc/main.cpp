// atc: compiles an ONNX model to an om, with the strategies that the knowledge bank holds.
#include <fmt/format.h>

#include <iostream>
#include <memory>
#include <optional>

#include "base/file.h"
#include "base/log.h"
#include "compiler/lowering/gear_split.h"
#include "compiler/pipeline.h"
#include "options/banks.h"
#include "options/environment.h"
#include "options/model_flags.h"
#include "options/single_op.h"
#include "runtime/om/om_tuning.h"
#include "runtime/om/step_paths.h"
#include "tools/atc/debug_split.h"
#include "tools/atc/kernel_dump.h"
#include "tools/atc/model_json.h"
#include "tools/atc/om_report.h"
#include "tools/atc/precheck.h"
#include "tools/atc/settings.h"
#include "tools/common/tool.h"

namespace aoe::tools {
namespace {

/// Banks, and which of their strategies were used; none where CANN_KNOWLEDGE_BANK_PROCESS_NUM is 0.
class AskedBanks {
 public:
  AskedBanks(bank::BankKind kind, const std::string& flag, const BuildSettings& settings) {
    if (!settings.queries_banks) return;
    banks_ = open_banks(kind, bank::BankUse::kRead, settings.soc.version, flag);
    witness_.emplace(*banks_);
    if (kind == bank::BankKind::kOp && settings.takes_near) near_.emplace(*banks_);
    if (!banks_->built_in && banks_->custom->is_empty()) say_nearest(kind, settings.soc.version);
  }

  const bank::StrategySource* source() const { return witness_ ? &*witness_ : nullptr; }
  const compiler::NearSource* near() const { return near_ ? &*near_ : nullptr; }

  /// `what`: "3 subgraphs hit the bank".
  void log(const char* kind, const std::string& what, const std::vector<std::string>& hits) const {
    if (banks_)
      logger("atc")->info("{} bank {} (from {}): {}{}", kind, banks_->location.directory.string(),
                          banks_->location.chosen_by, what, witness_->built_in_share(hits));
  }

 private:
  void say_nearest(bank::BankKind kind, const std::string& soc_version) const {
    if (const auto nearest = nearest_soc_version(banks_->location, soc_version))
      logger("atc")->warn(
          "there is no {} bank of soc_version {} in {}; the nearest that has one is {}",
          bank::name(kind), soc_version, banks_->location.directory.parent_path().string(),
          *nearest);
  }

  std::optional<Banks> banks_;
  std::optional<WitnessedBanks> witness_;
  std::optional<NearBanks> near_;
};

void log_subgraph_hits(const AskedBanks& banks, const compiler::PreparedModel& model) {
  std::vector<std::string> hits;
  for (const compiler::AppliedSubgraph& each : model.subgraphs) hits.push_back(each.repo_key);
  banks.log("graph", fmt::format("{} subgraphs hit the bank", hits.size()), hits);
}

void log_strategies(const AskedBanks& banks, const runtime::Om& om) {
  const runtime::TunedOps tuned = runtime::tuned_ops(om);
  banks.log("op", fmt::format("{} of {} ops hit the bank", tuned.bank_keys.size(), tuned.ops),
            tuned.bank_keys);
  if (tuned.near > 0) logger("atc")->warn(compiler::kNearWarning, tuned.near);
}

/// Slow parts are said, once a model.
void warn_of_reference(const runtime::GearedOm& om, const std::filesystem::path& path) {
  const std::string slow = runtime::reference_part(om);
  if (!slow.empty()) logger("atc")->warn("{}: {}", path.string(), slow);
}

/// To `output`.
void build(const BuildSettings& settings, const compiler::ModelSource& source,
           const std::filesystem::path& output, const std::string& command_line) {
  const AskedBanks graph_bank(bank::BankKind::kGraph, settings.mdl_bank_path, settings);
  compiler::PreparedModel model = compiler::prepare(source, {.soc = settings.soc,
                                                             .compile_threads = compile_threads(),
                                                             .graph_bank = graph_bank.source()});
  log_subgraph_hits(graph_bank, model);

  const AskedBanks op_bank(bank::BankKind::kOp, settings.op_bank_path, settings);
  std::vector<compiler::loopnest::Function> kernels;
  compiler::CompileOptions options{.soc = settings.soc,
                                   .strategies = op_bank.source(),
                                   .near = op_bank.near(),
                                   .compile_threads = compile_threads(),
                                   .reuse_memory = settings.reuse_memory};
  if (settings.op_debug_level > 0)
    options.on_kernel = [&](const compiler::loopnest::Function& kernel) {
      kernels.push_back(kernel);
    };
  const Gears gears = model.gears;
  compiler::Compilation compilation = compiler::compile(std::move(model), std::move(options));
  log_strategies(op_bank, compilation.om);
  note_origin(compilation.om, command_line);
  dump_kernels(kernels, compilation.om, settings.soc, settings.op_debug_level, settings.debug_dir);
  const runtime::GearedOm om = compiler::om_model(std::move(compilation.om), gears);
  write_file_atomically(output, om.file().pieces());
  warn_of_reference(om, output);
}

void build_all(const BuildSettings& settings, const std::string& command_line) {
  if (!settings.queries_banks)
    logger("atc")->info("banks are not queried: CANN_KNOWLEDGE_BANK_PROCESS_NUM is 0");
  if (settings.single_ops.empty())
    return build(settings, settings.model, settings.output, command_line);
  for (SingleOp& op : read_single_ops(settings.single_ops)) {
    compiler::ModelSource source = settings.model;
    source.path = op.name;
    source.graph = std::make_shared<const graph::Graph>(std::move(op.graph));
    build(settings, source, settings.output / (op.name + ".om"), command_line);
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
      require_one_of(flags, {"model"});
      precheck(read_model_flags(flags, graph::OpenSizes::kTaken), read_report_path(flags));
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
      "the knowledge bank knows get their tuned strategies, others the heuristic default.";
  tool.examples =
      "  atc --framework=5 --model=resnet50.onnx --output=resnet50\n"
      "  atc --model=bert.onnx --output=bert --input_shape=\"input_ids:1,128\" --log=info\n"
      "  atc --model=m.onnx --output=m --input_shape=\"data:-1,3,224,224\" \\\n"
      "    --dynamic_batch_size=\"1,4,8\"\n"
      "  atc --model=m.onnx --output=m --soc_version=x86_64-icelake-server --threads=8\n"
      "  atc --model=m.onnx --output=m --insert_op_conf=aipp.cfg --output_type=FP16\n"
      "  atc --singleop=ops.json --output=oms\n"
      "  atc --mode=1 --om=resnet50.om --json=resnet50.json\n"
      "  atc --mode=6 --om=resnet50.om\n\n"
      "Variables: TUNE_BANK_PATH and ASCEND_CACHE_PATH (bank),\n"
      "  CANN_KNOWLEDGE_BANK_PROCESS_NUM (0: no bank), TE_PARALLEL_COMPILER (compile\n"
      "  threads), OMP_NUM_THREADS, AOE_CONFIG_DIR (descriptions of hardware, and\n"
      "  beside it the built-in bank)\n";
  add_flags(tool.flags);
  tool.run = [&](const auto& flags) { return run(flags, command_line); };
  return run_tool(argc, argv, std::move(tool));
}
