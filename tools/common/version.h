// What --version of every program says.
#pragma once

#include <string>

namespace aoe::tools {

/// "aoe_run 0.1.0", then a line each: engine (what an om may hold), LLVM and oneDNN that it was built with, this machine as
/// soc_version.
std::string version_text(const std::string& program);

}  // namespace aoe::tools
