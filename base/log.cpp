// Loggers by folder name, all on stderr with one level.
#include "base/log.h"

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <map>
#include <memory>
#include <mutex>

namespace aoe {
namespace {

spdlog::level::level_enum to_spdlog(LogLevel level) {
  switch (level) {
    case LogLevel::kTrace: return spdlog::level::trace;
    case LogLevel::kDebug: return spdlog::level::debug;
    case LogLevel::kInfo: return spdlog::level::info;
    case LogLevel::kWarn: return spdlog::level::warn;
    case LogLevel::kError: return spdlog::level::err;
  }
  return spdlog::level::err;
}

class FolderLogger : public Logger {
 public:
  explicit FolderLogger(const std::string& folder)
      : lines_(folder, std::make_shared<spdlog::sinks::stderr_color_sink_mt>()) {
    lines_.set_pattern("[%Y-%m-%d %H:%M:%S.%e] [%^%l%$] [%n] %v");
  }
  void set_level(spdlog::level::level_enum level) { lines_.set_level(level); }

 private:
  bool is_on(LogLevel level) const override { return lines_.should_log(to_spdlog(level)); }
  void write(LogLevel level, std::string_view line) override {
    lines_.log(to_spdlog(level), spdlog::string_view_t(line.data(), line.size()));
  }

  spdlog::logger lines_;
};

struct Loggers {
  std::mutex mutex;
  spdlog::level::level_enum level = spdlog::level::warn;
  std::map<std::string, std::unique_ptr<FolderLogger>> by_folder;
};

/// Never destroyed: destructors of other statics may still log.
Loggers& loggers() {
  static auto* all = new Loggers;
  return *all;
}

}  // namespace

Logger* logger(const std::string& folder) {
  Loggers& all = loggers();
  const std::lock_guard lock(all.mutex);
  std::unique_ptr<FolderLogger>& one = all.by_folder[folder];
  if (!one) {
    one = std::make_unique<FolderLogger>(folder);
    one->set_level(all.level);
  }
  return one.get();
}

bool set_log_level(const std::string& level) {
  spdlog::level::level_enum parsed = spdlog::level::off;
  if (level == "trace") parsed = spdlog::level::trace;
  else if (level == "debug") parsed = spdlog::level::debug;
  else if (level == "info") parsed = spdlog::level::info;
  else if (level == "warning") parsed = spdlog::level::warn;
  else if (level == "error") parsed = spdlog::level::err;
  else if (level != "null") return false;
  Loggers& all = loggers();
  const std::lock_guard lock(all.mutex);
  all.level = parsed;
  for (auto& [folder, one] : all.by_folder) one->set_level(parsed);
  return true;
}

}  // namespace aoe
