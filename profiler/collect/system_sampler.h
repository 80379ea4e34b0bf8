// SystemSampler: CPU time and memory of the machine and of a process, from /proc.
//
// Series: "system cpu<n> (%)" and "process cpu (%)" (100 is one core), "system memory used (KB)", "process memory (KB)".
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/collect/options.h"
#include "profiler/raw/raw_format.h"

namespace aoe::profiler {

/// Where its text comes from, so that tests can give some.
struct ProcFiles {
  std::string stat;            ///< /proc/stat
  std::string meminfo;         ///< /proc/meminfo
  std::string process_stat;    ///< /proc/<pid>/stat
  std::string process_status;  ///< /proc/<pid>/status
};
ProcFiles read_proc(const SystemSampling& wanted);

class SystemSampler {
 public:
  explicit SystemSampler(const SystemSampling& wanted) : wanted_(wanted) {}

  /// CPU shares are those since the last call, so that the first one gives none.
  std::vector<RawSample> sample(std::int64_t now_ns, const ProcFiles& files);

 private:
  void sample_system_cpu(std::string_view stat);
  void sample_process_cpu(std::string_view process_stat, std::int64_t now_ns);
  void add(const std::string& series, double value);

  struct CpuTime {
    std::uint64_t busy = 0;
    std::uint64_t all = 0;
  };
  SystemSampling wanted_;
  std::map<std::string, CpuTime> cpus_;
  std::uint64_t process_ticks_ = 0;
  std::int64_t process_time_ns_ = 0;  ///< of process_ticks_; 0: none yet
  std::int64_t now_ns_ = 0;
  std::vector<RawSample> samples_;
};

}  // namespace aoe::profiler
