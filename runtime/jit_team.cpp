// One parallel loop a stage; or one OpenMP region around many stages, with a barrier of our own between them.
#include "runtime/jit_team.h"

#include <omp.h>

#include "profiler/recorder.h"
#include "runtime/threads/helper_threads.h"

namespace aoe::runtime {

JitTeam::JitTeam(int threads, std::uint64_t scratch_bytes, ThreadTeam team)
    : threads_(threads),
      team_(team),
      scratch_stride_((scratch_bytes + 63) / 64 * 64),
      scratch_(scratch_stride_ * static_cast<std::size_t>(threads)) {
}

void JitTeam::run(std::span<JitStage> stages, const TaskRecording& recording) {
  if (team_ == ThreadTeam::kOpenMp && threads_ > 1)
    run_in_region(stages, recording);
  else
    run_with_helpers(stages, recording);
}

void JitTeam::run_with_helpers(std::span<JitStage> stages, const TaskRecording& recording) {
  HelperThreads& helpers = HelperThreads::of_this_thread(threads_ - 1);
  TaskClock clock(recording);
  for (JitStage& stage : stages) {
    for (std::int64_t round = 0; round < stage.rounds; ++round) {
      const std::uint64_t begin = profiler::now_ticks();
      helpers.run({.function = stage.function,
                   .buffers = stage.buffers,
                   .first = round * stage.extent,
                   .extent = stage.extent,
                   .scratch = scratch_.at(0),
                   .scratch_stride = scratch_stride_,
                   .pieces = good_pieces(stage.ticks)},
                  threads_);
      stage.ticks = profiler::now_ticks() - begin;
    }
    if (stage.ends_step) clock.task_done(stage.step_name, stage.step);
  }
}

/// Forking a team costs more than many a small op, so one region takes all stages.
void JitTeam::run_in_region(std::span<const JitStage> stages, const TaskRecording& recording) {
#pragma omp parallel num_threads(threads_)
  // OpenMP may give fewer threads than asked for, e.g. one when the caller is in a parallel region
  // itself.
  run_as_member(stages, omp_get_thread_num(), omp_get_num_threads(), recording);
}

void JitTeam::run_as_member(std::span<const JitStage> stages, int member, int team_size,
                            const TaskRecording& recording) {
  TaskClock clock(member == 0 ? recording : TaskRecording{});
  for (const JitStage& stage : stages) {
    for (std::int64_t round = 0; round < stage.rounds; ++round) {
      if (round > 0) barrier_.arrive_and_wait(team_size);
      run_round(stage, round, member, team_size);
    }
    // The end of the region is the last barrier, unless the last step's end has to be recorded.
    if (&stage != &stages.back() || recording.is_on) barrier_.arrive_and_wait(team_size);
    if (stage.ends_step) clock.task_done(stage.step_name, stage.step);
  }
}

void JitTeam::run_round(const JitStage& stage, std::int64_t round, int member, int team_size) {
  const std::int64_t first = round * stage.extent;
  const std::int64_t begin = part_begin(stage.extent, member, team_size);
  const std::int64_t end = part_begin(stage.extent, member + 1, team_size);
  if (begin < end)
    stage.function(stage.buffers, first + begin, first + end,
                   scratch_.at(scratch_stride_ * static_cast<std::size_t>(member)));
}

}  // namespace aoe::runtime
