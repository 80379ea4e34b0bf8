// msprof --dynamic=on --pid=PID: begins and ends collections of a program that runs, as its user says.
#pragma once

#include "tools/msprof/run_settings.h"

namespace aoe::tools {

/// Reads commands from stdin: start, stop, quit. Throws Error(kFailure) when the program takes no
/// commands, or no more.
void collect_dynamically(const RunSettings& settings);

}  // namespace aoe::tools
