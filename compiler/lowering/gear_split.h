// split_gears(): the om of all gears joined (graph/import/gears.h) -> one om per gear that share a file.
#pragma once

#include <string>

#include "base/gears.h"
#include "runtime/om/geared_om.h"

namespace aoe::compiler {

/// `joined` as compile() made it from a joined graph, or read back. The result is for serialize():
/// its weights and code are what `joined` had.
runtime::GearedOm split_gears(runtime::Om joined, const Gears& gears);

/// What the om file of a model that compile() made holds: split when it has gears.
runtime::GearedOm om_model(runtime::Om om, const Gears& gears);

}  // namespace aoe::compiler
