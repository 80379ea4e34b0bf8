// Running what uses OpenMP in a process that was forked after a parent's parallel region.
#pragma once

#include <functional>

namespace aoe::runtime {

/// Whether the calling thread came into this process through fork(): OpenMP believes that its team is still there, and would
/// wait for it for ever. Cheap.
bool came_through_fork();

/// Runs `work` on a thread that was made in this process, which has a team of its own, and waits for it; exceptions come
/// back. For threads of which came_through_fork() is true.
void run_beside_fork(const std::function<void()>& work);

}  // namespace aoe::runtime
