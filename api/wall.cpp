// Exceptions to codes.
#include "api/wall.h"

#include <new>
#include <string>

#include "api/failure.h"
#include "base/check.h"
#include "base/memory.h"

namespace aoe::api {
namespace {

thread_local std::string last_text;

AoeStatus remember(AoeStatus status, const char* text) {
  last_text = text;
  return status;
}

AoeStatus status_of(ExitCode code) {
  switch (code) {
    case ExitCode::kUsage:
    case ExitCode::kData:
      return AOE_ERROR_INVALID_PARAM;
    case ExitCode::kModel:
      return AOE_ERROR_INVALID_GRAPH;
    case ExitCode::kOm:
      return AOE_ERROR_EXECUTE_RUNNER;
    case ExitCode::kBank:
      return AOE_ERROR_BANK_INFO_UPDATE_FAILED;
    case ExitCode::kOutput:
      return AOE_ERROR_NO_SPACE;
    case ExitCode::kFailure:
      return AOE_ERROR_EXECUTE_FAILED;
    case ExitCode::kInterrupted:
      return AOE_FAILURE;
    case ExitCode::kSuccess:
    case ExitCode::kOutputsDiffer:  // no Error's code
    case ExitCode::kInternal:
      break;
  }
  return AOE_ERROR_UNKOWN_ERROR;
}

}  // namespace

AoeStatus status_of_current_exception() noexcept try {
  try {
    throw;
  } catch (const Failure& e) {
    return remember(e.status(), e.what());
  } catch (const Error& e) {
    return remember(status_of(e.code()), e.what());
  } catch (const OutOfMemory& e) {
    return remember(AOE_ERROR_MEMORY_ALLOC, e.what());
  } catch (const std::bad_alloc&) {
    return remember(AOE_ERROR_MEMORY_ALLOC, "out of memory");
  } catch (const std::exception& e) {
    return remember(AOE_ERROR_UNKOWN_ERROR, e.what());
  } catch (...) {
    return remember(AOE_ERROR_UNKOWN_ERROR, "an exception of an unknown type");
  }
} catch (...) {  // no memory even for the text
  return AOE_ERROR_MEMORY_ALLOC;
}

const char* last_error() noexcept {
  return last_text.c_str();
}

}  // namespace aoe::api
