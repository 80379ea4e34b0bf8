// Exceptions to error codes.
#include "runtime/acl/wall.h"

#include <new>

#include "base/check.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/thread_lack.h"

namespace aoe::runtime::acl {
namespace {

thread_local std::string pending_message;
thread_local std::string handed_out_message;

aclError remember(aclError code, const char* function, const std::string& text) {
  pending_message = std::string(function) + ": " + text + " [" + std::to_string(code) + "]";
  return code;
}

aclError code_of(ExitCode code) {
  switch (code) {
    case ExitCode::kOm:
      return ACL_ERROR_PARSE_MODEL;
    case ExitCode::kData:
      return ACL_ERROR_INVALID_PARAM;
    case ExitCode::kFailure:
      return ACL_ERROR_RT_MODEL_EXECUTE;
    default:
      return ACL_ERROR_FAILURE;
  }
}

}  // namespace

void require_pointer(const void* pointer, const char* parameter) {
  if (pointer == nullptr)
    throw AclFailure(ACL_ERROR_INVALID_PARAM, std::string(parameter) + " is a null pointer");
}

aclError code_of_current_exception(const char* function) noexcept try {
  try {
    throw;
  } catch (const AclFailure& e) {
    return remember(e.code(), function, e.what());
  } catch (const Error& e) {
    return remember(code_of(e.code()), function, e.what());
  } catch (const OutOfMemory& e) {
    return remember(ACL_ERROR_BAD_ALLOC, function, e.what());
  } catch (const std::bad_alloc&) {
    return remember(ACL_ERROR_BAD_ALLOC, function, "out of memory");
  } catch (const std::exception& e) {
    return remember(ACL_ERROR_INTERNAL_ERROR, function, text_of_exception(e));
  }
} catch (...) {  // no memory even for the text
  return ACL_ERROR_INTERNAL_ERROR;
}

const char* take_message() noexcept {
  if (pending_message.empty()) return nullptr;
  handed_out_message.swap(pending_message);
  pending_message.clear();
  return handed_out_message.c_str();
}

}  // namespace aoe::runtime::acl
