// Running the program that is collected, in the foreground.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace aoe::tools {

struct ChildEnd {
  int exit_code = 0;  ///< as a shell gives it: 128 + signal when a signal ended it
  int signal = 0;     ///< 0: it ended by itself
};

/// Runs `command` with these variables added, and waits for its end. SIGTERM, SIGINT and SIGHUP to msprof are handed on, unless
/// they are the terminal's (Ctrl-C, its end), which sends them to both; msprof goes on to what was collected. Throws Error(kUsage) when it cannot be run.
ChildEnd run_child(const std::vector<std::string>& command,
                   const std::map<std::string, std::string>& environment,
                   const std::string& advice = {});

}  // namespace aoe::tools
