// flock with a bounded wait; the kernel frees it when the holder dies, however it dies.
#include "bank/file_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <thread>

#include "base/error.h"
#include "base/utc.h"

namespace aoe::bank {
namespace {

std::string holder_text() {
  char host[256] = "unknown host";
  ::gethostname(host, sizeof host - 1);
  return "process " + std::to_string(::getpid()) + " on " + host + " since " +
         utc_text(std::chrono::system_clock::now());
}

std::string read_holder(int fd) {
  char text[512];
  const ssize_t n = ::pread(fd, text, sizeof text, 0);
  return n > 0 ? std::string(text, static_cast<std::size_t>(n)) : "an unnamed process";
}

}  // namespace

FileLock::FileLock(const std::filesystem::path& path, std::chrono::milliseconds wait)
    : file_(::open(path.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0664)) {
  if (!file_.is_open())
    throw Error(ExitCode::kBank, std::string("cannot be opened: ") + std::strerror(errno),
                path.string(), "the bank's directory must be writable");
  const auto deadline = std::chrono::steady_clock::now() + wait;
  while (::flock(file_.number(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR)
      throw Error(ExitCode::kBank, std::string("cannot be locked: ") + std::strerror(errno),
                  path.string(), "put the bank on a file system with locks");
    if (std::chrono::steady_clock::now() >= deadline)
      throw Error(ExitCode::kBank,
                  "bank is locked by " + read_holder(file_.number()) + ", waited " +
                      std::to_string(wait.count()) + " ms",
                  path.string(), "try again when that process has finished");
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  const std::string holder = holder_text();
  if (::ftruncate(file_.number(), 0) != 0 ||
      ::pwrite(file_.number(), holder.data(), holder.size(), 0) < 0) {
    // The name is a courtesy to those who wait; the lock itself holds without it.
  }
}

}  // namespace aoe::bank
