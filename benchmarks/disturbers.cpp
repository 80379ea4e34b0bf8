// Forked, so that nothing has to be installed for it.
#include "benchmarks/disturbers.h"

#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <ctime>
#include <system_error>

namespace aoe::benchmarks {
namespace {

// In a child of a program with threads: system calls alone.

[[noreturn]] void spin() {
  const volatile bool goes_on = true;
  while (goes_on) {
  }
  ::_exit(0);
}

std::int64_t now_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

[[noreturn]] void take_half_of_the_last_core() {
  cpu_set_t cores, last;
  ::sched_getaffinity(0, sizeof cores, &cores);
  CPU_ZERO(&last);
  for (int core = CPU_SETSIZE; core-- > 0 && CPU_COUNT(&last) == 0;)
    if (CPU_ISSET(core, &cores)) CPU_SET(core, &last);
  ::sched_setaffinity(0, sizeof last, &last);
  ::prctl(PR_SET_TIMERSLACK, 1000);
  constexpr std::int64_t kHalfNs = 40'000;
  while (true) {
    for (const std::int64_t begin = now_ns(); now_ns() < begin + kHalfNs;) {
    }
    const timespec pause{.tv_sec = 0, .tv_nsec = kHalfNs};
    ::nanosleep(&pause, nullptr);
  }
}

}  // namespace

Disturbers::Disturbers(int count, bool slows_a_core) {
  for (int i = 0; i < count; ++i) add(spin);
  if (!slows_a_core) return;
  add(take_half_of_the_last_core);
  const sched_param priority{.sched_priority = 1};
  if (::sched_setscheduler(processes_.back(), SCHED_FIFO, &priority) == 0) return;
  const int cause = errno;
  end_all();
  throw std::system_error(cause, std::generic_category(), "real-time priority (CAP_SYS_NICE)");
}

void Disturbers::add(void (*work)()) {
  const pid_t process = ::fork();
  if (process == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::setsid();
    work();
  }
  if (process < 0) {
    const int cause = errno;
    end_all();
    throw std::system_error(cause, std::generic_category(), "fork");
  }
  processes_.push_back(process);
}

Disturbers::~Disturbers() {
  end_all();
}

void Disturbers::end_all() const {
  for (const pid_t process : processes_) ::kill(process, SIGKILL);
  for (const pid_t process : processes_) ::waitpid(process, nullptr, 0);
}

}  // namespace aoe::benchmarks
