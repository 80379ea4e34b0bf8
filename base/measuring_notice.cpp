// A lock that all share who measure: who would get it alone is the first. The kernel takes it from who dies, however that dies.
#include "base/measuring_notice.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <sstream>

#include "base/system_calls.h"
#include "base/utc.h"

namespace aoe {
namespace fs = std::filesystem;
namespace {

/// Of the open file, so that a process with two notices meets itself; changed from one kind to another at once.
bool lock(int file, short kind) {
  struct flock whole {};
  whole.l_type = kind;
  whole.l_whence = SEEK_SET;
  return ::fcntl(file, F_OFD_SETLK, &whole) == 0;
}

/// Others may write into that directory: neither a link nor a file of theirs is taken. Otherwise none, and errno.
Descriptor open_own_file(const fs::path& path) {
  Descriptor file(::open(path.c_str(),
                         O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600));
  struct stat status {};
  if (!file.is_open() || ::fstat(file.number(), &status) != 0) return Descriptor();
  if (S_ISREG(status.st_mode) && status.st_uid == ::geteuid()) return file;
  errno = EPERM;
  return Descriptor();
}

std::string own_line() {
  return std::to_string(::getpid()) + " " + utc_text(std::chrono::system_clock::now()) + " " +
         program_invocation_short_name + "\n";
}

bool is_alive(pid_t process) {
  return process > 0 && (::kill(process, 0) == 0 || errno == EPERM);
}

/// The first of those that are alive. In another container its number means nothing here.
std::string read_others(int file) {
  std::array<char, 4096> bytes;
  const ssize_t count = ::pread(file, bytes.data(), bytes.size(), 0);
  std::istringstream lines(
      std::string(bytes.data(), static_cast<std::size_t>(std::max<ssize_t>(count, 0))));
  pid_t process = 0;
  std::string since, program;
  while (lines >> process >> since && std::getline(lines >> std::ws, program))
    if (is_alive(process))
      return program + ", process " + std::to_string(process) + ", since " + since;
  return "a program of another container";
}

}  // namespace

fs::path MeasuringNotice::usual_file() {
  std::error_code status;
  const fs::path directory = fs::temp_directory_path(status);
  return (status ? fs::path("/tmp") : directory) / ("aoe_measuring_" + std::to_string(::geteuid()));
}

MeasuringNotice::MeasuringNotice(Logger& log, const fs::path& file) : file_(open_own_file(file)) {
  if (!file_.is_open()) {
    log.debug("{}: {}: others do not learn that this process measures", file.string(),
              std::strerror(errno));
    return;
  }
  if (lock(file_.number(), F_WRLCK)) {
    // Lines of others would only be old; those of a file that cannot be emptied are of no living process.
    [[maybe_unused]] const int emptied = ::ftruncate(file_.number(), 0);
  } else {
    others_ = read_others(file_.number());
    log.warn("measuring at once on this machine: {}; both will be disturbed: let one end first",
             others_);
  }
  write_all(file_.number(), own_line());
  lock(file_.number(), F_RDLCK);
}

MeasuringNotice::~MeasuringNotice() {
  // Not only closed: a child that was forked meanwhile may have it still.
  if (file_.is_open()) lock(file_.number(), F_UNLCK);
}

}  // namespace aoe
