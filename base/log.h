// One logger per folder, on stderr. Libraries log through it; only tools print.
// levels: error (we stop), warn (we go on with less), info (a handful of lines a run), debug (per task), trace (per candidate)
#pragma once

// Not spdlog's header: each file that logged through its templates took four seconds longer to compile.
#include <fmt/core.h>

#include <string>
#include <string_view>
#include <utility>

namespace aoe {

enum class LogLevel { kTrace, kDebug, kInfo, kWarn, kError };

/// Writes lines in fmt's format language. Thread-safe.
class Logger {
 public:
  virtual ~Logger() = default;

  template <typename... Args>
  void trace(fmt::format_string<Args...> format, Args&&... args) {
    log(LogLevel::kTrace, format, std::forward<Args>(args)...);
  }
  template <typename... Args>
  void debug(fmt::format_string<Args...> format, Args&&... args) {
    log(LogLevel::kDebug, format, std::forward<Args>(args)...);
  }
  template <typename... Args>
  void info(fmt::format_string<Args...> format, Args&&... args) {
    log(LogLevel::kInfo, format, std::forward<Args>(args)...);
  }
  template <typename... Args>
  void warn(fmt::format_string<Args...> format, Args&&... args) {
    log(LogLevel::kWarn, format, std::forward<Args>(args)...);
  }
  template <typename... Args>
  void error(fmt::format_string<Args...> format, Args&&... args) {
    log(LogLevel::kError, format, std::forward<Args>(args)...);
  }

 private:
  template <typename... Args>
  void log(LogLevel level, fmt::format_string<Args...> format, Args&&... args) {
    if (is_on(level)) write(level, fmt::format(format, std::forward<Args>(args)...));
  }
  virtual bool is_on(LogLevel level) const = 0;
  virtual void write(LogLevel level, std::string_view line) = 0;
};

/// The logger of a folder ("tuner", "bank", ...); created on first use, lives until the program ends; thread-safe.
Logger* logger(const std::string& folder);

/// Level of all loggers, those created later included. Accepts debug, info, warning, error, null (= off), trace.
/// Returns false on any other word. The default is warning.
bool set_log_level(const std::string& level);

}  // namespace aoe
