// A line read, a request sent, until "quit" or the end of the input.
#include "tools/msprof/dynamic.h"

#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>
#include <utility>

#include "base/error.h"
#include "profiler/collect/control_socket.h"
#include "tools/common/stop_signals.h"
#include "tools/msprof/post_process.h"
#include "tools/msprof/say.h"

namespace aoe::tools {
namespace {

using nlohmann::json;

constexpr int kMostCommands = 100;

/// Lines of standard input, which a stop ends as well.
class CommandLines {
 public:
  explicit CommandLines(std::stop_token stop) : stop_(std::move(stop)) {}

  std::optional<std::string> next() {
    while (true) {
      if (const std::size_t end = read_.find('\n'); end != std::string::npos) {
        std::string line = read_.substr(0, end);
        read_.erase(0, end + 1);
        return line;
      }
      if (!read_more())
        return read_.empty() ? std::nullopt : std::optional(std::exchange(read_, {}));
    }
  }

 private:
  /// False: there is no more.
  bool read_more() {
    constexpr int kLookEveryMs = 100;
    pollfd input{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
    while (::poll(&input, 1, kLookEveryMs) <= 0)
      if (stop_.stop_requested()) return false;
    char buffer[512];
    const ssize_t size = ::read(STDIN_FILENO, buffer, sizeof buffer);
    if (size > 0) read_.append(buffer, static_cast<std::size_t>(size));
    return size > 0;
  }

  const std::stop_token stop_;
  std::string read_;
};

/// A program that was just started needs a moment to come to its aclInit.
void attach(int pid, const std::stop_token& stop) {
  constexpr int kMostTries = 200;
  for (int i = 0; i < kMostTries && (::kill(pid, 0) == 0 || errno == EPERM); ++i) {
    if (stop.stop_requested()) throw Error(ExitCode::kInterrupted, "interrupted");
    if (profiler::control_request(pid, {{"command", "status"}})) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  throw Error(ExitCode::kFailure, "takes no commands", "process " + std::to_string(pid),
              "start it with PROFILING_MODE=dynamic; it must call aclInit of this library");
}

class DynamicSession {
 public:
  explicit DynamicSession(const RunSettings& settings) : settings_(settings) {}

  /// False after "quit".
  bool run(const std::string& command) {
    if (command == "start") {
      if (request({{"command", "start"}, {"options", to_json(settings_.options)}})) {
        is_collecting_ = true;
        say("Start profiling....");
      }
    } else if (command == "stop") {
      stop();
    } else if (command == "quit") {
      if (is_collecting_) stop();
      return false;
    } else if (!command.empty()) {
      std::cerr << "msprof: '" << command << "' is no command; say start, stop or quit\n";
    }
    return true;
  }

 private:
  void stop() {
    const std::optional<std::string> directory = request({{"command", "stop"}});
    is_collecting_ = false;
    if (!directory) return;
    if (settings_.exports) parse_and_export(*directory, settings_.type);
    say("Process profiling data complete. Data is saved in " + *directory);
  }

  /// The directory meant; nullopt when the program refused, which is said.
  std::optional<std::string> request(const json& request) {
    const std::optional<json> reply = profiler::control_request(settings_.dynamic_pid, request);
    if (!reply)
      throw Error(ExitCode::kFailure, "has ended, or takes no commands any more",
                  "process " + std::to_string(settings_.dynamic_pid),
                  "what it collected lies in " + settings_.options.output.string());
    if (!reply->contains("error")) return reply->value("directory", "");
    std::cerr << "msprof: " << reply->value("error", "") << '\n';
    return std::nullopt;
  }

  const RunSettings& settings_;
  bool is_collecting_ = false;
};

}  // namespace

int collect_dynamically(const RunSettings& settings) {
  const StopSignals signals;
  attach(settings.dynamic_pid, signals.token());
  say("Attached to process " + std::to_string(settings.dynamic_pid) + ": start, stop or quit.");
  const bool is_terminal = ::isatty(STDIN_FILENO) != 0;
  DynamicSession session(settings);
  CommandLines commands(signals.token());
  for (int i = 0; i < kMostCommands; ++i) {
    if (is_terminal) std::cout << "> " << std::flush;
    const std::optional<std::string> command = commands.next();
    if (!command) break;
    if (!session.run(*command)) return 0;
  }
  session.run("quit");
  return signals.token().stop_requested() ? static_cast<int>(ExitCode::kInterrupted) : 0;
}

}  // namespace aoe::tools
