// StopScope: a request to stop, for work that lies deep (reading a model, its passes, compiling it) and asks for it at its borders.
//
//   const StopScope scope(stop);   // of this thread, while it lives
//   ...
//   end_if_stopped();              // far below
#pragma once

#include <stop_token>

namespace aoe {

class StopScope {
 public:
  explicit StopScope(std::stop_token stop);
  ~StopScope();
  StopScope(const StopScope&) = delete;
  StopScope& operator=(const StopScope&) = delete;

 private:
  std::stop_token before_;
};

/// Throws Error(kInterrupted) when this thread is within a StopScope, and a stop was requested.
void end_if_stopped();

}  // namespace aoe
