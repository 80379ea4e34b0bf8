// Levels of the log in the numbers of the C interface.
#include "api/log_route.h"

#include <string>

#include "base/log_listener.h"

namespace aoe::api {
namespace {

int32_t number_of(LogLevel level) {
  switch (level) {
    case LogLevel::kTrace:
    case LogLevel::kDebug:
      return AOE_LOG_DEBUG;
    case LogLevel::kInfo:
      return AOE_LOG_INFO;
    case LogLevel::kWarn:
      return AOE_LOG_WARNING;
    case LogLevel::kError:
      break;
  }
  return AOE_LOG_ERROR;
}

}  // namespace

void route_log(AoeLogCallback callback, void* user) {
  if (callback == nullptr) return set_log_listener(nullptr);
  set_log_listener(
      [callback, user](LogLevel level, const std::string& folder, std::string_view line) {
        callback(number_of(level), folder.c_str(), std::string(line).c_str(), user);
      });
}

}  // namespace aoe::api
