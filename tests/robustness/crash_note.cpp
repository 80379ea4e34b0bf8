// Handlers that only write and then let the signal do what it does.
#include "tests/robustness/crash_note.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace aoe::tests {
namespace {

constexpr std::size_t kMostBytes = 512;
char note[kMostBytes];  // read by the handler: no memory may be asked for there

void write_note(int signal_number) {
  const char intro[] = "\nended by a signal at: ";
  const auto write_all = [](const char* text) {
    [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, text, std::strlen(text));
  };
  write_all(intro);
  write_all(note);
  write_all("\n");
  ::signal(signal_number, SIG_DFL);
  ::raise(signal_number);
}

}  // namespace

void note_for_crash(const std::string& text, unsigned seconds) {
  const std::size_t bytes = std::min(text.size(), kMostBytes - 1);
  std::memcpy(note, text.data(), bytes);
  note[bytes] = '\0';
  for (const int each : {SIGSEGV, SIGFPE, SIGILL, SIGBUS, SIGABRT, SIGALRM})
    ::signal(each, write_note);
  ::alarm(seconds);
}

}  // namespace aoe::tests
