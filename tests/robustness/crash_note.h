// CrashNote: what a test was at, said on stderr when a signal or a hang ends the process.
#pragma once

#include <string>

namespace aoe::tests {

/// What takes some hundredths of a second hangs after so long.
constexpr unsigned kHangSeconds = 120;

/// Remembers `text` ("seed 17") and starts the watchdog anew: after `seconds` without another note the process ends
/// with SIGALRM. 0 turns it off. Before SIGSEGV, SIGFPE, SIGILL, SIGBUS, SIGABRT and SIGALRM end the process, the text
/// is written to stderr. One test thread at a time.
void note_for_crash(const std::string& text, unsigned seconds);

}  // namespace aoe::tests
