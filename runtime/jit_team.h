// JitTeam: the threads that carry generated code out, stage by stage.
#pragma once

#include <cstdint>
#include <span>

#include "runtime/aligned_memory.h"
#include "runtime/jit_module.h"
#include "runtime/spin_barrier.h"
#include "runtime/task_recording.h"

namespace aoe::runtime {

struct JitStage {
  StageFunction function = nullptr;
  void* const* buffers = nullptr;
  std::int64_t extent = 0;      ///< parallel iterations
  int step = 0;                 ///< index in the om
  std::uint32_t step_name = 0;  ///< interned
  bool ends_step = false;
};

class JitTeam {
 public:
  /// `scratch_bytes`: the most that any stage wants per thread.
  JitTeam(int threads, std::uint64_t scratch_bytes);

  /// Runs the stages in order inside one parallel region. Forking a team costs more than many a
  /// small op, so the caller hands over as many stages at once as it can.
  void run(std::span<const JitStage> stages, const TaskRecording& recording);

 private:
  void run_alone(std::span<const JitStage> stages, const TaskRecording& recording);
  void run_as_member(std::span<const JitStage> stages, int member, int team_size,
                     const TaskRecording& recording);
  void run_stage(const JitStage& stage, int member, int team_size);
  void* scratch_of(int member) {
    return scratch_.at(scratch_stride_ * static_cast<std::size_t>(member));
  }

  int threads_;
  std::size_t scratch_stride_;
  AlignedMemory scratch_;
  SpinBarrier barrier_;
};

}  // namespace aoe::runtime
