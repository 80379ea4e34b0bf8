// Log lines for a callback of the C interface.
#pragma once

#include "aoe/aoe.h"

namespace aoe::api {

/// nullptr: to stderr again.
void route_log(AoeLogCallback callback, void* user);

}  // namespace aoe::api
