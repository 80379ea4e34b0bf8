// System calls that a signal ends early, until they are done.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

namespace aoe {

/// All of it, to an open file or pipe. False: errno says why not.
bool write_all(int file, std::string_view bytes);

/// The same to a socket, whose other end may be gone: that is EPIPE, and no signal.
bool send_all(int socket, std::string_view bytes);

/// Appends what is left to read, whatever size a file claims: those of /proc claim none. False: errno says why not. Error(kInterrupted):
/// a stop was requested (stop_scope.h).
bool append_all(int file, std::string& bytes);

/// Until the child has ended; its status as waitpid() gives it. False: errno says why not, and `status` stays.
bool wait_for(pid_t child, int& status);

}  // namespace aoe
