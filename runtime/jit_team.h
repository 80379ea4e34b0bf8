// JitTeam: the threads that carry generated code out, stage by stage.
#pragma once

#include <cstdint>
#include <span>

#include "runtime/aligned_memory.h"
#include "runtime/jit_module.h"
#include "runtime/om.h"
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

/// Whether a library that the om calls has an OpenMP team of its own.
bool is_beside_openmp(const Om& om);

class JitTeam {
 public:
  /// `scratch_bytes`: the most that any stage wants per thread. `beside_openmp`: the model also calls a library that has an
  /// OpenMP team. That team's threads spin on their cores for milliseconds after each call, so that helpers of our own would
  /// find none (Inception-v1, one step of a library: 18 ms instead of 9): its stages go to the OpenMP team as well.
  JitTeam(int threads, std::uint64_t scratch_bytes, bool beside_openmp);

  /// Runs the stages in order, each on as many threads as it has iterations for. The helpers are the calling thread's.
  void run(std::span<const JitStage> stages, const TaskRecording& recording);

 private:
  void run_with_helpers(std::span<const JitStage> stages, const TaskRecording& recording);
  void run_in_region(std::span<const JitStage> stages, const TaskRecording& recording);
  void run_as_member(std::span<const JitStage> stages, int member, int team_size,
                     const TaskRecording& recording);
  void run_stage(const JitStage& stage, int member, int team_size);

  int threads_;
  bool beside_openmp_;
  std::size_t scratch_stride_;
  AlignedMemory scratch_;
  SpinBarrier barrier_;  ///< of the region's stages
};

}  // namespace aoe::runtime
