// Greedy by size, best fit: the largest tensor first, each into the smallest gap that is free
// during its whole life. Tested by tests/runtime/memory_plan_test.cpp.
#include "runtime/memory_plan.h"

#include <algorithm>
#include <limits>
#include <string>

#include "base/check.h"

namespace aoe::runtime {
namespace {

constexpr std::uint64_t kAlignment = 64;

/// A tensor that is not inside another, with the lives of all that are inside it.
struct Block {
  std::size_t tensor = 0;
  std::uint64_t size_bytes = 0;  ///< rounded up to the alignment
  std::uint64_t offset = 0;
  int first_step = 0;
  int last_step = 0;

  bool lives_with(const Block& other) const {
    return first_step <= other.last_step && other.first_step <= last_step;
  }
  std::uint64_t end() const { return offset + size_bytes; }
};

struct Root {
  std::size_t tensor;
  std::uint64_t offset;  ///< of the tensor asked about, within the root
};

Root root_of(std::span<const PlanTensor> tensors, std::size_t i) {
  Root root{i, 0};
  for (std::size_t hops = 0; tensors[root.tensor].inside >= 0; ++hops) {
    const PlanTensor& inner = tensors[root.tensor];
    const auto outer = static_cast<std::size_t>(inner.inside);
    AOE_CHECK(hops < tensors.size() && outer < tensors.size(),
              "tensor " + std::to_string(i) + " lies inside itself or inside none");
    AOE_CHECK(inner.inside_offset + inner.size_bytes <= tensors[outer].size_bytes,
              "tensor " + std::to_string(root.tensor) + " does not fit inside tensor " +
                  std::to_string(outer));
    root.offset += inner.inside_offset;
    root.tensor = outer;
  }
  return root;
}

std::vector<Block> merge_lives(std::span<const PlanTensor> tensors, std::span<const Root> roots) {
  std::vector<Block> by_tensor(tensors.size());
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const std::uint64_t rounded =
        (tensors[i].size_bytes + kAlignment - 1) / kAlignment * kAlignment;
    by_tensor[i] = {i, rounded, 0, std::numeric_limits<int>::max(),
                    std::numeric_limits<int>::min()};
  }
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    Block& block = by_tensor[roots[i].tensor];
    const int last_step = std::max(tensors[i].first_step, tensors[i].last_step);
    block.first_step = std::min(block.first_step, tensors[i].first_step);
    block.last_step = std::max(block.last_step, last_step);
  }
  std::erase_if(by_tensor, [&](const Block& b) {
    return roots[b.tensor].tensor != b.tensor || b.size_bytes == 0;
  });
  return by_tensor;
}

/// `placed` is sorted by offset.
std::uint64_t best_fit(const Block& block, const std::vector<Block>& placed) {
  std::uint64_t best_offset = 0;
  std::uint64_t best_gap = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t free_from = 0;
  for (const Block& other : placed) {
    if (!other.lives_with(block)) continue;
    if (other.offset >= free_from + block.size_bytes && other.offset - free_from < best_gap) {
      best_gap = other.offset - free_from;
      best_offset = free_from;
    }
    free_from = std::max(free_from, other.end());
  }
  return best_gap == std::numeric_limits<std::uint64_t>::max() ? free_from : best_offset;
}

void place(std::vector<Block>& blocks, bool reuse) {
  std::sort(blocks.begin(), blocks.end(), [](const Block& a, const Block& b) {
    return a.size_bytes != b.size_bytes ? a.size_bytes > b.size_bytes : a.tensor < b.tensor;
  });
  std::vector<Block> placed;
  std::uint64_t end = 0;
  for (Block& block : blocks) {
    block.offset = reuse ? best_fit(block, placed) : end;
    end = std::max(end, block.end());
    const auto after = std::upper_bound(
        placed.begin(), placed.end(), block.offset,
        [](std::uint64_t offset, const Block& other) { return offset < other.offset; });
    placed.insert(after, block);
  }
}

}  // namespace

MemoryPlan plan_memory(std::span<const PlanTensor> tensors, bool reuse) {
  std::vector<Root> roots;
  for (std::size_t i = 0; i < tensors.size(); ++i) roots.push_back(root_of(tensors, i));
  std::vector<Block> blocks = merge_lives(tensors, roots);
  place(blocks, reuse);

  MemoryPlan plan;
  std::vector<std::uint64_t> root_offsets(tensors.size(), 0);
  for (const Block& block : blocks) {
    root_offsets[block.tensor] = block.offset;
    plan.arena_bytes = std::max(plan.arena_bytes, block.end());
  }
  for (const Root& root : roots) plan.offsets.push_back(root_offsets[root.tensor] + root.offset);
  return plan;
}

}  // namespace aoe::runtime
