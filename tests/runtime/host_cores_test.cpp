// Limits of CPU time and hardware threads, read from kernel files that the test writes.
#include "runtime/threads/host_cores.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <fstream>

#include "tests/temp_dir.h"

namespace aoe::runtime {
namespace {

class HostCoresOf : public ::testing::Test {
 protected:
  void write(const std::string& path, const std::string& text) {
    std::filesystem::create_directories((root_.path() / path).parent_path());
    std::ofstream(root_.path() / path) << text;
  }
  HostCores host() const { return host_cores(root_.path()); }

 private:
  aoe::tests::TempDir root_;
};

TEST_F(HostCoresOf, WhatTheKernelDoesNotSayLimitsNothing) {
  EXPECT_EQ(host().quota, 0);
  EXPECT_EQ(host().cores, host().allowed_cpus);
  EXPECT_EQ(host().usable(), host().cores);
}

TEST_F(HostCoresOf, HardwareThreadsOfOneCoreAreOne) {
  cpu_set_t set;
  ASSERT_EQ(::sched_getaffinity(0, sizeof set, &set), 0);
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    write("sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/thread_siblings_list",
          "0-1023\n");
  EXPECT_EQ(host().allowed_cpus, CPU_COUNT(&set));
  EXPECT_EQ(host().cores, 1);
  EXPECT_EQ(host().usable(), 1);
}

TEST_F(HostCoresOf, TheLeastQuotaOfAllGroupsAboveCounts) {
  write("proc/self/cgroup", "0::/slice/job\n");
  write("sys/fs/cgroup/slice/job/cpu.max", "max 100000\n");
  EXPECT_EQ(host().quota, 0);
  write("sys/fs/cgroup/slice/cpu.max", "300000 100000\n");
  EXPECT_EQ(host().quota, 3);
  write("sys/fs/cgroup/slice/job/cpu.max", "160000 100000\n");
  EXPECT_EQ(host().quota, 2);
  write("sys/fs/cgroup/slice/job/cpu.max", "20000 100000\n");
  EXPECT_EQ(host().quota, 1);
  EXPECT_EQ(host().usable(), 1);
}

TEST_F(HostCoresOf, AContainersOwnMountCounts) {
  write("proc/self/cgroup", "0::/\n");
  write("sys/fs/cgroup/cpu.max", "100000 100000\n");
  EXPECT_EQ(host().quota, 1);
}

TEST_F(HostCoresOf, VersionOneHasFilesOfItsOwn) {
  write("proc/self/cgroup", "12:memory:/job\n4:cpu,cpuacct:/job\n");
  write("sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us", "-1\n");
  write("sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(host().quota, 0);
  write("sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us", "400000\n");
  EXPECT_EQ(host().quota, 4);
}

TEST_F(HostCoresOf, OddFilesLimitNothing) {
  write("proc/self/cgroup", "nonsense\n0:/\n:::\n0::/../../..\n");
  write("sys/fs/cgroup/cpu.max", "-5 0\n");
  EXPECT_EQ(host().quota, 0);
}

}  // namespace
}  // namespace aoe::runtime
