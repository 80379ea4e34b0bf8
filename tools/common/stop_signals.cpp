// A thread that waits for the signals: nothing runs inside a signal handler.
#include "tools/common/stop_signals.h"

#include <pthread.h>
#include <unistd.h>

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
  for (const int signal : {SIGINT, SIGTERM, SIGHUP})  // SIGHUP: the terminal is gone
    if (!is_ignored(signal)) sigaddset(&signals, signal);
  ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  return signals;
}

void name_this_thread() {
  ::pthread_setname_np(::pthread_self(), "signals");
}

}  // namespace

StopSignals::StopSignals() {
  waiter_ = std::jthread([signals = block_signals(), stop = stop_](std::stop_token end) mutable {
    name_this_thread();
    constexpr timespec kInterval{0, 200'000'000};
    while (!end.stop_requested()) {
      if (::sigtimedwait(&signals, nullptr, &kInterval) < 0) continue;
      if (stop.stop_requested()) end_without_leftovers(kInterrupted);
      stop.request_stop();
    }
  });
}

void end_on_signals(const std::string& program) {
  std::thread([signals = block_signals(), line = program + ": interrupted\n"] {
    name_this_thread();
    while (::sigwaitinfo(&signals, nullptr) < 0) {
    }
    [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, line.data(), line.size());
    end_without_leftovers(kInterrupted);
  }).detach();
}

}  // namespace aoe::tools
