// Streams that are closed, and output that nobody takes.
#include "tools/common/standard_streams.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <functional>
#include <iostream>
#include <string>

#include "base/error.h"
#include "tools/common/tool.h"

namespace aoe::tools {
namespace {

/// Of a program with this standard output, which closes it where `path` is null.
int run_with_output(const char* path, const std::function<void()>& say) {
  ::close(STDOUT_FILENO);
  if (path != nullptr) ::open(path, O_WRONLY);
  char name[] = "program";
  char* argv[] = {name, nullptr};
  Tool tool{.name = "program"};
  tool.run = [&](const po::variables_map&) {
    say();
    return ExitCode::kSuccess;
  };
  return run_tool(1, argv, std::move(tool));
}

const auto kUnwritten = testing::ExitedWithCode(static_cast<int>(ExitCode::kOutput));

TEST(StandardStreamsDeathTest, AFullDiskIsNamed) {
  EXPECT_EXIT(std::exit(run_with_output("/dev/full", [] { std::cout << "a word"; })), kUnwritten,
              "^program: error: standard output: cannot be written: No space left on device; "
              "send it to a program that reads it, or to a file where there is space\n$");
}

TEST(StandardStreamsDeathTest, SoItIsAfterMuchWasSaid) {
  const auto say = [] {
    for (int i = 0; i < 10000; ++i) std::cout << "many words, beyond every buffer\n";
  };
  EXPECT_EXIT(std::exit(run_with_output("/dev/full", say)), kUnwritten, "No space left on device");
}

TEST(StandardStreamsDeathTest, SoItIsWhereCSaysItAndFlushes) {
  const auto say = [] {
    std::printf("a row\n");
    std::fflush(stdout);
  };
  EXPECT_EXIT(std::exit(run_with_output("/dev/full", say)), kUnwritten, "No space left on device");
}

TEST(StandardStreamsDeathTest, AFileDoesNotTakeThePlaceOfAClosedStream) {
  const auto say = [] {
    const int file = ::open("/dev/null", O_WRONLY);  // what the program works with
    std::cout << "a word" << std::flush;
    ::close(file);
  };
  EXPECT_EXIT(std::exit(run_with_output(nullptr, say)), kUnwritten,
              "^program: error: standard output: cannot be written: Bad file descriptor;");
}

}  // namespace
}  // namespace aoe::tools
