// A line read, a request sent, until "quit" or the end of the input.
#include "tools/msprof/dynamic.h"

#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

#include "base/error.h"
#include "profiler/collect/control_socket.h"
#include "tools/msprof/post_process.h"

namespace aoe::tools {
namespace {

using nlohmann::json;

constexpr int kMostCommands = 100;

void say(const std::string& line) {
  std::cout << "[INFO] " << line << std::endl;
}

/// A program that was just started needs a moment to come to its aclInit.
void attach(int pid) {
  constexpr int kMostTries = 200;
  for (int i = 0; i < kMostTries && (::kill(pid, 0) == 0 || errno == EPERM); ++i) {
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

void collect_dynamically(const RunSettings& settings) {
  attach(settings.dynamic_pid);
  say("Attached to process " + std::to_string(settings.dynamic_pid) + ": start, stop or quit.");
  const bool is_terminal = ::isatty(STDIN_FILENO) != 0;
  DynamicSession session(settings);
  std::string command;
  for (int i = 0; i < kMostCommands; ++i) {
    if (is_terminal) std::cout << "> " << std::flush;
    if (!std::getline(std::cin, command)) break;
    if (!session.run(command)) return;
  }
  session.run("quit");
}

}  // namespace aoe::tools
