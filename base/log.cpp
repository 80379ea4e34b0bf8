// Loggers by folder name, all on stderr with one level.
#include "base/log.h"

#include <spdlog/sinks/base_sink.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <cstdio>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "base/held_at_fork.h"
#include "base/log_listener.h"
#include "base/terminal_line.h"
#include "base/utf8.h"

namespace aoe {
namespace {

spdlog::level::level_enum to_spdlog(LogLevel level) {
  switch (level) {
    case LogLevel::kTrace:
      return spdlog::level::trace;
    case LogLevel::kDebug:
      return spdlog::level::debug;
    case LogLevel::kInfo:
      return spdlog::level::info;
    case LogLevel::kWarn:
      return spdlog::level::warn;
    case LogLevel::kError:
      return spdlog::level::err;
  }
  return spdlog::level::err;
}

/// stderr in colours, behind a lock that fork() waits for: spdlog's own is out of reach.
class Stderr final : public spdlog::sinks::base_sink<std::mutex> {
 public:
  void set_last_line(const std::string& line) {
    const std::lock_guard lock(mutex_);
    clear_last_line();
    last_line_ = line;
    show_last_line();
  }

 protected:
  void sink_it_(const spdlog::details::log_msg& line) override {
    clear_last_line();
    colours_.log(line);
    show_last_line();
  }
  void flush_() override { colours_.flush(); }
  void set_pattern_(const std::string& pattern) override { colours_.set_pattern(pattern); }
  void set_formatter_(std::unique_ptr<spdlog::formatter> formatter) override {
    colours_.set_formatter(std::move(formatter));
  }

 private:
  void clear_last_line() const {
    if (!last_line_.empty()) std::fputs("\r\033[K", stderr);
  }
  void show_last_line() const {
    std::fputs(last_line_.c_str(), stderr);
    std::fflush(stderr);
  }

  std::string last_line_;  ///< of a terminal, not ended: see terminal_line.h
  const HeldAtFork held_{mutex_, LockRung::kLog};
  spdlog::sinks::stderr_color_sink_st colours_;
};

/// Whoever gets the lines instead of stderr.
struct Listener {
  std::mutex mutex;
  const HeldAtFork held{mutex, LockRung::kTexts};
  LogListener tell;
};

Listener& listener() {
  static auto* one = new Listener;
  return *one;
}

class FolderLogger : public Logger {
 public:
  FolderLogger(const std::string& folder, std::shared_ptr<Stderr> sink)
      : lines_(folder, std::move(sink)) {
    lines_.set_pattern("[%Y-%m-%d %H:%M:%S.%e] [%^%l%$] [%n] %v");
  }
  void set_level(spdlog::level::level_enum level) { lines_.set_level(level); }

 private:
  bool is_on(LogLevel level) const override { return lines_.should_log(to_spdlog(level)); }
  void write(LogLevel level, std::string_view line) override {
    Listener& whoever = listener();
    const std::lock_guard lock(whoever.mutex);
    if (whoever.tell) return whoever.tell(level, lines_.name(), line);
    lines_.log(to_spdlog(level), printable(std::string(line)));
  }

  spdlog::logger lines_;
};

struct Loggers {
  std::mutex mutex;
  const HeldAtFork held{mutex, LockRung::kTexts};
  const std::shared_ptr<Stderr> sink = std::make_shared<Stderr>();
  spdlog::level::level_enum level = spdlog::level::warn;
  std::map<std::string, std::unique_ptr<FolderLogger>> by_folder;
};

/// Never destroyed: destructors of other statics may still log.
Loggers& loggers() {
  static auto* all = new Loggers;
  return *all;
}
/// Made before main(): a fork() never meets them half-made.
[[maybe_unused]] const Loggers& made_early = loggers();
[[maybe_unused]] const Listener& listener_made_early = listener();

}  // namespace

Logger* logger(const std::string& folder) {
  Loggers& all = loggers();
  const std::lock_guard lock(all.mutex);
  std::unique_ptr<FolderLogger>& one = all.by_folder[folder];
  if (!one) {
    one = std::make_unique<FolderLogger>(folder, all.sink);
    one->set_level(all.level);
  }
  return one.get();
}

bool set_log_level(const std::string& level) {
  spdlog::level::level_enum parsed = spdlog::level::off;
  if (level == "trace")
    parsed = spdlog::level::trace;
  else if (level == "debug")
    parsed = spdlog::level::debug;
  else if (level == "info")
    parsed = spdlog::level::info;
  else if (level == "warning")
    parsed = spdlog::level::warn;
  else if (level == "error")
    parsed = spdlog::level::err;
  else if (level != "null")
    return false;
  Loggers& all = loggers();
  const std::lock_guard lock(all.mutex);
  all.level = parsed;
  for (auto& [folder, one] : all.by_folder) one->set_level(parsed);
  return true;
}

void set_terminal_line(const std::string& line) {
  loggers().sink->set_last_line(line);
}

void set_log_listener(LogListener tell) {
  Listener& whoever = listener();
  const std::lock_guard lock(whoever.mutex);
  whoever.tell = std::move(tell);
}

}  // namespace aoe
