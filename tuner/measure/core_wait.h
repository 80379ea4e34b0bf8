// How long threads of this process waited for a core: what tells a disturbed run from a slow one.
#pragma once

#include <cstdint>

namespace aoe::tuner {

/// Nanoseconds that all threads of this process, together and since they began, were ready to run and had no core. From the
/// scheduler's own account; 0 on systems that keep none. Costs some microseconds.
std::uint64_t core_wait_ns();

}  // namespace aoe::tuner
