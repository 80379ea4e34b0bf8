// Messages between `aoe` and its worker process: CBOR behind a 64-bit length, over a stream socket.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <stop_token>
#include <string>

namespace aoe::tuner {

/// Waits until all of it is sent. False when the other end is gone.
bool send_message(int fd, const nlohmann::json& message);

/// What is to be sent to a process that may hang: it goes out while its answer is waited for.
class Outbox {
 public:
  void add(const nlohmann::json& message);
  /// As much of it as goes without waiting. False when the other end is gone.
  bool send(int fd);
  bool is_empty() const { return sent_ == bytes_.size(); }

 private:
  std::string bytes_;
  std::size_t sent_ = 0;
};

enum class ReceiveStatus {
  kMessage,
  kClosed,
  kGarbled,  ///< what came is no message, and nobody knows where the next one begins; the other side may well live
  kTimeout,
  kStopped
};

/// When waiting ends; time in which this process itself was stopped does not count.
struct WaitLimit {
  std::chrono::steady_clock::time_point at;
  /// Asked when that has come: a later one, for which waiting goes on. Empty: there is none.
  std::function<std::chrono::steady_clock::time_point()> later = {};
};

/// Waits for one message. `stop` is looked at ten times a second. A message cut off by the death of
/// its sender is kClosed.
ReceiveStatus receive_message(int fd, nlohmann::json& message, std::optional<WaitLimit> limit = {},
                              const std::stop_token& stop = {}, Outbox* outbox = nullptr);

}  // namespace aoe::tuner
