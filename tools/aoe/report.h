// What aoe says at the end, on stdout: the documented line, the before/after table, the files.
#pragma once

#include <ostream>

#include "tools/aoe/settings.h"
#include "tuner/tuner.h"

namespace aoe::tools {

void print_report(std::ostream& out, const Settings& settings, const tuner::TuneOutcome& outcome,
                  const std::filesystem::path& bank_directory);

}  // namespace aoe::tools
