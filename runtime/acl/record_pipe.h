// RecordPipe: a caller's descriptor that records are written to, without ever waiting for the reader.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

#include "runtime/acl/op_record.h"

namespace aoe::runtime::acl {

/// Not thread-safe. Writes only with SIGPIPE blocked.
class RecordPipe {
 public:
  using Clock = std::chrono::steady_clock;
  /// Records that wait for room in the pipe; what comes on top is dropped.
  static constexpr std::size_t kMostWaiting = 16384;
  /// A reader that takes nothing for so long while the pipe is being closed loses the rest,
  static constexpr std::chrono::seconds kPatience{1};
  /// and one that takes little does after so long.
  static constexpr std::chrono::seconds kMostPatience{10};

  /// Makes the descriptor non-blocking until it is closed. Throws ACL_ERROR_INVALID_PARAM when it is not one of a pipe or
  /// socket that can be written to: others may wait for a disk or a terminal.
  explicit RecordPipe(int descriptor);
  RecordPipe(const RecordPipe&) = delete;
  RecordPipe& operator=(const RecordPipe&) = delete;

  int descriptor() const { return descriptor_; }
  void add(OpRecord record);
  /// As much as fits.
  void write(Clock::time_point now);
  bool is_waiting() const { return waiting_bytes() > 0; }
  /// What waits, and what comes, is dropped.
  void give_up(std::string why);

  /// No records come any more: what waits is still written, as long as the reader takes it.
  void begin_closing(Clock::time_point now);
  bool is_closing() const { return closing_since_ != Clock::time_point{}; }
  /// Whether all is written, or the reader's time is over.
  bool can_close(Clock::time_point now) const;
  /// Closes the descriptor and logs what was dropped. What waits is dropped.
  void close() noexcept;
  bool is_closed() const { return is_closed_; }
  /// Closes a child process's copy of the descriptor, and nothing else: the parent goes on writing.
  void forget();

 private:
  std::size_t waiting_bytes() const { return queue_.size() - written_; }
  bool is_still_ours() const;
  void drop_waiting();

  const int descriptor_;
  int flags_ = 0;  ///< of the descriptor as it was given
  dev_t device_ = 0;
  ino_t inode_ = 0;
  std::string queue_;           ///< bytes of records
  std::size_t written_ = 0;     ///< of them; sockets take parts of records
  std::uint64_t dropped_ = 0;   ///< records
  std::string broken_because_;  ///< empty: not
  bool is_foreign_ = false;     ///< the caller closed it: the number may be another file's by now
  bool is_closed_ = false;
  Clock::time_point last_progress_;
  Clock::time_point closing_since_{};
};

}  // namespace aoe::runtime::acl
