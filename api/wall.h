// The wall of the library: whatever is thrown inside becomes a status and a text for AoeGetLastError().
#pragma once

#include <utility>

#include "aoe/aoe.h"
#include "base/error.h"

namespace aoe::api {

/// What a program ends with for such a status.
ExitCode exit_code_of(AoeStatus status);

/// To be called in a catch block: remembers the text of the current exception for the calling thread, returns its code.
AoeStatus status_of_current_exception() noexcept;

/// Of the calling thread; never nullptr.
const char* last_error() noexcept;

/// Runs the body, which returns a status or throws.
template <typename Body>
AoeStatus guarded(Body&& body) noexcept {
  try {
    return std::forward<Body>(body)();
  } catch (...) {
    return status_of_current_exception();
  }
}

}  // namespace aoe::api
