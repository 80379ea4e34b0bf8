// A child finds every lock free that another thread of its parent may have held when it was made.
#include "base/held_at_fork.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <thread>

#include "base/log.h"

namespace aoe {
namespace {

constexpr int kForks = 100;

/// Forks again and again while another thread does `busy`; each child does `of_child` and must come to its end.
void fork_beside(const std::function<void()>& busy, const std::function<void()>& of_child) {
  std::atomic<bool> is_over = false;
  std::atomic<bool> has_begun = false;
  std::thread thread([&] {
    for (; !is_over; has_begun = true) {
      busy();
      std::this_thread::sleep_for(
          std::chrono::microseconds(10));  // locks are not fair: fork() shall get them
    }
  });
  while (!has_begun) std::this_thread::yield();
  int ended = 0;
  for (int i = 0; i < kForks; ++i) {
    const pid_t child = ::fork();
    if (child == 0) {
      ::alarm(30);  // a child that hangs is ended by a signal
      of_child();
      ::_exit(0);
    }
    int status = -1;
    ::waitpid(child, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) ++ended;
    if (WIFSIGNALED(status)) break;
  }
  is_over = true;
  thread.join();
  EXPECT_EQ(ended, kForks);
}

std::mutex mutex;
const HeldAtFork held(mutex, LockRung::kTexts);
int first = 0;
int second = 0;

TEST(HeldAtFork, TheChildFindsItFreeAndTheRestWhole) {
  fork_beside(
      [] {
        const std::lock_guard lock(mutex);
        ++first;
        std::this_thread::yield();
        ++second;
      },
      [] {
        const std::lock_guard lock(mutex);
        if (first != second) ::_exit(1);
      });
}

TEST(HeldAtFork, TheLogIsFree) {
  const int before = ::dup(STDERR_FILENO);
  const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  ASSERT_GE(before, 0);
  ASSERT_GE(nowhere, 0);
  ::dup2(nowhere, STDERR_FILENO);
  const auto say = [] { logger("fork test")->error("a line of {}", ::getpid()); };
  fork_beside(say, say);
  ::dup2(before, STDERR_FILENO);
  ::close(before);
  ::close(nowhere);
}

}  // namespace
}  // namespace aoe
