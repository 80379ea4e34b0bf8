// Conclusion <-> JSON, for journals and for answers of nodes. Without race records: who wants them keeps them beside it.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "tuner/session/conclusion.h"

namespace aoe::tuner {

nlohmann::json to_json(const Conclusion& conclusion);
/// Throws std::exception of what is none.
Conclusion conclusion_from_json(const nlohmann::json& json);

}  // namespace aoe::tuner
