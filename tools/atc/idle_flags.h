// The flags that only atc has and that a CPU has nothing for; how they are read: tools/common/idle_flags.h.
#pragma once

#include "tools/common/idle_flags.h"

namespace aoe::tools {

extern const std::span<const IdleFlag> kAtcIdleFlags;

}  // namespace aoe::tools
