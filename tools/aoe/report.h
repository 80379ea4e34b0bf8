// What aoe says at the end, on stdout: the documented line, the before/after table, the files.
#pragma once

#include <ostream>

#include "aoe/aoe.h"

namespace aoe::tools {

void print_report(std::ostream& out, const AoeTuningResult& result);

}  // namespace aoe::tools
