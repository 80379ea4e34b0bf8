// Static memory plan: offsets in one arena so that tensors alive at the same time do not overlap,
// except where one is declared to lie inside another (views, concatenation without copies). Greedy
// by size, best fit (the offset-calculation approach of Pisarchyk and Lee, 2020, arXiv:2001.03288).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace aoe::runtime {

struct PlanTensor {
  std::uint64_t size_bytes = 0;
  int first_step = 0;  ///< the step that writes it
  int last_step = 0;   ///< the last step that reads it (inclusive)
  int inside = -1;     ///< lies inside this tensor (index), at `inside_offset`; lifetimes merge
  std::uint64_t inside_offset = 0;
};

struct MemoryPlan {
  std::vector<std::uint64_t>
      offsets;  ///< one per tensor, multiples of 64 (but for tensors inside others)
  std::uint64_t arena_bytes = 0;
};

MemoryPlan plan_memory(std::span<const PlanTensor> tensors, bool reuse = true);

}  // namespace aoe::runtime
