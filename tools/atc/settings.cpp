// Reads flags and environment into settings.
#include "tools/atc/settings.h"

#include <algorithm>

#include "base/error.h"
#include "base/log.h"
#include "options/data_dirs.h"
#include "options/environment.h"
#include "options/model_flags.h"
#include "options/output_path.h"
#include "options/single_op.h"
#include "tools/atc/idle_flags.h"
#include "tools/common/flags.h"

namespace aoe::tools {
namespace {

/// 1 stands for on.
bool is_one(const po::variables_map& flags, const std::string& name) {
  return number_of(flags, name, 0, 1) == 1;
}

std::filesystem::path om_path(const po::variables_map& flags, const BuildSettings& settings) {
  if (!flags.contains("output")) reject("--output", "is required", "name the om to write");
  return om_output_path(flags["output"].as<std::string>(), "--output",
                        settings.model.gears ? dynamic_om_suffix(settings.soc.version) : "");
}

/// Of single operators.
std::filesystem::path om_directory(const po::variables_map& flags) {
  check_flags_of_single_ops(flags);
  if (!flags.contains("output")) reject("--output", "is required", "name the directory of the oms");
  const std::filesystem::path directory = flags["output"].as<std::string>();
  if (!is_writable_directory(directory))
    throw Error(ExitCode::kOutput, "is no directory that can be written",
                "--output " + directory.string(), "create it first");
  return directory;
}

/// The documents tie the flag to buffer optimisation.
std::string mdl_bank_path(const po::variables_map& flags) {
  const std::string mode = text_of(flags, "buffer_optimize");
  if (mode != "l2_optimize" && mode != "l1_optimize" && mode != "off_optimize")
    reject("--buffer_optimize", "'" + mode + "' is unknown",
           "use l2_optimize, l1_optimize or off_optimize");
  std::string path = text_of(flags, "mdl_bank_path");
  if (mode == "l2_optimize" || path.empty()) return path;
  logger("atc")->warn("--mdl_bank_path does not count with --buffer_optimize={}", mode);
  return {};
}

}  // namespace

void add_flags(po::options_description& flags) {
  flags.add_options()("mode", number_or(0, "0|1|3|5|6|30"),
                      "0: compile a model, 1: an om or a model to JSON, 3: check a model, 5: a "
                      "model as text to JSON, 6: show what an om is, 30: an om to .exeom and .dbg");
  add_model_flags(flags);
  flags.add_options()("output", text("PATH"), "the om; .om is added")(
      "soc_version", text_or("auto", "NAME"), "hardware to compile for; auto: this machine");
  add_threads_flag(flags, "compile for N threads; default OMP_NUM_THREADS, else all cores");
  flags.add_options()("op_bank_path", text("DIR"),
                      "custom operator bank, unless TUNE_BANK_PATH names one")(
      "op_bank_near", text_or("off", "on|off"),
      "on: an op that the bank does not know takes what won for the nearest shape")(
      "mdl_bank_path", text("DIR"), "custom subgraph bank, before TUNE_BANK_PATH")(
      "buffer_optimize", text_or("l2_optimize", "MODE"),
      "l2_optimize; l1_optimize and off_optimize: --mdl_bank_path does not count")(
      "disable_reuse_memory", number_or(0, "0|1"), "1: every tensor has memory of its own")(
      "op_debug_level", number_or(0, "0-4"),
      "keep of each generated kernel: 0 nothing; 3 assembly; 4 loop nest, too; 1 LLVM IR, too; 2 "
      "also the IR before optimisation")("debug_dir", text_or("kernel_meta", "DIR"),
                                         "where --op_debug_level writes")(
      "display_model_info", number_or(0, "0|1"), "1: show the om as --mode=6 does")(
      "om", text("FILE"), "modes 1, 5, 6 and 30: what to work on")("json", text("FILE"),
                                                                   "modes 1 and 5: the result")(
      "dump_mode", number_or(0, "0|1"), "mode 1: 1: with the shapes of an ONNX model")(
      "check_report", text_or("check_result.json", "FILE"), "mode 3: the result")(
      "singleop", text("FILE"),
      "operators described in JSON, instead of --model: an om for each, in the directory --output");
  add_idle_flags(flags, kAtcIdleFlags);
}

Mode read_mode(const po::variables_map& flags) {
  const int mode = flags["mode"].as<int>();
  constexpr int kModes[] = {0, 1, 3, 5, 6, 30};
  if (std::ranges::find(kModes, mode) == std::end(kModes))
    reject("--mode", std::to_string(mode) + " is unknown",
           "use 0 (compile), 1 (to JSON), 3 (check only), 5 (text to JSON), 6 (show an om) or 30 "
           "(split debugging data off an om)");
  return static_cast<Mode>(mode);
}

BuildSettings read_build_settings(const po::variables_map& flags) {
  BuildSettings settings;
  check_idle_flags(flags, kAtcIdleFlags);
  require_one_of(flags, {"model", "singleop"});
  settings.model = read_model_flags(flags, graph::OpenSizes::kTaken);
  settings.single_ops = text_of(flags, "singleop");
  settings.soc = compiler::soc_from_version(
      text_of(flags, "soc_version"), (config_directory() / "soc").string(), threads_of(flags));
  settings.output = settings.single_ops.empty() ? om_path(flags, settings) : om_directory(flags);
  settings.reuse_memory = !is_one(flags, "disable_reuse_memory");
  settings.op_bank_path = text_of(flags, "op_bank_path");
  settings.mdl_bank_path = mdl_bank_path(flags);
  settings.takes_near = is_on(flags, "op_bank_near");
  constexpr int kMostBankProcesses = 8;
  settings.queries_banks =
      number_variable("CANN_KNOWLEDGE_BANK_PROCESS_NUM", 0, kMostBankProcesses) != 0;
  settings.op_debug_level = number_of(flags, "op_debug_level", 0, 4).value_or(0);
  settings.debug_dir = flags["debug_dir"].as<std::string>();
  settings.shows_report = is_one(flags, "display_model_info");
  return settings;
}

std::filesystem::path read_om_path(const po::variables_map& flags) {
  if (!flags.contains("om"))
    reject("--om", "is required in mode " + std::to_string(flags["mode"].as<int>()), "name an om");
  return flags["om"].as<std::string>();
}

std::filesystem::path read_report_path(const po::variables_map& flags) {
  const std::filesystem::path path = flags["check_report"].as<std::string>();
  const auto work_path = variable("ASCEND_WORK_PATH");
  return flags["check_report"].defaulted() && work_path ? std::filesystem::path(*work_path) / path
                                                        : path;
}

std::filesystem::path read_split_output(const po::variables_map& flags) {
  if (!flags.contains("output")) reject("--output", "is required", "name the files without suffix");
  return om_output_path(flags["output"].as<std::string>(), "--output").replace_extension();
}

}  // namespace aoe::tools
