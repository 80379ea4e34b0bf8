// What is thrown where no program can catch it.
#include <gtest/gtest.h>

#include <new>
#include <stdexcept>
#include <thread>

#include "tools/common/tool.h"

namespace aoe::tools {
namespace {

template <typename Thrown>
int run_with_a_thread_that_throws(Thrown thrown) {
  char name[] = "program";
  char* argv[] = {name, nullptr};
  Tool tool{.name = "program"};
  tool.run = [&](const po::variables_map&) {
    std::thread([&] { throw thrown; }).join();
    return ExitCode::kSuccess;
  };
  return run_tool(1, argv, std::move(tool));
}

TEST(LastWallDeathTest, SaysThatThereIsNoMemory) {
  EXPECT_EXIT(run_with_a_thread_that_throws(std::bad_alloc()),
              testing::ExitedWithCode(static_cast<int>(ExitCode::kFailure)),
              "^program: error: out of memory\n$");
}

TEST(LastWallDeathTest, LeavesBugsTheirCore) {
  EXPECT_EXIT(run_with_a_thread_that_throws(std::logic_error("a bug")),
              testing::KilledBySignal(SIGABRT), "a bug");
}

}  // namespace
}  // namespace aoe::tools
