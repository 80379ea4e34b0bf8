// Disturbers: other processes that want the cores, as on a machine that is shared.
#pragma once

#include <sys/types.h>

#include <vector>

namespace aoe::benchmarks {

/// Processes that spin until this goes, or their parent dies. Each has a session of its own: where the kernel groups
/// processes by session, each weighs as much as all threads of the measured program together.
class Disturbers {
 public:
  /// With `slows_a_core` one more that takes the last core of the process for half of every 80 us: a core of another kind, or one that a
  /// neighbour on the host has part of. Throws std::system_error when a process cannot be made, or may not have real-time priority.
  explicit Disturbers(int count, bool slows_a_core = false);
  ~Disturbers();
  Disturbers(const Disturbers&) = delete;
  Disturbers& operator=(const Disturbers&) = delete;

 private:
  void add(void (*work)());
  void end_all() const;
  std::vector<pid_t> processes_;
};

}  // namespace aoe::benchmarks
