// One OpenMP region around many stages, with a barrier of our own between them.
#include "runtime/jit_team.h"

#include <omp.h>

namespace aoe::runtime {
namespace {

/// Behind the group's last barrier.
void record_group(std::span<const JitStage> stages, TaskClock& clock) {
  const std::uint64_t end = profiler::now_ticks();
  JitGroup& group = *stages.front().group;
  for (const JitGroup::Span& span : group.times(clock.begin_ticks(), end)) {
    const JitStage& stage = stages[group.first_stage(span.step)];
    clock.record(stage.step_name, stage.step, span.begin_ticks, span.end_ticks);
  }
  clock.restart(end);
}

}  // namespace

JitTeam::JitTeam(int threads, std::uint64_t scratch_bytes)
    : threads_(threads),
      scratch_stride_((scratch_bytes + 63) / 64 * 64),
      scratch_(scratch_stride_ * static_cast<std::size_t>(threads)) {
}

void JitTeam::run(std::span<const JitStage> stages, const TaskRecording& recording) {
  if (threads_ == 1) return run_alone(stages, recording);
#pragma omp parallel num_threads(threads_)
  // OpenMP may give fewer threads than asked for, e.g. one when the caller is in a parallel region
  // itself.
  run_as_member(stages, omp_get_thread_num(), omp_get_num_threads(), recording);
}

void JitTeam::run_alone(std::span<const JitStage> stages, const TaskRecording& recording) {
  TaskClock clock(recording);
  for (const JitStage& stage : stages) {
    stage.function(stage.buffers, 0, stage.extent, scratch_.data());
    if (stage.ends_step) clock.task_done(stage.step_name, stage.step);
  }
}

void JitTeam::run_as_member(std::span<const JitStage> stages, int member, int team_size,
                            const TaskRecording& recording) {
  TaskClock clock(member == 0 ? recording : TaskRecording{});
  for (std::size_t i = 0; i < stages.size();) {
    const JitStage& stage = stages[i];
    const bool is_side_by_side =
        stage.group != nullptr && stage.group->threads() == team_size && !recording.with_counters;
    const std::size_t next = i + (is_side_by_side ? stage.group->stage_count() : 1);
    // The end of the region is the last barrier, unless the last step's end has to be recorded.
    const bool needs_no_barrier = next == stages.size() && !recording.is_on;
    if (is_side_by_side) {
      const auto of_group = stages.subspan(i, next - i);
      run_group(of_group, member, recording.is_on, needs_no_barrier);
      if (member == 0 && recording.is_on) record_group(of_group, clock);
    } else {
      run_stage(stage, member, team_size);
      if (!needs_no_barrier) barrier_.arrive_and_wait(team_size);
      if (stage.ends_step) clock.task_done(stage.step_name, stage.step);
    }
    i = next;
  }
}

void JitTeam::run_stage(const JitStage& stage, int member, int team_size) {
  // Rounded up, so that member 0, which is never late, gets the larger share and stages of one
  // iteration.
  const std::int64_t begin = (stage.extent * member + team_size - 1) / team_size;
  const std::int64_t end = (stage.extent * (member + 1) + team_size - 1) / team_size;
  if (begin < end) stage.function(stage.buffers, begin, end, scratch_of(member));
}

void JitTeam::run_group(std::span<const JitStage> stages, int member, bool is_recorded,
                        bool needs_no_barrier) {
  JitGroup& group = *stages.front().group;
  if (is_recorded) group.begin_times(member);
  for (std::size_t phase = 0; phase < group.phase_count(); ++phase) {
    std::uint64_t begin = is_recorded ? profiler::now_ticks() : 0;
    for (const JitShare& share : group.shares(phase, member)) {
      const JitStage& stage = stages[share.stage];
      stage.function(stage.buffers, share.begin, share.end, scratch_of(member));
      if (!is_recorded) continue;
      const std::uint64_t end = profiler::now_ticks();
      group.add_time(member, share.step, end - begin);
      begin = end;
    }
    if (phase + 1 < group.phase_count() || !needs_no_barrier)
      barrier_.arrive_and_wait(group.threads());
  }
}

}  // namespace aoe::runtime
