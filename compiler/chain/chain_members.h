// The members of a chain: the steps of its body as tasks, each an op with what is elementwise behind it.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "compiler/task.h"

namespace aoe::compiler {

struct ChainMember {
  Task task;  ///< input 0 is what the member before made; of the first member the chain's own
  /// By input of `task`: which input of the chain it is; -1 for input 0 of members behind the first.
  std::vector<int> chain_inputs;
};

/// What passes between members is no use beyond so many L2 caches.
inline constexpr std::int64_t kMostL2 = 2;

/// In running order, at least one. "No": a member reads of others more than what the one before made, as input 0.
Result<std::vector<ChainMember>> members_of(const Task& chain);

}  // namespace aoe::compiler
