// Every index once, whatever the number of threads that there are; the first failure.
#include "base/parallel_for.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <unistd.h>

#include <numeric>
#include <stdexcept>

namespace aoe {
namespace {

bool calls_each_once(std::size_t count, int threads) {
  std::vector<std::atomic<int>> calls(count);
  parallel_for(count, threads, [&](std::size_t i) { ++calls[i]; });
  return std::ranges::all_of(calls, [](const auto& number) { return number == 1; });
}

TEST(ParallelFor, CallsEachIndexOnce) {
  for (const std::size_t count : {0, 1, 2, 1000})
    for (const int threads : {-1, 0, 1, 2, 7}) EXPECT_TRUE(calls_each_once(count, threads));
}

TEST(ParallelFor, MakesItsWorkOnceInEachThread) {
  std::atomic<int> made = 0;
  parallel_for_with(100, 3, [&] {
    ++made;
    return [](std::size_t) {};
  });
  EXPECT_EQ(made, 3);
}

TEST(ParallelFor, ThrowsWhatOneOfThemThrows) {
  const auto fail_at_17 = [](std::size_t i) {
    if (i == 17) throw std::runtime_error("17");
  };
  for (const int threads : {1, 4})
    EXPECT_THROW(parallel_for(100, threads, fail_at_17), std::runtime_error);
}

TEST(ParallelFor, DoesWithTheThreadsThatTheSystemStarts) {
  const auto without_more_threads = [] {
    pthread_attr_t attributes;
    ::pthread_attr_init(&attributes);
    ::pthread_attr_setstacksize(&attributes, std::size_t{1} << 50);  // which no machine has
    ::pthread_setattr_default_np(&attributes);
    ::_exit(calls_each_once(100, 8) ? 0 : 1);
  };
  EXPECT_EXIT(without_more_threads(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace aoe
