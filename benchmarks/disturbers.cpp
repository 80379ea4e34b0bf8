// Forked, so that nothing has to be installed for it.
#include "benchmarks/disturbers.h"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <system_error>

namespace aoe::benchmarks {
namespace {

/// In a child of a program with threads: system calls alone.
[[noreturn]] void spin() {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::setsid();
  const volatile bool goes_on = true;
  while (goes_on) {
  }
  ::_exit(0);
}

}  // namespace

Disturbers::Disturbers(int count) {
  for (int i = 0; i < count; ++i) {
    const pid_t process = ::fork();
    if (process == 0) spin();
    if (process < 0) {
      const int cause = errno;
      end_all();
      throw std::system_error(cause, std::generic_category(), "fork");
    }
    processes_.push_back(process);
  }
}

Disturbers::~Disturbers() {
  end_all();
}

void Disturbers::end_all() const {
  for (const pid_t process : processes_) ::kill(process, SIGKILL);
  for (const pid_t process : processes_) ::waitpid(process, nullptr, 0);
}

}  // namespace aoe::benchmarks
