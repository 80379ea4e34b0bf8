// /dev/null, opened for the wrong direction, is as good as closed.
#include "tools/common/standard_streams.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <string>

#include "base/error.h"

namespace aoe::tools {
namespace {

/// The write that failed may be long ago, its cause lost: another says it again.
std::string cause() {
  return ::write(STDOUT_FILENO, "\n", 1) < 0 ? std::string(": ") + std::strerror(errno)
                                             : std::string();
}

}  // namespace

void occupy_closed_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(stream, F_GETFD) >= 0) continue;
    const int direction = stream == STDIN_FILENO ? O_WRONLY : O_RDONLY;
    // The lowest number that is free is this one. Kept until the program ends.
    [[maybe_unused]] const int opened = ::open("/dev/null", direction);
  }
}

void finish_standard_output() {
  std::cout.flush();
  std::fflush(stdout);
  if (std::cout && std::ferror(stdout) == 0) return;
  throw Error(ExitCode::kOutput, "cannot be written" + cause(), "standard output",
              "send it to a program that reads it, or to a file where there is space");
}

}  // namespace aoe::tools
