// SIGINT, SIGTERM and SIGHUP as a stop request; a second one ends the process at once.
#pragma once

#include <stop_token>
#include <thread>

namespace aoe::tools {

class StopSignals {
 public:
  /// Before any other thread starts: those inherit the blocked signals.
  StopSignals();
  std::stop_token token() const { return stop_.get_token(); }

 private:
  std::stop_source stop_;
  std::jthread waiter_;
};

}  // namespace aoe::tools
