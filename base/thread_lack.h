// No thread to be had: what std::thread and std::async throw then is a limit of the system, not a bug.
#pragma once

#include <exception>
#include <system_error>

namespace aoe {

inline bool is_lack_of_threads(const std::exception& thrown) {
  const auto* const failure = dynamic_cast<const std::system_error*>(&thrown);
  return failure != nullptr && failure->code() == std::errc::resource_unavailable_try_again;
}

/// What is said of an exception that is no Error.
inline const char* text_of_exception(const std::exception& thrown) {
  return is_lack_of_threads(thrown)
             ? "no thread can be started; allow more of them (ulimit -u, pids.max of the cgroup)"
             : thrown.what();
}

}  // namespace aoe
