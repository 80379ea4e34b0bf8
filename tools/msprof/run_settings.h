// The flags of a collection, and what they mean.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "profiler/collect/options.h"
#include "tools/common/flags.h"
#include "tools/msprof/post_process.h"

namespace aoe::tools {

struct RunSettings {
  profiler::CollectOptions options;
  std::vector<std::string> command;  ///< program and arguments; empty: system data alone
  std::map<std::string, std::string> environment;  ///< of the program, beside msprof's own
  int dynamic_pid = 0;                             ///< > 0: this process, at the user's commands
  double system_period_s = 0;                      ///< > 0: system data alone, for so long
  bool exports = true;                             ///< parse and export what was collected
  ExportAs type = ExportAs::kText;
  std::vector<std::string> without_effect;  ///< flags for which this hardware has nothing
};

void add_run_flags(po::options_description& flags);

/// `words`: what follows the flags. Throws Error(kUsage).
RunSettings run_settings(const po::variables_map& flags, const std::vector<std::string>& words);

}  // namespace aoe::tools
