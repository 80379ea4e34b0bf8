// Collections that msprof --dynamic=on begins and ends from outside, while the program runs.
#pragma once

namespace aoe::runtime::acl {

/// With PROFILING_MODE=dynamic in the environment: takes commands of msprof from now on to the end of the
/// process. Without, and the second time, it does nothing.
void accept_dynamic_profiling();
/// In the child of a fork(): commands go to the parent alone. The child takes some under its own name from its next aclInit() on.
void forget_dynamic_profiling();

}  // namespace aoe::runtime::acl
