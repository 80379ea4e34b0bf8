// Work of which another process knows nothing but the answer: memory and threads of each lie anew.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>

namespace aoe::tools {

/// What `work` answers in a child of this process, which ends with it. Rethrows its Error; Error(kFailure) when the child dies. Call
/// it before the caller runs a model: a child has the memory that its parent had.
nlohmann::json in_own_process(const std::function<nlohmann::json()>& work);

}  // namespace aoe::tools
