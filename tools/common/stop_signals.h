// SIGINT, SIGTERM, SIGHUP, and SIGXCPU, which comes before the limit of processor time does: those of them that the program was not
// started to ignore (nohup, background jobs of scripts).
#pragma once

#include <stop_token>
#include <string>
#include <thread>

namespace aoe::tools {

/// As a stop request; a second one, but SIGXCPU, ends the process at once.
class StopSignals {
 public:
  /// Before any other thread starts: those inherit the blocked signals.
  StopSignals();
  std::stop_token token() const { return stop_.get_token(); }

 private:
  std::stop_source stop_;
  std::jthread waiter_;
};

/// The first one removes what is half-made and ends the process with exit code 130. Before any thread starts.
void end_on_signals(const std::string& program);

}  // namespace aoe::tools
