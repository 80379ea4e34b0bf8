// Every iteration once, whoever comes, late or not at all.
#include "runtime/threads/helper_threads.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <random>
#include <set>
#include <thread>
#include <vector>

namespace aoe::runtime {
namespace {

constexpr int kScratchBytes = 64;

/// What a loop's function finds behind its buffers.
struct Counts {
  explicit Counts(std::size_t extent) : times(extent) {}
  std::vector<std::atomic<int>> times;
  std::atomic<int> calls{0};
};

void count(void* const* buffers, std::int64_t begin, std::int64_t end, void* scratch) {
  Counts& counts = *static_cast<Counts*>(buffers[0]);
  ++counts.calls;
  // Unsynchronised, as all scratch: two threads in one would be a race that TSan sees.
  int& mine = *static_cast<int*>(scratch);
  for (std::int64_t i = begin; i < end; ++i) {
    mine = static_cast<int>(i);
    counts.times[static_cast<std::size_t>(i)] += mine - static_cast<int>(i) + 1;
  }
}

/// Runs the loop, and says whether each iteration was carried out once.
bool runs_each_once(HelperThreads& helpers, std::int64_t extent, int threads, int pieces = 1) {
  Counts counts(static_cast<std::size_t>(extent));
  void* buffers[] = {&counts};
  const auto scratch =
      std::make_unique<std::byte[]>(kScratchBytes * static_cast<std::size_t>(threads));
  helpers.run({.function = count,
               .buffers = buffers,
               .extent = extent,
               .scratch = scratch.get(),
               .scratch_stride = kScratchBytes,
               .pieces = pieces},
              threads);
  const bool is_alone = threads == 1 || helpers.count() == 0;
  EXPECT_LE(counts.calls, is_alone ? 1 : threads * pieces);
  return std::ranges::all_of(counts.times, [](const auto& times) { return times == 1; });
}

TEST(HelperThreads, RunEachIterationOnceWhateverTheExtentAndTheThreads) {
  for (const int helpers : {0, 1, 2, 5}) {
    HelperThreads team(helpers);
    ASSERT_EQ(team.count(), helpers);
    for (const int threads : {1, 2, 3, 6, 9})  // more than there are, too
      for (const std::int64_t extent : {0, 1, 2, 3, 7, 100})
        for (const int pieces : {1, 3, 8, 20})
          EXPECT_TRUE(runs_each_once(team, extent, threads, pieces))
              << helpers << " helpers, " << threads << " threads, " << extent << " iterations";
  }
}

TEST(HelperThreads, ManyShortLoopsAfterPausesOfAllLengths) {
  constexpr unsigned kSeed = 11;
  std::mt19937 random(kSeed);
  HelperThreads team(3);
  for (int i = 0; i < 20'000; ++i) {
    ASSERT_TRUE(runs_each_once(team, static_cast<std::int64_t>(random() % 9),
                               1 + static_cast<int>(random() % 4),
                               1 + static_cast<int>(random() % 3)))
        << "loop " << i << ", seed " << kSeed;
    // Helpers spin, or are about to sleep, or asleep.
    if (i % 100 == 0) std::this_thread::sleep_for(std::chrono::microseconds(random() % 400));
  }
}

/// A helper that has no core: its signal handler, which no part is begun before, does not return until it may.
std::atomic<bool> may_go_on{false};
void hold(int) {
  while (!may_go_on) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

TEST(HelperThreads, AHelperThatDoesNotComeIsNotWaitedFor) {
  static std::atomic<pid_t> helper_id;
  helper_id = 0;
  HelperThreads team(1);
  const auto note_helper = [](void* const*, std::int64_t begin, std::int64_t, void*) {
    // The owner waits in its part for the helper to begin the other.
    if (begin > 0) {
      sigset_t held;
      sigemptyset(&held);
      sigaddset(&held, SIGUSR2);
      ::pthread_sigmask(SIG_UNBLOCK, &held, nullptr);
      helper_id = ::gettid();
    } else {
      while (helper_id == 0) std::this_thread::yield();
    }
  };
  team.run({.function = note_helper, .extent = 2}, 2);
  ASSERT_NE(helper_id, ::gettid());

  struct sigaction held {
  }, before{};
  held.sa_handler = hold;
  ASSERT_EQ(::sigaction(SIGUSR2, &held, &before), 0);
  may_go_on = false;
  ASSERT_EQ(::tgkill(::getpid(), helper_id, SIGUSR2), 0);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(runs_each_once(team, 8, 2));
  may_go_on = true;
  EXPECT_TRUE(runs_each_once(team, 8, 2));
  ::sigaction(SIGUSR2, &before, nullptr);
}

/// In its first piece until all others are done, which the owner has to take over.
TEST(HelperThreads, WhatAHelperThatIsHeldUpHasNotBegunOthersTake) {
  struct Shared {
    std::thread::id owner = std::this_thread::get_id();
    std::atomic<int> done{0};
    std::atomic<bool> is_helped{false};
  } shared;
  constexpr int kIterations = 16;
  const auto work = [](void* const* buffers, std::int64_t begin, std::int64_t end, void*) {
    Shared& with = *static_cast<Shared*>(buffers[0]);
    const auto until = [](const auto& is_so) {
      for (int ms = 0; !is_so() && ms < 5000; ++ms)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      EXPECT_TRUE(is_so());
    };
    const bool is_owner = std::this_thread::get_id() == with.owner;
    if (is_owner) {
      until([&] { return with.is_helped.load(); });
    } else {
      with.is_helped = true;
      until([&] { return with.done >= kIterations - kIterations / 8; });
    }
    with.done += static_cast<int>(end - begin);
  };
  HelperThreads team(1);
  void* buffers[] = {&shared};
  team.run({.function = work, .buffers = buffers, .extent = kIterations, .pieces = 4}, 2);
  EXPECT_EQ(shared.done, kIterations);
}

TEST(HelperThreads, EachThreadOfAProgramHasItsOwn) {
  std::vector<std::thread> callers;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 4; ++t)
    callers.emplace_back([&wrong, t] {
      for (int i = 0; i < 500; ++i) {
        // More helpers from time to time.
        HelperThreads& mine = HelperThreads::of_this_thread(1 + i / 200);
        if (!runs_each_once(mine, 5 + t, 2 + i / 200)) ++wrong;
      }
    });
  for (std::thread& each : callers) each.join();
  EXPECT_EQ(wrong, 0);
}

TEST(HelperThreads, AreThereForTheThreadsOfAnother) {
  HelperThreads& before = HelperThreads::of_this_thread(2);
  EXPECT_GE(before.count(), 2);
  EXPECT_EQ(&HelperThreads::of_this_thread(1), &before);  // fewer are among them
}

TEST(HelperThreads, AChildThatExitsDoesNotWaitForItsParents) {
  ASSERT_TRUE(runs_each_once(HelperThreads::of_this_thread(2), 10, 3));
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    ::alarm(30);
    std::exit(0);  // with the destructors of this thread
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
}

}  // namespace
}  // namespace aoe::runtime
