// How long threads of a process waited for a core: what tells a disturbed run from a slow one.
#pragma once

#include <sys/types.h>

#include <cstdint>

namespace aoe::tuner {

/// Nanoseconds that all threads of this process, together and since they began, were ready to run and had no core. From the
/// scheduler's own account; 0 on systems that keep none. Costs some microseconds.
std::uint64_t core_wait_ns();

/// The same of another process, and of that thread of it which waited longest: what its wall time would be shorter by.
std::uint64_t longest_core_wait_ns(pid_t process);

}  // namespace aoe::tuner
