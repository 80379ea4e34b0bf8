// AOE_CHECK: invariants whose breach is a bug of ours; throws InternalError with file and line.
#pragma once

#include <source_location>
#include <stdexcept>
#include <string>

namespace aoe {

class InternalError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

[[noreturn]] void fail_check(const char* condition, const std::string& message,
                             std::source_location where);

}  // namespace aoe

/// The message expression is evaluated only on failure.
#define AOE_CHECK(condition, message)                                                            \
  do {                                                                                           \
    if (!(condition)) ::aoe::fail_check(#condition, (message), std::source_location::current()); \
  } while (false)
