// A thread that waits for the signals: nothing runs inside a signal handler.
#include "tools/common/stop_signals.h"

#include <unistd.h>

#include <csignal>
#include <ctime>

#include "base/error.h"

namespace aoe::tools {

StopSignals::StopSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGHUP);  // the terminal is gone; under nohup it does not come
  ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  waiter_ = std::jthread([signals, stop = stop_](std::stop_token end) mutable {
    constexpr timespec kInterval{0, 200'000'000};
    while (!end.stop_requested()) {
      if (::sigtimedwait(&signals, nullptr, &kInterval) < 0) continue;
      if (stop.stop_requested()) ::_exit(static_cast<int>(ExitCode::kInterrupted));
      stop.request_stop();
    }
  });
}

}  // namespace aoe::tools
