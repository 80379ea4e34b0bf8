// WholeParts: parts of a step that is sliced (slice_map.h), each carried out by one thread from its first op to its last, so that
// threads wait for each other once for all parts, and what passes between ops stays in the cache of one core.
//
// Slices are shared out in order, so that a thread finds in its caches what it made for the step before. A thread claims parts of its
// own share, then of others': no thread that has not begun is waited for. What a part needs is memory of the thread (native/scratch.h).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "runtime/generated_body.h"
#include "runtime/slice_border.h"
#include "runtime/slice_shares.h"
#include "runtime/task_recording.h"
#include "runtime/tensor_table.h"

namespace aoe::runtime {

class WholeParts {
 public:
  /// `bodies` and `lengths` of parts, the longest first; those longer than `longest` are not looked at. nullptr where a thread cannot
  /// carry the others out alone.
  static std::unique_ptr<WholeParts> of(std::span<const Executor* const> bodies,
                                        std::span<const std::int64_t> lengths, std::int64_t longest,
                                        int threads);
  ~WholeParts();
  WholeParts(const WholeParts&) = delete;
  WholeParts& operator=(const WholeParts&) = delete;

  /// Of the body of one length, in runs that follow.
  struct Borders {
    std::vector<SliceBorder> reads, makes;
  };
  bool has(std::size_t length) const { return length >= first_; }
  void set_borders(std::size_t length, Borders borders) {
    lengths_[length - first_].borders = std::move(borders);
  }

  /// `clock`: where tasks are recorded, those of the calling thread; `own_time` is called where all since it was last asked was the
  /// step's own.
  void run(const std::vector<std::vector<SlicePiece>>& shares, const TensorTable& tensors,
           TaskClock* clock, const std::function<void()>& own_time);

 private:
  struct Length {
    GeneratedBody body;
    Borders borders = {};
  };
  /// Of one thread, by length.
  struct Member {
    std::vector<GeneratedBody::Hand> hands;
  };
  struct alignas(64) Claims {
    std::atomic<std::size_t> pieces{0};
  };
  struct Job;
  class Worker;

  WholeParts(std::size_t first, std::vector<Length> lengths, int threads);
  static void work(void* const* buffers, std::int64_t begin, std::int64_t end, void* member);

  const int threads_;
  const std::size_t first_;  ///< number of the first of lengths_
  std::vector<Length> lengths_;
  std::size_t arena_bytes_ = 0, scratch_bytes_ = 0;
  std::vector<Member> members_;
  std::vector<Claims> claims_;  ///< by share
};

}  // namespace aoe::runtime
