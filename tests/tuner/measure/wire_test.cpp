// Waiting for a message: what counts of the time, and what does not.
#include "tuner/measure/wire.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <nlohmann/json.hpp>
#include <thread>

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

}  // namespace
}  // namespace aoe::tuner
