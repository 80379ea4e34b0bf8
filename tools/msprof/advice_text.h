// What the advice says, for a person at the terminal.
#pragma once

#include <vector>

#include "profiler/advice/advice.h"

namespace aoe::tools {

/// To stdout, numbered, each with its evidence; says so when there is none.
void print_advice(const std::vector<profiler::Finding>& findings);

}  // namespace aoe::tools
