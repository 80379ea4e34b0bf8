// Progress for programs: a line of JSON for each report of the library.
#pragma once

#include <string>

#include "aoe/aoe.h"

namespace aoe::tools {

/// {"stage": "search", "done": 3, "total": 22, ...} without its line end; docs/aoe.md has the keys.
std::string progress_json(const AoeProgress& progress);

}  // namespace aoe::tools
