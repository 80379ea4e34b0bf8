// What is thrown where no program can catch it, and where it can.
#include <gtest/gtest.h>

#include <new>
#include <stdexcept>
#include <system_error>
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

const std::system_error kNoThread{std::make_error_code(std::errc::resource_unavailable_try_again)};
constexpr const char* kNoThreadText =
    "^program: error: no thread can be started; allow more of them .ulimit -u, pids.max of the "
    "cgroup.\n$";

TEST(LastWallDeathTest, SaysThatNoThreadIsToBeHad) {
  EXPECT_EXIT(run_with_a_thread_that_throws(kNoThread),
              testing::ExitedWithCode(static_cast<int>(ExitCode::kFailure)), kNoThreadText);
}

TEST(LastWallDeathTest, SoDoesTheWallOfTheProgram) {
  const auto run_and_end = [] {
    char name[] = "program";
    char* argv[] = {name, nullptr};
    Tool tool{.name = "program"};
    tool.run = [](const po::variables_map&) -> ExitCode { throw kNoThread; };
    std::exit(run_tool(1, argv, std::move(tool)));
  };
  EXPECT_EXIT(run_and_end(), testing::ExitedWithCode(static_cast<int>(ExitCode::kFailure)),
              kNoThreadText);
}

TEST(LastWallDeathTest, LeavesBugsTheirCore) {
  EXPECT_EXIT(run_with_a_thread_that_throws(std::logic_error("a bug")),
              testing::KilledBySignal(SIGABRT), "a bug");
}

}  // namespace
}  // namespace aoe::tools
