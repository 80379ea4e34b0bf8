// Socs as JSON: descriptions of other hardware in configuration files, and of a node for its coordinator.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "compiler/soc.h"

namespace aoe::compiler {

/// All of it.
nlohmann::json to_json(const Soc& soc);
/// The inverse. Error(kUsage) that begins with `where`.
Soc soc_from_json(const nlohmann::json& json, const std::string& where);

}  // namespace aoe::compiler
