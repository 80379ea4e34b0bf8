// Called again after EINTR.
#include "base/system_calls.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

namespace aoe {

bool write_all(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

bool wait_for(pid_t child, int& status) {
  while (::waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return false;
  return true;
}

}  // namespace aoe
