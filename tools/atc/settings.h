// Everything that decides a run of atc: flags and environment, read and checked.
#pragma once

#include <boost/program_options.hpp>
#include <filesystem>
#include <string>

#include "compiler/model_source.h"
#include "compiler/soc.h"

namespace aoe::tools {

enum class Mode {
  kBuild = 0,
  kToJson = 1,
  kCheck = 3,
  kTextToJson = 5,
  kShowOm = 6,
  kSplitDebug = 30,
};

/// Mode 0: model to om.
struct BuildSettings {
  compiler::ModelSource model;       ///< without a path when there are single ops
  std::filesystem::path single_ops;  ///< --singleop; empty: a model
  std::filesystem::path output;      ///< with ".om"; of single ops the directory
  compiler::Soc soc;
  bool reuse_memory = true;
  std::string op_bank_path;   ///< empty: not given
  std::string mdl_bank_path;  ///< empty: not given
  bool takes_near = false;    ///< --op_bank_near=on
  bool queries_banks = true;  ///< off: CANN_KNOWLEDGE_BANK_PROCESS_NUM=0
  int op_debug_level = 0;     ///< what of the generated kernels is kept; kernel_dump.h
  std::filesystem::path debug_dir;
  bool shows_report = false;  ///< --display_model_info=1
};

void add_flags(boost::program_options::options_description& flags);

/// All throw Error(kUsage); files and directories are Error(kModel) or Error(kOutput).
Mode read_mode(const boost::program_options::variables_map& flags);
BuildSettings read_build_settings(const boost::program_options::variables_map& flags);
/// Mode 3: where the report goes.
std::filesystem::path read_report_path(const boost::program_options::variables_map& flags);
/// Mode 30: --output without suffix; its directory is there.
std::filesystem::path read_split_output(const boost::program_options::variables_map& flags);
std::filesystem::path read_om_path(const boost::program_options::variables_map& flags);

}  // namespace aoe::tools
