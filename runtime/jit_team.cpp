// One OpenMP region around many stages, with a barrier of our own between them.
#include "runtime/jit_team.h"

#include <omp.h>

#include "profiler/recorder.h"

namespace aoe::runtime {
namespace {

/// Records the steps of one run of stages back to back: the end of one is the beginning of the
/// next.
class StepClock {
 public:
  explicit StepClock(bool is_recorded)
      : is_recorded_(is_recorded), begin_(is_recorded ? profiler::now_ticks() : 0) {}

  void stage_done(const JitStage& stage) {
    if (!is_recorded_ || !stage.ends_step) return;
    const std::uint64_t end = profiler::now_ticks();
    profiler::record(profiler::EventKind::kTask, stage.step_name, begin_, end,
                     static_cast<std::uint64_t>(stage.step));
    begin_ = end;
  }

 private:
  bool is_recorded_;
  std::uint64_t begin_;
};

}  // namespace

JitTeam::JitTeam(int threads, std::uint64_t scratch_bytes)
    : threads_(threads),
      scratch_stride_((scratch_bytes + 63) / 64 * 64),
      scratch_(scratch_stride_ * static_cast<std::size_t>(threads)) {
}

void JitTeam::run(std::span<const JitStage> stages) {
  if (threads_ == 1) return run_alone(stages);
  const bool is_recorded = profiler::recording.load(std::memory_order_relaxed);
#pragma omp parallel num_threads(threads_)
  // OpenMP may give fewer threads than asked for, e.g. one when the caller is in a parallel region
  // itself.
  run_as_member(stages, omp_get_thread_num(), omp_get_num_threads(), is_recorded);
}

void JitTeam::run_alone(std::span<const JitStage> stages) {
  StepClock clock(profiler::recording.load(std::memory_order_relaxed));
  for (const JitStage& stage : stages) {
    stage.function(stage.buffers, 0, stage.extent, scratch_.data());
    clock.stage_done(stage);
  }
}

void JitTeam::run_as_member(std::span<const JitStage> stages, int member, int team_size,
                            bool is_recorded) {
  void* scratch = scratch_.at(scratch_stride_ * static_cast<std::size_t>(member));
  StepClock clock(is_recorded && member == 0);
  for (std::size_t i = 0; i < stages.size(); ++i) {
    const JitStage& stage = stages[i];
    // Rounded up, so that member 0, which is never late, gets the larger share and stages of one
    // iteration.
    const std::int64_t begin = (stage.extent * member + team_size - 1) / team_size;
    const std::int64_t end = (stage.extent * (member + 1) + team_size - 1) / team_size;
    if (begin < end) stage.function(stage.buffers, begin, end, scratch);
    // The end of the region is the last barrier, unless the last step's end has to be recorded.
    if (i + 1 < stages.size() || is_recorded) barrier_.arrive_and_wait(team_size);
    clock.stage_done(stage);
  }
}

}  // namespace aoe::runtime
