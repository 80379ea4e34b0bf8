// msprof --dynamic=on --pid=PID: begins and ends collections of a program that runs, as its user says.
#pragma once

#include "tools/msprof/run_settings.h"

namespace aoe::tools {

/// Reads commands from stdin: start, stop, quit; SIGINT, SIGTERM and SIGHUP quit as well. The exit code. Throws Error(kFailure)
/// when the program takes no commands, or no more.
int collect_dynamically(const RunSettings& settings);

}  // namespace aoe::tools
