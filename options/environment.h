// The variables that several programs read.
#pragma once

#include <optional>
#include <string>

namespace aoe::options {

/// The variable's value; nullopt when it is unset or empty.
std::optional<std::string> variable(const char* name);

/// A variable that is a whole number from `least` to `most`; Error(kUsage) on anything else.
std::optional<int> number_variable(const char* name, int least, int most);

/// TE_PARALLEL_COMPILER (1 to 32, default 8), but not more than the machine has cores.
int compile_threads();

}  // namespace aoe::options
