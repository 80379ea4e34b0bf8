// Greedy by size, best fit: the largest tensor first, each into the smallest gap that is free
// during its whole life. Tested by tests/runtime/memory_plan_test.cpp.
#include "runtime/memory_plan.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <unordered_map>

#include "base/ceil_div.h"
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

  std::uint64_t end() const { return offset + size_bytes; }
};

struct Root {
  std::size_t tensor;
  std::uint64_t offset;  ///< of the tensor asked about, within the root
};

/// Rows of tensors inside tensors may be as long as the model: each is walked once.
std::vector<Root> roots_of(std::span<const PlanTensor> tensors) {
  std::vector<std::optional<Root>> known(tensors.size());
  std::vector<Root> roots;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    std::vector<std::size_t> row;  // from tensor i outwards, up to one whose root is known
    for (std::size_t at = i; !known[at];) {
      const PlanTensor& inner = tensors[at];
      if (inner.inside < 0) {
        known[at] = Root{at, 0};
        break;
      }
      row.push_back(at);
      const auto outer = static_cast<std::size_t>(inner.inside);
      AOE_CHECK(row.size() <= tensors.size() && outer < tensors.size(),
                "tensor " + std::to_string(i) + " lies inside itself or inside none");
      AOE_CHECK(
          inner.inside_offset + inner.size_bytes <= tensors[outer].size_bytes,
          "tensor " + std::to_string(at) + " does not fit inside tensor " + std::to_string(outer));
      at = outer;
    }
    for (; !row.empty(); row.pop_back()) {
      const PlanTensor& inner = tensors[row.back()];
      const Root& outer = *known[static_cast<std::size_t>(inner.inside)];
      known[row.back()] = Root{outer.tensor, outer.offset + inner.inside_offset};
    }
    roots.push_back(*known[i]);
  }
  return roots;
}

std::vector<Block> merge_lives(std::span<const PlanTensor> tensors, std::span<const Root> roots) {
  std::vector<Block> by_tensor(tensors.size());
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const std::uint64_t rounded = round_up(tensors[i].size_bytes, kAlignment);
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

/// The blocks that are placed, found by when they live: a tree over all blocks in the order of their
/// first steps, that knows of each range the last step at which a placed one of it lives.
class PlacedBlocks {
 public:
  /// `blocks` stay where they are.
  explicit PlacedBlocks(const std::vector<Block>& blocks) {
    for (const Block& block : blocks) by_first_step_.push_back(&block);
    std::ranges::sort(by_first_step_, {}, [](const Block* b) { return b->first_step; });
    while (leaves_ < by_first_step_.size()) leaves_ *= 2;
    last_step_.assign(2 * leaves_, kNotPlaced);
    for (std::size_t i = 0; i < by_first_step_.size(); ++i) place_of_[by_first_step_[i]] = i;
  }

  void add(const Block& block) {
    std::size_t at = leaves_ + place_of_.at(&block);
    for (; at > 0; at /= 2) last_step_[at] = std::max(last_step_[at], block.last_step);
  }

  /// Those that live while `block` does, by offset.
  std::vector<const Block*> living_with(const Block& block) const {
    std::vector<const Block*> found;
    collect(1, 0, leaves_, block, found);
    std::ranges::sort(found, [](const Block* a, const Block* b) {
      return a->offset != b->offset ? a->offset < b->offset : a->tensor < b->tensor;
    });
    return found;
  }

 private:
  static constexpr int kNotPlaced = std::numeric_limits<int>::min();

  /// Node `at` of the tree stands for `width` blocks from `first` on.
  void collect(std::size_t at, std::size_t first, std::size_t width, const Block& block,
               std::vector<const Block*>& found) const {
    if (first >= by_first_step_.size() || by_first_step_[first]->first_step > block.last_step ||
        last_step_[at] == kNotPlaced || last_step_[at] < block.first_step)
      return;
    if (width == 1) return found.push_back(by_first_step_[first]);
    collect(2 * at, first, width / 2, block, found);
    collect(2 * at + 1, first + width / 2, width / 2, block, found);
  }

  std::vector<const Block*> by_first_step_;
  std::unordered_map<const Block*, std::size_t> place_of_;  ///< in by_first_step_
  std::size_t leaves_ = 1;
  std::vector<int> last_step_;  ///< by node of the tree; node 1 is all, 2n and 2n + 1 halve node n
};

/// `others`, by offset, live while `block` does.
std::uint64_t best_fit(const Block& block, const std::vector<const Block*>& others) {
  std::uint64_t best_offset = 0;
  std::uint64_t best_gap = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t free_from = 0;
  for (const Block* other : others) {
    if (other->offset >= free_from + block.size_bytes && other->offset - free_from < best_gap) {
      best_gap = other->offset - free_from;
      best_offset = free_from;
    }
    free_from = std::max(free_from, other->end());
  }
  return best_gap == std::numeric_limits<std::uint64_t>::max() ? free_from : best_offset;
}

void place(std::vector<Block>& blocks, bool reuse) {
  std::sort(blocks.begin(), blocks.end(), [](const Block& a, const Block& b) {
    return a.size_bytes != b.size_bytes ? a.size_bytes > b.size_bytes : a.tensor < b.tensor;
  });
  PlacedBlocks placed(blocks);
  std::uint64_t end = 0;
  for (Block& block : blocks) {
    block.offset = reuse ? best_fit(block, placed.living_with(block)) : end;
    end = std::max(end, block.end());
    placed.add(block);
  }
}

}  // namespace

MemoryPlan plan_memory(std::span<const PlanTensor> tensors, bool reuse) {
  const std::vector<Root> roots = roots_of(tensors);
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
