// Disturbers: other processes that want the cores, as on a machine that is shared.
#pragma once

#include <sys/types.h>

#include <vector>

namespace aoe::benchmarks {

/// Processes that spin until this goes, or their parent dies. Each has a session of its own: where the kernel groups
/// processes by session, each weighs as much as all threads of the measured program together.
class Disturbers {
 public:
  /// Throws std::system_error when a process cannot be made.
  explicit Disturbers(int count);
  ~Disturbers();
  Disturbers(const Disturbers&) = delete;
  Disturbers& operator=(const Disturbers&) = delete;

 private:
  void end_all() const;
  std::vector<pid_t> processes_;
};

}  // namespace aoe::benchmarks
