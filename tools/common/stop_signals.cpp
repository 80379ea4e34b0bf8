// A thread that waits for the signals: nothing runs inside a signal handler.
#include "tools/common/stop_signals.h"

#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <ctime>

#include "base/error.h"
#include "base/new_file.h"

namespace aoe::tools {
namespace {

constexpr int kInterrupted = static_cast<int>(ExitCode::kInterrupted);

bool is_ignored(int signal) {
  struct sigaction action {};
  return ::sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

/// For this thread and those that it starts. What is ignored would come all the same once it is blocked.
sigset_t block_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGXCPU})  // SIGHUP: the terminal is gone
    if (!is_ignored(signal)) sigaddset(&signals, signal);
  ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  return signals;
}

/// At the soft limit of processor time the kernel sends SIGXCPU, at the hard one it kills; the shell's `ulimit -t` sets both alike.
void keep_time_to_end_in() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_CPU, &limit) != 0 || limit.rlim_max == RLIM_INFINITY) return;
  const rlim_t kept_s = std::clamp<rlim_t>(limit.rlim_max / 10, 1, 30);
  if (limit.rlim_max <= kept_s) return;
  limit.rlim_cur = std::min(limit.rlim_cur, limit.rlim_max - kept_s);
  ::setrlimit(RLIMIT_CPU, &limit);
}

void say(const std::string& line) {
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, line.data(), line.size());
}

std::string interrupted_by(int signal, const std::string& program) {
  return program + ": interrupted" +
         (signal == SIGXCPU ? ": its processor time is used up; raise ulimit -t\n" : "\n");
}

void name_this_thread() {
  ::pthread_setname_np(::pthread_self(), "signals");
}

}  // namespace

StopSignals::StopSignals() {
  keep_time_to_end_in();
  waiter_ = std::jthread([signals = block_signals(), stop = stop_](std::stop_token end) mutable {
    name_this_thread();
    constexpr timespec kInterval{0, 200'000'000};
    while (!end.stop_requested()) {
      const int signal = ::sigtimedwait(&signals, nullptr, &kInterval);
      const bool is_first = !stop.stop_requested();
      if (signal < 0 || (signal == SIGXCPU && !is_first)) continue;  // that comes every second
      if (!is_first) end_without_leftovers(kInterrupted);
      if (signal == SIGXCPU) say(interrupted_by(signal, program_invocation_short_name));
      stop.request_stop();
    }
  });
}

void end_on_signals(const std::string& program) {
  keep_time_to_end_in();
  std::thread([signals = block_signals(), program] {
    name_this_thread();
    int signal = -1;
    while ((signal = ::sigwaitinfo(&signals, nullptr)) < 0) {
    }
    say(interrupted_by(signal, program));
    end_without_leftovers(kInterrupted);
  }).detach();
}

}  // namespace aoe::tools
