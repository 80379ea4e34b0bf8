// How many threads this process can keep busy: what the kernel lets it use, and what that is in cores.
#pragma once

#include <filesystem>
#include <string>

namespace aoe::runtime {

struct HostCores {
  int allowed_cpus = 1;  ///< in the affinity mask
  int cores =
      1;  ///< physical ones behind them: two hardware threads of one core share its FMA units
  int quota = 0;  ///< whole CPUs of time that the cgroups grant, at least 1; 0: no limit

  /// Threads that do not take each other's units or time.
  int usable() const;
  /// "2 threads: 4 CPUs allowed, 4 cores, a quota of 2"
  std::string to_text() const;
};

/// OMP_NUM_THREADS, of nested teams ("4,2") the outermost; 0 when it is not set, or no number.
int openmp_threads();

/// Of this process now. Kernel files that are missing (/proc or /sys not mounted) limit nothing. `root` stands for "/".
HostCores host_cores(const std::filesystem::path& root = "/");

}  // namespace aoe::runtime
