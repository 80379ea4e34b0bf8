// --mode=30: an om as two files, what a device needs (.exeom) and what only reports need (.dbg).
#pragma once

#include <filesystem>

namespace aoe::tools {

/// `output` is without suffix. The .exeom runs as the om does; the .dbg is JSON: where strategies come from, how each op
/// was compiled, the command line. Error(kOm), Error(kOutput).
void split_debug(const std::filesystem::path& om, const std::filesystem::path& output);

}  // namespace aoe::tools
