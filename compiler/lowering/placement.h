// Placement: where each tensor of the lowered model lies: caller's buffers, weights, arena (from the memory plan), with
// views and in-place concatenations sharing bytes where that is legal.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "compiler/lowering/lowering.h"
#include "runtime/om/om.h"

namespace aoe::compiler {

/// Bytes that a kNone step could not share and that must be copied: tensor `from` into tensor `to`, before step `step`.
struct Copy {
  int step = 0;
  int from = 0;
  int to = 0;
};

struct Placement {
  /// One per tensor of the lowered model, then one per Copy whose target had to be made.
  std::vector<runtime::Place> places;
  std::vector<std::uint64_t> offsets;
  std::vector<std::uint64_t> workspace_offsets;  ///< one per step; meaningless without a workspace
  std::uint64_t arena_bytes = 0;
  std::vector<int>
      run_by_reference;  ///< views that cannot share and whose sizes only a run can tell
  std::vector<Copy> copies;
  std::vector<LoweredTensor> copy_targets;  ///< ids follow those of the lowered tensors
};

/// `kernels`: one per step. Weight offsets are not known yet: 0.
Placement place_tensors(const Lowered& lowered, const std::vector<Kernel>& kernels,
                        bool reuse_memory);

}  // namespace aoe::compiler
