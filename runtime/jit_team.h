// JitTeam: the threads that carry generated code out, stage by stage.
#pragma once

#include <cstdint>
#include <span>

#include "runtime/aligned_memory.h"
#include "runtime/jit_module.h"
#include "runtime/task_recording.h"
#include "runtime/thread_team.h"
#include "runtime/threads/spin_barrier.h"

namespace aoe::runtime {

struct JitStage {
  StageFunction function = nullptr;
  void* const* buffers = nullptr;
  std::int64_t extent = 0;      ///< parallel iterations of a round
  std::int64_t rounds = 1;      ///< each begins when the one before has ended
  int step = 0;                 ///< index in the om
  std::uint32_t step_name = 0;  ///< interned
  bool ends_step = false;
  std::uint64_t ticks = 0;  ///< that its last round took
};

class JitTeam {
 public:
  /// `scratch_bytes`: the most that any stage wants per thread. `team`: the one of the whole model.
  JitTeam(int threads, std::uint64_t scratch_bytes, ThreadTeam team);

  /// Runs the stages in order, each on as many threads as it has iterations for. The helpers are the calling thread's.
  void run(std::span<JitStage> stages, const TaskRecording& recording);

 private:
  void run_with_helpers(std::span<JitStage> stages, const TaskRecording& recording);
  void run_in_region(std::span<const JitStage> stages, const TaskRecording& recording);
  void run_as_member(std::span<const JitStage> stages, int member, int team_size,
                     const TaskRecording& recording);
  void run_round(const JitStage& stage, std::int64_t round, int member, int team_size);

  int threads_;
  ThreadTeam team_;
  std::size_t scratch_stride_;
  AlignedMemory scratch_;
  SpinBarrier barrier_;  ///< of the region's stages
};

}  // namespace aoe::runtime
