// The affinity mask, topology files of sysfs, and the CPU controllers of both cgroup versions. (hwloc knows the same, and
// takes 20 ms at each start of a program to find out all else.) Tested by tests/runtime/host_cores_test.cpp.
#include "runtime/threads/host_cores.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <set>
#include <sstream>
#include <vector>

namespace aoe::runtime {
namespace {
namespace fs = std::filesystem;

std::string first_line(const fs::path& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

/// Numbers of the CPUs in the mask; empty when the kernel does not say.
std::vector<int> allowed_cpus() {
  constexpr int kMostCpus = 8192;
  cpu_set_t* set = CPU_ALLOC(kMostCpus);
  if (set == nullptr) return {};
  const std::size_t bytes = CPU_ALLOC_SIZE(kMostCpus);
  std::vector<int> cpus;
  if (::sched_getaffinity(0, bytes, set) == 0)
    for (int cpu = 0; cpu < kMostCpus; ++cpu)
      if (CPU_ISSET_S(cpu, bytes, set)) cpus.push_back(cpu);
  CPU_FREE(set);
  return cpus;
}

/// CPUs of one core name the same siblings.
int count_cores(const std::vector<int>& cpus, const fs::path& root) {
  std::set<std::string> cores;
  for (const int cpu : cpus) {
    const std::string name = "cpu" + std::to_string(cpu);
    const std::string siblings =
        first_line(root / "sys/devices/system/cpu" / name / "topology/thread_siblings_list");
    cores.insert(siblings.empty() ? name : siblings);
  }
  return static_cast<int>(cores.size());
}

/// CPUs' worth of time: "200000 100000" of cpu.max, or the two files of version 1; nothing for "max" and -1.
std::optional<double> quota_of(const std::string& quota, const std::string& period) {
  double time = 0, of = 0;
  if (!(std::istringstream(quota) >> time) || !(std::istringstream(period) >> of)) return {};
  if (time <= 0 || of <= 0) return {};
  return time / of;
}
std::optional<double> quota_in(const fs::path& group) {
  std::istringstream both(first_line(group / "cpu.max"));
  std::string quota, period;
  if (both >> quota >> period) return quota_of(quota, period);
  return quota_of(first_line(group / "cpu.cfs_quota_us"), first_line(group / "cpu.cfs_period_us"));
}

/// The groups that this process is in: "0::/system.slice/job" in version 2, "1:cpu,cpuacct:/job" in version 1. In a
/// container the path may be that of the host, and the mount its own: the mount itself counts, too.
std::vector<fs::path> cpu_groups(const fs::path& root) {
  const fs::path mount = root / "sys/fs/cgroup";
  std::vector<fs::path> groups;
  std::ifstream file(root / "proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    const fs::path path = fs::path(line.substr(second + 1)).relative_path();
    if (controllers == ",,")
      groups.push_back(mount / path);
    else if (controllers.find(",cpu,") != std::string::npos)
      for (const char* name : {"cpu", "cpu,cpuacct"}) groups.push_back(mount / name / path);
  }
  return groups;
}

/// The least of all groups up to the mount: each limits those below it.
int cpu_quota(const fs::path& root) {
  const fs::path mount = root / "sys/fs/cgroup";
  std::optional<double> least;
  for (fs::path group : cpu_groups(root))
    for (; group != mount.parent_path() && group.has_relative_path(); group = group.parent_path())
      if (const auto quota = quota_in(group)) least = std::min(least.value_or(*quota), *quota);
  return least ? std::max(1, static_cast<int>(std::lround(*least))) : 0;
}

}  // namespace

int HostCores::usable() const {
  return std::max(1, quota > 0 ? std::min(cores, quota) : cores);
}

std::string HostCores::to_text() const {
  std::string text = std::to_string(usable()) + " threads: " + std::to_string(allowed_cpus) +
                     " CPUs allowed, " + std::to_string(cores) + " cores";
  if (quota > 0) text += ", a quota of " + std::to_string(quota);
  return text;
}

int openmp_threads() {
  const char* text = std::getenv("OMP_NUM_THREADS");
  return text == nullptr ? 0 : std::max(0, std::atoi(text));
}

HostCores host_cores(const fs::path& root) {
  const std::vector<int> cpus = allowed_cpus();
  HostCores host;
  host.allowed_cpus = cpus.empty() ? static_cast<int>(std::max(1L, ::sysconf(_SC_NPROCESSORS_ONLN)))
                                   : static_cast<int>(cpus.size());
  host.cores = cpus.empty() ? host.allowed_cpus : count_cores(cpus, root);
  host.quota = cpu_quota(root);
  return host;
}

}  // namespace aoe::runtime
