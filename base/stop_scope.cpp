// The token of each thread.
#include "base/stop_scope.h"

#include <utility>

#include "base/error.h"

namespace aoe {
namespace {
thread_local std::stop_token current;
}

StopScope::StopScope(std::stop_token stop) : before_(std::exchange(current, std::move(stop))) {
}

StopScope::~StopScope() {
  current = std::move(before_);
}

void end_if_stopped() {
  if (current.stop_requested()) throw Error(ExitCode::kInterrupted, "stopped");
}

}  // namespace aoe
