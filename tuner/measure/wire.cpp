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
#include <utility>

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

class Receiver {
 public:
  Receiver(int fd, std::optional<WaitLimit> limit, const std::stop_token& stop, Outbox* outbox)
      : fd_(fd), limit_(std::move(limit)), stop_(stop), outbox_(outbox) {}

  ReceiveStatus receive(void* bytes, std::size_t size) {
    char* next = static_cast<char*>(bytes);
    while (size > 0) {
      const ReceiveStatus status = wait_readable();
      if (status != ReceiveStatus::kMessage) return status;
      const ssize_t received = ::recv(fd_, next, size, 0);
      if (received < 0 && errno == EINTR) continue;
      if (received <= 0) return ReceiveStatus::kClosed;
      next += received;
      size -= static_cast<std::size_t>(received);
    }
    return ReceiveStatus::kMessage;
  }

 private:
  bool has_unsent() const { return outbox_ != nullptr && !outbox_->is_empty(); }

  ReceiveStatus wait_readable() {
    for (;;) {
      if (stop_.stop_requested()) return ReceiveStatus::kStopped;
      auto wait = kStopPollInterval;
      if (limit_) {
        if (is_over(*limit_)) return ReceiveStatus::kTimeout;
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(limit_->at - Clock::now());
        wait = std::clamp(left, std::chrono::milliseconds(0), wait);
      }
      const auto events = static_cast<short>(has_unsent() ? POLLIN | POLLOUT : POLLIN);
      pollfd waiting{fd_, events, 0};
      const int ready = wait_awake(waiting, wait, limit_);
      if (ready < 0 && errno != EINTR) return ReceiveStatus::kClosed;
      if (ready <= 0) continue;
      if ((waiting.revents & ~POLLOUT) != 0) return ReceiveStatus::kMessage;
      if (!outbox_->send(fd_)) return ReceiveStatus::kClosed;
    }
  }

  int fd_;
  std::optional<WaitLimit> limit_;
  const std::stop_token& stop_;
  Outbox* outbox_;
};

/// Behind its length.
void append_message(std::string& bytes, const nlohmann::json& message) {
  const std::string body = cbor_bytes(message);
  const std::uint64_t size = body.size();
  bytes.append(reinterpret_cast<const char*>(&size), sizeof size).append(body);
}

}  // namespace

bool send_message(int fd, const nlohmann::json& message) {
  std::string bytes;
  append_message(bytes, message);
  return send_all(fd, bytes);
}

void Outbox::add(const nlohmann::json& message) {
  bytes_.erase(0, sent_);
  sent_ = 0;
  append_message(bytes_, message);
}

bool Outbox::send(int fd) {
  while (!is_empty()) {
    const ssize_t sent =
        ::send(fd, bytes_.data() + sent_, bytes_.size() - sent_, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) return errno == EAGAIN || errno == EWOULDBLOCK;
    sent_ += static_cast<std::size_t>(sent);
  }
  std::string().swap(bytes_);  // large weights are not kept
  sent_ = 0;
  return true;
}

ReceiveStatus receive_message(int fd, nlohmann::json& message, std::optional<WaitLimit> limit,
                              const std::stop_token& stop, Outbox* outbox) {
  Receiver receiver(fd, std::move(limit), stop, outbox);
  std::uint64_t size = 0;
  ReceiveStatus status = receiver.receive(&size, sizeof size);
  if (status != ReceiveStatus::kMessage) return status;
  if (size > kMaxMessageBytes) return ReceiveStatus::kGarbled;
  std::string bytes(size, '\0');
  status = receiver.receive(bytes.data(), bytes.size());
  if (status != ReceiveStatus::kMessage) return status;
  message = cbor_or_discarded(bytes);
  return message.is_object() ? ReceiveStatus::kMessage : ReceiveStatus::kGarbled;
}

}  // namespace aoe::tuner
