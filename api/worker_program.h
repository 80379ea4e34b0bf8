// Where the program is that measures candidates.
#pragma once

#include <filesystem>

namespace aoe::api {

/// What the variable AOE_WORKER names; else libexec/aoe/aoe_worker of this installation or build. Throws Error(kFailure) when there
/// is none.
std::filesystem::path worker_program();

}  // namespace aoe::api
