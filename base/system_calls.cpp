// Called again after EINTR.
#include "base/system_calls.h"

#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "base/stop_scope.h"

namespace aoe {
namespace {

template <typename Write>
bool all_of(std::string_view bytes, const Write& write) {
  while (!bytes.empty()) {
    const ssize_t written = write(bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

}  // namespace

bool write_all(int file, std::string_view bytes) {
  return all_of(bytes,
                [file](const char* data, std::size_t size) { return ::write(file, data, size); });
}

bool send_all(int socket, std::string_view bytes) {
  return all_of(bytes, [socket](const char* data, std::size_t size) {
    return ::send(socket, data, size, MSG_NOSIGNAL);
  });
}

bool append_all(int file, std::string& bytes) {
  char buffer[1 << 16];
  while (true) {
    end_if_stopped();
    const ssize_t got = ::read(file, buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return got == 0;
    bytes.append(buffer, static_cast<std::size_t>(got));
  }
}

bool wait_for(pid_t child, int& status) {
  while (::waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return false;
  return true;
}

}  // namespace aoe
