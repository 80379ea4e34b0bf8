// How one process asks another one, of the same user on the same machine, to begin and to end a collection.
//
//   ControlServer server([](const nlohmann::json& request) { return nlohmann::json{{"directory", "..."}}; });   // there
//   const auto reply = control_request(pid, {{"command", "start"}});                                            // here
//
// One request, one reply, over a local socket whose name follows from the process id and which leaves no file.
#pragma once

#include <chrono>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

#include "base/descriptor.h"

namespace aoe::profiler {

class ControlServer {
 public:
  /// Answers requests in a thread of its own, one after the other. Throws Error(kFailure) when there is
  /// a server in this process already, or no socket to be had.
  explicit ControlServer(std::function<nlohmann::json(const nlohmann::json&)> handler);
  ~ControlServer();
  ControlServer(const ControlServer&) = delete;
  ControlServer& operator=(const ControlServer&) = delete;

 private:
  void serve();
  void answer(int connection);

  const std::function<nlohmann::json(const nlohmann::json&)> handler_;
  const int owner_pid_;
  const Descriptor socket_;
  std::thread thread_;
};

/// The end of a collection is answered when all is written.
inline constexpr std::chrono::milliseconds kReplyPatience{60'000};

/// The reply of the process; nullopt when it has no server, is not this user's, or ended meanwhile. Throws Error(kFailure)
/// when somebody else listens under its name, or nobody answers for so long.
std::optional<nlohmann::json> control_request(int pid, const nlohmann::json& request,
                                              std::chrono::milliseconds patience = kReplyPatience);

}  // namespace aoe::profiler
