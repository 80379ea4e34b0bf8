// Length-prefixed CBOR over a socket.
#include "tuner/measure/wire.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string>

#include "base/json_text.h"
#include "base/system_calls.h"

namespace aoe::tuner {
using Clock = std::chrono::steady_clock;
namespace {

constexpr auto kStopPollInterval = std::chrono::milliseconds(100);
/// No message comes near; a larger length is a garbled stream.
constexpr std::uint64_t kMaxMessageBytes = 1u << 30;

bool is_over(WaitLimit& limit) {
  if (Clock::now() >= limit.at && limit.later) limit.at = std::max(limit.at, limit.later());
  return Clock::now() >= limit.at;
}

/// poll(). When this process itself stood still meanwhile (Ctrl-Z, a frozen container), the others may have, too: that time
/// does not count.
int wait_awake(pollfd& waiting, std::chrono::milliseconds wait, std::optional<WaitLimit>& limit) {
  constexpr auto kLate = std::chrono::seconds(1);
  const Clock::time_point begin = Clock::now();
  const int ready = ::poll(&waiting, 1, static_cast<int>(wait.count()));
  const Clock::duration overslept = Clock::now() - begin - wait;
  if (limit && overslept > kLate) limit->at += overslept;
  return ready;
}

ReceiveStatus wait_readable(int fd, std::optional<WaitLimit>& limit, const std::stop_token& stop) {
  for (;;) {
    if (stop.stop_requested()) return ReceiveStatus::kStopped;
    auto wait = kStopPollInterval;
    if (limit) {
      if (is_over(*limit)) return ReceiveStatus::kTimeout;
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(limit->at - Clock::now());
      wait = std::clamp(left, std::chrono::milliseconds(0), wait);
    }
    pollfd waiting{fd, POLLIN, 0};
    const int ready = wait_awake(waiting, wait, limit);
    if (ready > 0) return ReceiveStatus::kMessage;
    if (ready < 0 && errno != EINTR) return ReceiveStatus::kClosed;
  }
}

ReceiveStatus receive_all(int fd, void* bytes, std::size_t size, std::optional<WaitLimit>& limit,
                          const std::stop_token& stop) {
  char* next = static_cast<char*>(bytes);
  while (size > 0) {
    const ReceiveStatus status = wait_readable(fd, limit, stop);
    if (status != ReceiveStatus::kMessage) return status;
    const ssize_t received = ::recv(fd, next, size, 0);
    if (received < 0 && errno == EINTR) continue;
    if (received <= 0) return ReceiveStatus::kClosed;
    next += received;
    size -= static_cast<std::size_t>(received);
  }
  return ReceiveStatus::kMessage;
}

}  // namespace

bool send_message(int fd, const nlohmann::json& message) {
  const std::string bytes = cbor_bytes(message);
  const std::uint64_t size = bytes.size();
  return send_all(fd, {reinterpret_cast<const char*>(&size), sizeof size}) && send_all(fd, bytes);
}

ReceiveStatus receive_message(int fd, nlohmann::json& message, std::optional<WaitLimit> limit,
                              const std::stop_token& stop) {
  std::uint64_t size = 0;
  ReceiveStatus status = receive_all(fd, &size, sizeof size, limit, stop);
  if (status != ReceiveStatus::kMessage) return status;
  if (size > kMaxMessageBytes) return ReceiveStatus::kGarbled;
  std::string bytes(size, '\0');
  status = receive_all(fd, bytes.data(), bytes.size(), limit, stop);
  if (status != ReceiveStatus::kMessage) return status;
  message = cbor_or_discarded(bytes);
  return message.is_object() ? ReceiveStatus::kMessage : ReceiveStatus::kGarbled;
}

}  // namespace aoe::tuner
