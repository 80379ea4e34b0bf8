// Decision trees as models write them, and as operator TreeEnsemble reads them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace aoe::graph {

/// One node of a model's trees: a question with two branches, or a leaf. Nodes are known by their place in a list.
struct WrittenNode {
  bool is_leaf = false;
  std::string mode;  ///< "BRANCH_LEQ", ...
  std::int64_t feature = 0;
  double split = 0;
  bool nan_is_yes = false;
  std::size_t yes = 0, no = 0;
};

struct Vote {
  std::int64_t target = 0;
  double weight = 0;
};

struct WrittenTrees {
  std::vector<WrittenNode> nodes;
  std::vector<std::vector<Vote>> votes;  ///< of each node that is a leaf
  std::vector<std::size_t> roots;
};

/// The inputs of TreeEnsemble behind the rows; see reference/trees.h.
struct TreeArrays {
  std::vector<std::int64_t> roots, features, branches, leaves, targets, flags;
  std::vector<double> splits, weights;
  std::int64_t least_features = 0;  ///< so many the rows need
  bool has_flags = false;
};

/// Nodes in an order in which branches lead forward. `is_double`: what splits are compared with, else float32. Throws
/// Error(kModel) where trees are none, NotExpressible where a comparison is unknown.
TreeArrays arrays_of(const WrittenTrees& trees, bool is_double);

}  // namespace aoe::graph
