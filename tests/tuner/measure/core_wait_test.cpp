// The scheduler's account of threads that had no core.
#include "tuner/measure/core_wait.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <thread>

namespace aoe::tuner {
namespace {

/// A process that spins on the first core this one may use.
pid_t spin_on_first_core() {
  cpu_set_t allowed, first;
  sched_getaffinity(0, sizeof allowed, &allowed);
  CPU_ZERO(&first);
  for (int core = 0; core < CPU_SETSIZE && CPU_COUNT(&first) == 0; ++core)
    if (CPU_ISSET(core, &allowed)) CPU_SET(core, &first);
  const pid_t child = ::fork();
  if (child == 0) {
    sched_setaffinity(0, sizeof first, &first);
    const volatile bool goes_on = true;
    while (goes_on) {
    }
  }
  return child;
}

TEST(CoreWait, TwoOnOneCoreWaitForEachOther) {
  if (!std::ifstream("/proc/self/schedstat")) GTEST_SKIP() << "this kernel keeps no account";
  const pid_t one = spin_on_first_core(), other = spin_on_first_core();
  // Until it shows, however busy the machine is; a minute is a failure.
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (longest_core_wait_ns(one) < 50'000'000 && std::chrono::steady_clock::now() < end)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_GE(longest_core_wait_ns(one), 50'000'000u);
  for (const pid_t child : {one, other}) {
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
  }
  EXPECT_EQ(longest_core_wait_ns(one), 0u);  // who is gone waits no more
}

}  // namespace
}  // namespace aoe::tuner
