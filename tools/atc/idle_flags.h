// The flags that only atc has and that a CPU has nothing for; how they are read: tools/common/idle_flags.h.
#pragma once

#include "options/idle_flags.h"

namespace aoe::tools {

using options::IdleFlag;

extern const std::span<const IdleFlag> kAtcIdleFlags;

}  // namespace aoe::tools
