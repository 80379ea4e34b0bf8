// The nodes of decision trees as tensors, as operator TreeEnsemble reads them. A node asks whether a feature is at most
// its split; a tree is where its root says. What other comparisons ask is brought to this when a model is imported.
#pragma once

#include <cstdint>

namespace aoe::reference {

/// Inputs of TreeEnsemble.
enum TreeInput : std::size_t {
  kTreeRows,      ///< [rows, features], of floating point
  kTreeRoots,     ///< [trees]: a node, or ~leaf of a tree that is no more than a leaf
  kTreeFeatures,  ///< [nodes]: which feature a node asks about
  kTreeSplits,    ///< [nodes], of the type of the rows
  kTreeBranches,  ///< [nodes, 2]: where "no" and "yes" lead: to a later node, or ~leaf
  kTreeLeaves,    ///< [leaves + 1]: where the votes of each leaf begin, in the two that follow
  kTreeTargets,   ///< [votes]: the column of the result that a vote is for
  kTreeWeights,   ///< [votes], of the type of the rows
  kTreeFlags,     ///< [nodes], may be absent: TreeFlag
};

enum TreeFlag : std::uint8_t {
  kNanIsYes = 1,   ///< a feature that is NaN leads where "yes" does; else where "no" does
  kAsksEqual = 2,  ///< whether the feature is the split itself
};

}  // namespace aoe::reference
