// TreeEnsemble: blocks of rows through tree after tree, so that a tree's nodes are read from cache by all rows of a block.
#include <algorithm>
#include <array>
#include <cmath>

#include "native/by_type.h"
#include "reference/fail.h"
#include "reference/trees.h"

namespace aoe::native {
namespace {

using reference::fail_model;

/// Rows that walk through a tree side by side: a walk waits for one load after the other, several fill the wait.
constexpr std::int64_t kWalkers = 4;
constexpr std::int64_t kRowsOfBlock = 64;

enum class Aggregate { kSum, kMin, kMax };

template <typename T>
class Trees {
 public:
  explicit Trees(const Run& run)
      : rows_(run.inputs[reference::kTreeRows].as<T>()),
        width_(static_cast<std::uint32_t>(run.shape(reference::kTreeRows)[1])),
        roots_(run.inputs[reference::kTreeRoots].as<std::int32_t>()),
        trees_(run.inputs[reference::kTreeRoots].elements()),
        features_(run.inputs[reference::kTreeFeatures].as<std::int32_t>()),
        nodes_(static_cast<std::int32_t>(run.inputs[reference::kTreeFeatures].elements())),
        splits_(run.inputs[reference::kTreeSplits].as<T>()),
        branches_(run.inputs[reference::kTreeBranches].as<std::int32_t>()),
        leaves_(run.inputs[reference::kTreeLeaves].as<std::int32_t>()),
        leaf_count_(run.inputs[reference::kTreeLeaves].elements() - 1),
        targets_of_(run.inputs[reference::kTreeTargets].as<std::int32_t>()),
        weights_(run.inputs[reference::kTreeWeights].as<T>()),
        votes_(run.inputs[reference::kTreeWeights].elements()),
        flags_(run.has_input(reference::kTreeFlags)
                   ? run.inputs[reference::kTreeFlags].as<std::uint8_t>()
                   : nullptr),
        y_(run.output(0).as<T>()),
        targets_(run.output(0).desc.shape[1]) {
    const std::string aggregate = run.attrs.get_string("aggregate", "SUM");
    aggregate_ = aggregate == "MIN"   ? Aggregate::kMin
                 : aggregate == "MAX" ? Aggregate::kMax
                                      : Aggregate::kSum;
    if (aggregate == "AVERAGE") share_ = static_cast<T>(trees_);
    if (width_ < run.attrs.get_int("features", 0))
      fail_model("rows have " + std::to_string(width_) + " features, the trees ask about " +
                 std::to_string(run.attrs.get_int("features", 0)));
    const auto count = [&](std::size_t i) { return run.inputs[i].elements(); };
    if (count(reference::kTreeSplits) != nodes_ || count(reference::kTreeBranches) != 2 * nodes_ ||
        count(reference::kTreeTargets) != votes_ || leaf_count_ < 0 ||
        (flags_ != nullptr && count(reference::kTreeFlags) != nodes_))
      fail_model("the nodes of the trees are not all there");
  }

  /// Of a row, roughly.
  double nanoseconds() const {
    const auto trees = static_cast<double>(std::max<std::int64_t>(trees_, 1));
    return trees * (2 + 2 * std::log2(static_cast<double>(nodes_) / trees + 2));
  }

  void run(std::int64_t begin, std::int64_t end) const {
    for (std::int64_t first = begin; first < end; first += kRowsOfBlock) {
      const std::int64_t last = std::min(first + kRowsOfBlock, end);
      std::fill(y_ + first * targets_, y_ + last * targets_, T{0});
      std::vector<std::uint8_t> has_votes(
          aggregate_ == Aggregate::kSum ? 0 : static_cast<std::size_t>((last - first) * targets_));
      for (std::int64_t t = 0; t < trees_; ++t) walk_all(roots_[t], first, last, has_votes);
      if (share_ != 1)
        for (T* y = y_ + first * targets_; y != y_ + last * targets_; ++y) *y /= share_;
    }
  }

 private:
  void walk_all(std::int32_t root, std::int64_t first, std::int64_t last,
                std::vector<std::uint8_t>& has_votes) const {
    for (std::int64_t r = first; r < last; r += kWalkers) {
      const std::int64_t walkers = std::min(kWalkers, last - r);
      std::array<std::int32_t, kWalkers> at;
      at.fill(root);
      if (walkers == kWalkers)
        walk<kWalkers>(at, r);
      else
        for (std::int64_t w = 0; w < walkers; ++w) {
          std::array<std::int32_t, kWalkers> one = {root};
          walk<1>(one, r + w);
          at[static_cast<std::size_t>(w)] = one[0];
        }
      for (std::int64_t w = 0; w < walkers; ++w)
        vote(~at[static_cast<std::size_t>(w)], r + w, (r + w - first) * targets_, has_votes);
    }
  }

  template <std::size_t kMany>
  void walk(std::array<std::int32_t, kWalkers>& at, std::int64_t row) const {
    for (bool is_on_its_way = at[0] >= 0; is_on_its_way;) {
      is_on_its_way = false;
      for (std::size_t w = 0; w < kMany; ++w) {
        if (at[w] < 0) continue;
        at[w] = next(at[w], rows_ + (row + static_cast<std::int64_t>(w)) * width_);
        is_on_its_way |= at[w] >= 0;
      }
    }
  }

  /// Checks what it follows: an om may be damaged, and a walk must end.
  std::int32_t next(std::int32_t node, const T* row) const {
    if (node >= nodes_) fail_model("a branch leads out of the trees");
    const auto feature = static_cast<std::uint32_t>(features_[node]);
    if (feature >= width_) fail_model("a node asks about a feature that no row has");
    const T x = row[feature], split = splits_[node];
    bool is_yes = x <= split;
    if (flags_ != nullptr) {
      if ((flags_[node] & reference::kAsksEqual) != 0) is_yes = x == split;
      if (x != x) is_yes = (flags_[node] & reference::kNanIsYes) != 0;
    }
    const std::int32_t to = branches_[2 * static_cast<std::int64_t>(node) + (is_yes ? 1 : 0)];
    if (to >= 0 && to <= node) fail_model("a branch leads back");
    return to;
  }

  void vote(std::int64_t leaf, std::int64_t row, std::int64_t tally,
            std::vector<std::uint8_t>& has_votes) const {
    if (leaf >= leaf_count_) fail_model("a branch leads to no leaf");
    for (std::int64_t v = leaves_[leaf]; v < leaves_[leaf + 1]; ++v) {
      if (v < 0 || v >= votes_ || targets_of_[v] < 0 || targets_of_[v] >= targets_)
        fail_model("a leaf votes for no target");
      T& y = y_[row * targets_ + targets_of_[v]];
      if (aggregate_ == Aggregate::kSum) {
        y += weights_[v];
        continue;
      }
      std::uint8_t& has = has_votes[static_cast<std::size_t>(tally + targets_of_[v])];
      y = has == 0                        ? weights_[v]
          : aggregate_ == Aggregate::kMin ? std::min(y, weights_[v])
                                          : std::max(y, weights_[v]);
      has = 1;
    }
  }

  const T* rows_;
  const std::uint32_t width_;
  const std::int32_t* roots_;
  const std::int64_t trees_;
  const std::int32_t* features_;
  const std::int32_t nodes_;
  const T* splits_;
  const std::int32_t* branches_;
  const std::int32_t* leaves_;
  const std::int64_t leaf_count_;
  const std::int32_t* targets_of_;
  const T* weights_;
  const std::int64_t votes_;
  const std::uint8_t* flags_;
  T* y_;
  const std::int64_t targets_;
  Aggregate aggregate_ = Aggregate::kSum;
  T share_ = 1;
};

struct RunTrees {
  template <typename T>
  void operator()(const Run& run) const {
    if (run.output(0).data == nullptr) return;
    const Trees<T> trees(run);
    run.threads.share(run.shape(reference::kTreeRows)[0], trees.nanoseconds(),
                      [&](std::int64_t begin, std::int64_t end) { trees.run(begin, end); });
  }
};

Result<void> takes_trees(const Question& question) {
  if (const auto rows =
          takes_types(question, reference::kTreeRows, {DataType::kFloat, DataType::kDouble});
      !rows)
    return rows;
  for (const std::size_t i :
       {reference::kTreeRoots, reference::kTreeFeatures, reference::kTreeBranches,
        reference::kTreeLeaves, reference::kTreeTargets})
    if (const auto ints = takes_types(question, i, {DataType::kInt32}); !ints) return ints;
  return takes_types(question, reference::kTreeFlags, {DataType::kUint8});
}

}  // namespace

void register_tree_ensemble(KernelRegistry& registry) {
  registry.add({.type = "TreeEnsemble",
                .supports = takes_trees,
                .run = by_type<reference::TypeList<float, double>>(RunTrees{})});
}

}  // namespace aoe::native
