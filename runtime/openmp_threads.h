// OpenMpThreads: for as long as it lives, the team size of the calling thread. oneDNN shapes its work for that of the moment when a
// primitive is made, and runs it with that of the moment when it is run.
#pragma once

#include <omp.h>

namespace aoe::runtime {

class OpenMpThreads {
 public:
  explicit OpenMpThreads(int threads) : before_(omp_get_max_threads()) {
    if (threads != before_) omp_set_num_threads(threads);
  }
  ~OpenMpThreads() { omp_set_num_threads(before_); }
  OpenMpThreads(const OpenMpThreads&) = delete;
  OpenMpThreads& operator=(const OpenMpThreads&) = delete;

 private:
  int before_;
};

}  // namespace aoe::runtime
