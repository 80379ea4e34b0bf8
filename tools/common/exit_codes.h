// Exit codes of programs that compare results: a difference is what they were asked about, no Error. Documented in docs/aoe.md,
// with those of base/error.h.
#pragma once

#include "base/error.h"

namespace aoe::tools {

inline constexpr ExitCode kOutputsDiffer{8};

}  // namespace aoe::tools
