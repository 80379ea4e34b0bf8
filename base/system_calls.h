// System calls that a signal ends early, until they are done.
#pragma once

#include <sys/types.h>

#include <string_view>

namespace aoe {

/// All of it, to an open file or pipe. False: errno says why not.
bool write_all(int file, std::string_view bytes);

/// Until the child has ended; its status as waitpid() gives it. False: errno says why not, and `status` stays.
bool wait_for(pid_t child, int& status);

}  // namespace aoe
