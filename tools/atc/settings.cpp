// Reads flags and environment into settings.
#include "tools/atc/settings.h"

#include <algorithm>

#include "tools/atc/fusion_switch.h"
#include "tools/common/data_dirs.h"
#include "tools/common/environment.h"
#include "tools/common/flags.h"
#include "tools/common/output_path.h"

namespace aoe::tools {
namespace {

/// 1 stands for on.
bool is_one(const po::variables_map& flags, const std::string& name) {
  return number_of(flags, name, 0, 1) == 1;
}

}  // namespace

void add_flags(po::options_description& flags) {
  flags.add_options()("mode", number_or(0, "0|6"), "0: compile a model, 6: show what an om is");
  add_model_flags(flags);
  flags.add_options()("output", text("PATH"), "the om; .om is added")(
      "soc_version", text_or("auto", "NAME"), "hardware to compile for; auto: this machine");
  add_threads_flag(flags, "compile for N threads; default OMP_NUM_THREADS, else all cores");
  flags.add_options()("op_bank_path", text("DIR"),
                      "custom operator bank, unless TUNE_BANK_PATH names one")(
      "mdl_bank_path", text("DIR"), "custom subgraph bank, before TUNE_BANK_PATH")(
      "fusion_switch_file", text("FILE"),
      "switches graph passes: lines \"pass:off\", or JSON {\"Switch\": ...}")(
      "disable_reuse_memory", number_or(0, "0|1"), "1: every tensor has memory of its own")(
      "op_debug_level", number_or(0, "0-4"),
      "keep of each generated kernel: 0 nothing; 3 assembly; 4 loop nest, too; 1 LLVM IR, too; 2 "
      "also the IR before optimisation")("debug_dir", text_or("kernel_meta", "DIR"),
                                         "where --op_debug_level writes")(
      "display_model_info", number_or(0, "0|1"), "1: show the om as --mode=6 does")(
      "om", text("FILE"), "mode 6: the om to show");
}

Mode read_mode(const po::variables_map& flags) {
  const int mode = flags["mode"].as<int>();
  constexpr int kLater[] = {1, 3, 5, 30};
  if (mode == 0) return Mode::kBuild;
  if (mode == 6) return Mode::kShowOm;
  const bool is_known = std::ranges::find(kLater, mode) != std::end(kLater);
  reject("--mode", std::to_string(mode) + " is " + (is_known ? "not available yet" : "unknown"),
         "use 0 (compile) or 6 (show an om)");
}

BuildSettings read_build_settings(const po::variables_map& flags) {
  BuildSettings settings;
  settings.model = read_model_flags(flags);
  if (!flags.contains("output")) reject("--output", "is required", "name the om to write");
  settings.soc = compiler::soc_from_version(
      text_of(flags, "soc_version"), (config_directory() / "soc").string(), threads_of(flags));
  settings.output =
      om_output_path(flags["output"].as<std::string>(), "--output",
                     settings.model.gears ? dynamic_om_suffix(settings.soc.version) : "");
  if (flags.contains("fusion_switch_file"))
    settings.disabled_passes = read_fusion_switches(flags["fusion_switch_file"].as<std::string>());
  settings.reuse_memory = !is_one(flags, "disable_reuse_memory");
  settings.op_bank_path = text_of(flags, "op_bank_path");
  settings.mdl_bank_path = text_of(flags, "mdl_bank_path");
  constexpr int kMostBankProcesses = 8;
  settings.queries_banks =
      number_variable("CANN_KNOWLEDGE_BANK_PROCESS_NUM", 0, kMostBankProcesses) != 0;
  settings.op_debug_level = number_of(flags, "op_debug_level", 0, 4).value_or(0);
  settings.debug_dir = flags["debug_dir"].as<std::string>();
  settings.shows_report = is_one(flags, "display_model_info");
  return settings;
}

std::filesystem::path read_om_path(const po::variables_map& flags) {
  if (!flags.contains("om")) reject("--om", "is required in mode 6", "name an om");
  return flags["om"].as<std::string>();
}

}  // namespace aoe::tools
