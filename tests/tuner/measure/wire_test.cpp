// Waiting for a message: what counts of the time, and what does not.
#include "tuner/measure/wire.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <stop_token>
#include <thread>
#include <vector>

namespace aoe::tuner {
namespace {
using namespace std::chrono_literals;

struct Sockets {
  Sockets() { EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0); }
  ~Sockets() {
    for (const int end : ends) ::close(end);
  }
  Sockets(const Sockets&) = delete;
  Sockets& operator=(const Sockets&) = delete;
  int ends[2] = {-1, -1};
};

TEST(Wire, WaitsNoLongerThanItsLimit) {
  const Sockets sockets;
  nlohmann::json message;
  EXPECT_EQ(receive_message(sockets.ends[0], message,
                            WaitLimit{.at = std::chrono::steady_clock::now() + 10ms}),
            ReceiveStatus::kTimeout);
}

/// Both sides may have been stopped: the other one has no less time for it.
TEST(Wire, TimeInWhichTheReceiverIsStoppedDoesNotCount) {
  const Sockets sockets;
  const pid_t receiver = ::fork();
  if (receiver == 0) {
    nlohmann::json message;
    const auto status = receive_message(sockets.ends[0], message,
                                        WaitLimit{.at = std::chrono::steady_clock::now() + 4s});
    ::_exit(status == ReceiveStatus::kMessage ? 0 : 1);
  }
  ASSERT_GT(receiver, 0);
  std::this_thread::sleep_for(200ms);
  ASSERT_EQ(::kill(receiver, SIGSTOP), 0);
  std::this_thread::sleep_for(5s);
  ASSERT_EQ(::kill(receiver, SIGCONT), 0);
  std::this_thread::sleep_for(500ms);
  ASSERT_TRUE(send_message(sockets.ends[1], {{"answer", 1}}));
  int status = 0;
  ASSERT_EQ(::waitpid(receiver, &status, 0), receiver);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

/// More than a socket holds.
nlohmann::json large_message() {
  return {{"weights", nlohmann::json::binary(std::vector<std::uint8_t>(8 << 20, 7))}};
}

TEST(Wire, SendingToOneThatDoesNotReadEndsWithTheWait) {
  const Sockets sockets;
  Outbox outbox;
  outbox.add(large_message());
  ASSERT_TRUE(outbox.send(sockets.ends[0]));
  EXPECT_FALSE(outbox.is_empty());
  nlohmann::json answer;
  EXPECT_EQ(receive_message(sockets.ends[0], answer,
                            WaitLimit{.at = std::chrono::steady_clock::now() + 10ms}, {}, &outbox),
            ReceiveStatus::kTimeout);
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(receive_message(sockets.ends[0], answer, {}, stop.get_token(), &outbox),
            ReceiveStatus::kStopped);
}

TEST(Wire, WhatOneMessageHoldsGoesOutWhileItsAnswerIsWaitedFor) {
  const Sockets sockets;
  std::jthread other([&] {
    nlohmann::json first, second;
    if (receive_message(sockets.ends[1], first) != ReceiveStatus::kMessage) return;
    if (receive_message(sockets.ends[1], second) != ReceiveStatus::kMessage) return;
    send_message(sockets.ends[1], {{"same", first == large_message()}, {"second", second}});
  });
  Outbox outbox;
  outbox.add(large_message());
  ASSERT_TRUE(outbox.send(sockets.ends[0]));
  outbox.add({{"do", "measure"}});
  nlohmann::json answer;
  ASSERT_EQ(receive_message(sockets.ends[0], answer,
                            WaitLimit{.at = std::chrono::steady_clock::now() + 60s}, {}, &outbox),
            ReceiveStatus::kMessage);
  EXPECT_TRUE(answer.at("same"));
  EXPECT_EQ(answer.at("second"), nlohmann::json({{"do", "measure"}}));
  EXPECT_TRUE(outbox.is_empty());
}

TEST(Wire, AnOutboxSaysThatTheOtherEndIsGone) {
  Sockets sockets;
  ::close(sockets.ends[1]);
  sockets.ends[1] = -1;
  Outbox outbox;
  outbox.add({{"do", "measure"}});
  EXPECT_FALSE(outbox.send(sockets.ends[0]));
}

}  // namespace
}  // namespace aoe::tuner
