// A lock that all share who measure: where nobody else has it, nobody else measures. The kernel takes it from who dies, however that dies.
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

struct flock whole_file(short kind) {
  struct flock whole {};
  whole.l_type = kind;
  whole.l_whence = SEEK_SET;
  return whole;
}

/// Of the open file, so that a process with two notices meets itself.
void set_lock(int file, short kind) {
  const struct flock whole = whole_file(kind);
  ::fcntl(file, F_OFD_SETLK, &whole);
}

bool do_others_lock(int file) {
  struct flock found = whole_file(F_WRLCK);  // what any lock of others would stand in the way of
  return ::fcntl(file, F_OFD_GETLK, &found) == 0 && found.l_type != F_UNLCK;
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

/// The first of those that are alive. In another container its number means nothing here, and who has just begun has yet to write.
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
  return "another program of this user";
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
  set_lock(file_.number(), F_RDLCK);
  if (do_others_lock(file_.number())) {
    others_ = read_others(file_.number());
    log.warn("measuring at once on this machine: {}; both will be disturbed: let one end first",
             others_);
  } else {
    // Lines of others would only be old; those of a file that cannot be emptied are of no living process.
    [[maybe_unused]] const int emptied = ::ftruncate(file_.number(), 0);
  }
  write_all(file_.number(), own_line());
}

MeasuringNotice::~MeasuringNotice() {
  // Not only closed: a child that was forked meanwhile may have it still.
  if (file_.is_open()) set_lock(file_.number(), F_UNLCK);
}

}  // namespace aoe
