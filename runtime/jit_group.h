// JitGroup: who does what when independent steps run side by side, and what share of the time each of
// them took.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/om.h"

namespace aoe::runtime {

/// Iterations [begin, end) of one stage, for one thread.
struct JitShare {
  std::size_t stage = 0;  ///< counted from the group's first
  std::size_t step = 0;   ///< of the group
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

/// One step of a group as it is planned.
struct JitGroupStep {
  std::vector<std::int64_t> extents;  ///< of its stages
  double cost = 1;                    ///< of all its stages together, relative to the other steps
};

class JitGroup {
 public:
  /// The stages are numbered step by step. Stage k of all steps makes phase k: a step's stages
  /// wait for each other, those of different steps do not.
  JitGroup(std::span<const JitGroupStep> steps, GroupShare share, int threads);

  std::size_t stage_count() const { return stage_count_; }
  std::size_t first_stage(std::size_t step) const { return first_stages_[step]; }
  std::size_t phase_count() const { return phases_.size(); }
  int threads() const { return threads_; }
  std::span<const JitShare> shares(std::size_t phase, int thread) const {
    return phases_[phase][thread];
  }

  // ---- times of one run, for whoever records it ----

  struct Span {
    std::size_t step;
    std::uint64_t begin_ticks, end_ticks;
  };
  /// Each thread counts its own; all have arrived at a barrier before somebody reads.
  void begin_times(int thread);
  void add_time(int thread, std::size_t step, std::uint64_t ticks) {
    busy_ticks_[thread][step] += ticks;
  }
  /// [begin_ticks, end_ticks] divided among the steps by the work of all threads: one behind the
  /// other, although they ran side by side, so that sums over steps stay sums of time and events of
  /// a thread do not overlap.
  std::span<const Span> times(std::uint64_t begin_ticks, std::uint64_t end_ticks);

 private:
  using Phase = std::vector<std::vector<JitShare>>;  ///< by thread

  int threads_;
  std::size_t stage_count_ = 0;
  std::vector<std::size_t> first_stages_;  ///< by step
  std::vector<Phase> phases_;
  std::vector<std::vector<std::uint64_t>> busy_ticks_;  ///< by thread and step
  std::vector<Span> spans_;                             ///< by step
};

}  // namespace aoe::runtime
