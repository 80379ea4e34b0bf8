// OpenMpThreads: for as long as it lives, the team size of the calling thread. oneDNN shapes its work for that of the moment when a
// primitive is made, and runs it with that of the moment when it is run.
#pragma once

#include <omp.h>

namespace aoe::runtime {

/// Before a region of so many: libgomp ends the process where it cannot start them. Throws std::system_error, as std::thread does;
/// nothing is started where the calling thread has them already.
void ask_for_openmp_threads(int threads);

/// Behind what ends the calling thread's team.
void forget_openmp_threads();

class OpenMpThreads {
 public:
  /// Throws as ask_for_openmp_threads().
  explicit OpenMpThreads(int threads) : before_(omp_get_max_threads()) {
    ask_for_openmp_threads(threads);
    if (threads != before_) omp_set_num_threads(threads);
  }
  ~OpenMpThreads() { omp_set_num_threads(before_); }
  OpenMpThreads(const OpenMpThreads&) = delete;
  OpenMpThreads& operator=(const OpenMpThreads&) = delete;

 private:
  int before_;
};

}  // namespace aoe::runtime
