// Exceptions to codes.
#include "api/wall.h"

#include <algorithm>
#include <iterator>
#include <new>
#include <string>

#include "api/failure.h"
#include "base/check.h"
#include "base/memory.h"
#include "base/system_failure.h"

namespace aoe::api {
namespace {

thread_local std::string last_text;

AoeStatus remember(AoeStatus status, const char* text) {
  last_text = text;
  return status;
}

/// Of several rows for a code, or for a status, the first.
struct Row {
  ExitCode code;
  AoeStatus status;
};
constexpr Row kRows[] = {{ExitCode::kSuccess, AOE_SUCCESS},
                         {ExitCode::kSuccess, AOE_ERROR_NON_OPTIMIZE_GRAPH},
                         {ExitCode::kUsage, AOE_ERROR_INVALID_PARAM},
                         {ExitCode::kUsage, AOE_ERROR_NO_DEVICE},
                         {ExitCode::kData, AOE_ERROR_INVALID_PARAM},
                         {ExitCode::kModel, AOE_ERROR_INVALID_GRAPH},
                         {ExitCode::kOm, AOE_ERROR_EXECUTE_RUNNER},
                         {ExitCode::kBank, AOE_ERROR_BANK_INFO_UPDATE_FAILED},
                         {ExitCode::kOutput, AOE_ERROR_NO_SPACE},
                         {ExitCode::kFailure, AOE_ERROR_EXECUTE_FAILED},
                         {ExitCode::kFailure, AOE_ERROR_MEMORY_ALLOC},
                         {ExitCode::kFailure, AOE_FAILURE},
                         {ExitCode::kInterrupted, AOE_FAILURE}};

AoeStatus status_of(ExitCode code) {
  const auto row = std::ranges::find(kRows, code, &Row::code);
  return row == std::end(kRows) ? AOE_ERROR_UNKOWN_ERROR : row->status;
}

}  // namespace

ExitCode exit_code_of(AoeStatus status) {
  const auto row = std::ranges::find(kRows, status, &Row::status);
  return row == std::end(kRows) ? ExitCode::kInternal : row->code;
}

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
    return remember(is_system_failure(e) ? AOE_ERROR_EXECUTE_FAILED : AOE_ERROR_UNKOWN_ERROR,
                    text_of_exception(e));
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
