// Loggers by folder name, all on stderr with one level.
#include "base/log.h"

#include <spdlog/sinks/stdout_color_sinks.h>

#include <mutex>

namespace aoe {
namespace {
std::mutex mutex;
spdlog::level::level_enum current_level = spdlog::level::warn;
}  // namespace

std::shared_ptr<spdlog::logger> logger(const std::string& folder) {
  const std::lock_guard lock(mutex);
  if (auto existing = spdlog::get(folder)) return existing;
  auto created = spdlog::stderr_color_mt(folder);
  created->set_level(current_level);
  created->set_pattern("[%Y-%m-%d %H:%M:%S.%e] [%^%l%$] [%n] %v");
  return created;
}

bool set_log_level(const std::string& level) {
  spdlog::level::level_enum parsed = spdlog::level::off;
  if (level == "trace") parsed = spdlog::level::trace;
  else if (level == "debug") parsed = spdlog::level::debug;
  else if (level == "info") parsed = spdlog::level::info;
  else if (level == "warning") parsed = spdlog::level::warn;
  else if (level == "error") parsed = spdlog::level::err;
  else if (level != "null") return false;
  const std::lock_guard lock(mutex);
  current_level = parsed;
  spdlog::apply_all([&](const std::shared_ptr<spdlog::logger>& each) { each->set_level(parsed); });
  return true;
}

}  // namespace aoe
