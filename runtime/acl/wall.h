// The wall of the C API: whatever is thrown inside becomes an aclError and a text for aclGetRecentErrMsg().
#pragma once

#include <cstring>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

#include "acl/acl_base.h"
#include "runtime/acl/api_span.h"

namespace aoe::runtime::acl {

/// A failure with the code that the caller shall get.
class AclFailure : public std::runtime_error {
 public:
  AclFailure(aclError code, const std::string& message)
      : std::runtime_error(message), code_(code) {}
  aclError code() const { return code_; }

 private:
  aclError code_;
};

inline void require(bool condition, aclError code, const char* message) {
  if (!condition) throw AclFailure(code, message);
}

/// What a caller gave for an enumeration: a number that has no name must not be read as one (undefined behaviour).
template <typename Enum>
std::underlying_type_t<Enum> number_of(const Enum& given) noexcept {
  std::underlying_type_t<Enum> number;
  std::memcpy(&number, &given, sizeof number);
  return number;
}

/// Throws ACL_ERROR_INVALID_PARAM that names the parameter.
void require_pointer(const void* pointer, const char* parameter);

/// To be called in a catch block: remembers the text of the current exception for the calling thread, returns its code.
aclError code_of_current_exception(const char* function) noexcept;

/// The last remembered text of the calling thread, once; nullptr when there is none.
const char* take_message() noexcept;

/// Runs the body of the C function of this name, as one API call in profiles.
template <typename Body>
aclError guarded(const char* function, Body&& body) noexcept {
  const ApiSpan span(api_name<Body>(function));
  try {
    std::forward<Body>(body)();
    return ACL_SUCCESS;
  } catch (...) {
    return code_of_current_exception(function);
  }
}

/// The same for functions that return a value: `otherwise` on failure.
template <typename Value, typename Body>
Value guarded_or(const char* function, Value otherwise, Body&& body) noexcept {
  const ApiSpan span(api_name<Body>(function));
  try {
    return std::forward<Body>(body)();
  } catch (...) {
    code_of_current_exception(function);
    return otherwise;
  }
}

}  // namespace aoe::runtime::acl
