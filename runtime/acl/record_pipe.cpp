// A bounded queue before a non-blocking descriptor. Tested by tests/runtime/subscribe_test.cpp.
#include "runtime/acl/record_pipe.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/log.h"
#include "base/thread_wall.h"
#include "runtime/acl/wall.h"

namespace aoe::runtime::acl {
namespace {

/// Pipes take so much whole or not at all.
constexpr std::size_t kWriteBytes = PIPE_BUF / sizeof(OpRecord) * sizeof(OpRecord);
/// So much of the queue is written before the rest moves to the front.
constexpr std::size_t kCompactBytes = std::size_t{1} << 18;

}  // namespace

RecordPipe::RecordPipe(int descriptor)
    : descriptor_(descriptor), flags_(::fcntl(descriptor, F_GETFL)) {
  const auto refuse = [&](const char* why) {
    throw AclFailure(ACL_ERROR_INVALID_PARAM,
                     "descriptor " + std::to_string(descriptor) + " " + why);
  };
  struct stat status {};
  if (flags_ < 0 || ::fstat(descriptor, &status) != 0) refuse("is not open");
  if (!S_ISFIFO(status.st_mode) && !S_ISSOCK(status.st_mode)) refuse("is no pipe or socket");
  if ((flags_ & O_ACCMODE) == O_RDONLY) refuse("is the end of a pipe that is read");
  device_ = status.st_dev;
  inode_ = status.st_ino;
  if (::fcntl(descriptor, F_SETFL, flags_ | O_NONBLOCK) != 0) refuse("cannot be made non-blocking");
}

bool RecordPipe::is_still_ours() const {
  struct stat status {};
  return ::fstat(descriptor_, &status) == 0 && status.st_dev == device_ && status.st_ino == inode_;
}

void RecordPipe::add(OpRecord record) {
  if (!broken_because_.empty() || waiting_bytes() >= kMostWaiting * sizeof record) {
    ++dropped_;
    return;
  }
  issue(record);
  queue_.append(reinterpret_cast<const char*>(&record), sizeof record);
}

void RecordPipe::write(Clock::time_point now) {
  if (!is_waiting()) return;
  if (!is_still_ours()) {
    is_foreign_ = true;
    return give_up("the program closed it");
  }
  while (is_waiting()) {
    const ssize_t n =
        ::write(descriptor_, queue_.data() + written_, std::min(kWriteBytes, waiting_bytes()));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno != EAGAIN && errno != EWOULDBLOCK)
      return give_up(errno == EPIPE ? "its reader closed it" : std::strerror(errno));
    if (n <= 0) break;
    written_ += static_cast<std::size_t>(n);
    last_progress_ = now;
  }
  if (is_waiting() && written_ < kCompactBytes) return;
  queue_.erase(0, written_);
  written_ = 0;
}

void RecordPipe::give_up(std::string why) {
  broken_because_ = std::move(why);
  drop_waiting();
}

void RecordPipe::drop_waiting() {
  dropped_ += (waiting_bytes() + sizeof(OpRecord) - 1) / sizeof(OpRecord);
  queue_.clear();
  written_ = 0;
}

void RecordPipe::begin_closing(Clock::time_point now) {
  closing_since_ = last_progress_ = now;
}

bool RecordPipe::can_close(Clock::time_point now) const {
  return !is_waiting() || now - last_progress_ >= kPatience ||
         now - closing_since_ >= kMostPatience;
}

void RecordPipe::close() noexcept {
  drop_waiting();
  if (!is_foreign_ && is_still_ours()) {
    ::fcntl(descriptor_, F_SETFL, flags_);  // others may share what the descriptor stands for
    ::close(descriptor_);
  }
  is_closed_ = true;
  if (dropped_ == 0) return;
  const auto no_memory = [](const char*) {};
  behind_thread_wall(
      [this] {
        logger("profiler")
            ->warn("descriptor {}: {} records of ops were dropped: {}", descriptor_, dropped_,
                   broken_because_.empty() ? "its reader was too slow" : broken_because_);
      },
      no_memory);
}

void RecordPipe::forget() {
  if (!is_foreign_ && !is_closed_ && is_still_ours()) ::close(descriptor_);
}

}  // namespace aoe::runtime::acl
