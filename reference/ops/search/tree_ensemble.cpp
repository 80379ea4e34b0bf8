// TreeEnsemble: every tree leads a row to a leaf, whose votes add up (or whose least, or largest, counts) by target. What
// the trees of ai.onnx.ml become: nodes as tensors (reference/trees.h), bases and transforms as operators behind it.
#include <algorithm>
#include <cmath>

#include "reference/fail.h"
#include "reference/op.h"
#include "reference/tensors/widen.h"
#include "reference/trees.h"

namespace aoe::reference {
namespace {

void require_features(const Attrs& attrs, std::int64_t features) {
  const std::int64_t needed = attrs.get_int("features", 0);
  if (features < needed)
    fail_model("rows have " + std::to_string(features) + " features, the trees ask about " +
               std::to_string(needed));
}

std::vector<TensorDesc> infer_trees(const InferContext& context) {
  const Shape& rows = context.shape(kTreeRows);
  if (rows[1] >= 0) require_features(context.attrs, rows[1]);
  return {
      {.dtype = context.dtype(kTreeRows), .shape = {rows[0], context.attrs.get_int("targets", 1)}}};
}

struct Trees {
  std::vector<std::int64_t> roots, features, branches, leaves, targets, flags;
  std::vector<double> splits, weights;

  explicit Trees(const OpContext& context)
      : roots(to_int64s(context.inputs[kTreeRoots])),
        features(to_int64s(context.inputs[kTreeFeatures])),
        branches(to_int64s(context.inputs[kTreeBranches])),
        leaves(to_int64s(context.inputs[kTreeLeaves])),
        targets(to_int64s(context.inputs[kTreeTargets])),
        flags(context.has_input(kTreeFlags) ? to_int64s(context.inputs[kTreeFlags])
                                            : std::vector<std::int64_t>(features.size())),
        splits(to_doubles(context.inputs[kTreeSplits])),
        weights(to_doubles(context.inputs[kTreeWeights])) {
    if (splits.size() != features.size() || flags.size() != features.size() ||
        branches.size() != 2 * features.size() || weights.size() != targets.size() ||
        leaves.empty())
      fail_model("the nodes of the trees are not all there");
  }

  bool says_yes(std::size_t node, double feature) const {
    if (std::isnan(feature)) return (flags[node] & kNanIsYes) != 0;
    return (flags[node] & kAsksEqual) != 0 ? feature == splits[node] : feature <= splits[node];
  }

  /// Of the tree with this root.
  std::size_t leaf_of(std::int64_t root, std::span<const double> row) const {
    std::int64_t at = root;
    while (at >= 0) {
      const auto node = static_cast<std::size_t>(at);
      if (node >= features.size()) fail_model("a branch leads out of the trees");
      const auto feature = static_cast<std::size_t>(features[node]);
      if (feature >= row.size()) fail_model("a node asks about a feature that no row has");
      const std::int64_t next = branches[2 * node + (says_yes(node, row[feature]) ? 1 : 0)];
      if (next >= 0 && next <= at) fail_model("a branch leads back");
      at = next;
    }
    const auto leaf = static_cast<std::size_t>(~at);
    if (leaf + 1 >= leaves.size()) fail_model("a branch leads to no leaf");
    return leaf;
  }
};

/// What the votes for a target come to.
struct Tally {
  double value = 0;
  bool has_votes = false;

  void add(double vote, const std::string& aggregate) {
    if (!has_votes || (aggregate != "MIN" && aggregate != "MAX"))
      value += vote;
    else
      value = aggregate == "MIN" ? std::min(value, vote) : std::max(value, vote);
    has_votes = true;
  }
};

void compute_trees(const OpContext& context) {
  const Trees trees(context);
  const Shape& shape = context.inputs[kTreeRows].desc.shape;
  require_features(context.attrs, shape[1]);
  const auto rows = to_doubles(context.inputs[kTreeRows]);
  const auto width = static_cast<std::size_t>(shape[1]),
             targets = static_cast<std::size_t>(context.attrs.get_int("targets", 1));
  const std::string aggregate = context.attrs.get_string("aggregate", "SUM");
  std::vector<double> y;
  for (std::int64_t r = 0; r < shape[0]; ++r) {
    const auto row = std::span(rows).subspan(static_cast<std::size_t>(r) * width, width);
    std::vector<Tally> tallies(targets);
    for (const std::int64_t root : trees.roots) {
      const std::size_t leaf = trees.leaf_of(root, row);
      for (std::int64_t v = trees.leaves[leaf]; v < trees.leaves[leaf + 1]; ++v) {
        const auto vote = static_cast<std::size_t>(v);
        if (vote >= trees.targets.size() ||
            static_cast<std::size_t>(trees.targets[vote]) >= targets)
          fail_model("a leaf votes for no target");
        tallies[static_cast<std::size_t>(trees.targets[vote])].add(trees.weights[vote], aggregate);
      }
    }
    const double share = aggregate == "AVERAGE" ? static_cast<double>(trees.roots.size()) : 1;
    for (const Tally& tally : tallies) y.push_back(tally.value / share);
  }
  from_doubles(y, context.outputs[0]);
}

/// Trees that are balanced, for want of their depths.
double steps_of(const CostContext& cost) {
  const double trees = std::max(cost.input_elements(kTreeRoots), 1.0),
               depth = std::log2(cost.input_elements(kTreeFeatures) / trees + 2);
  const auto rows = static_cast<double>(cost.inputs[kTreeRows].shape[0]);
  return rows * trees * (depth + 1);
}

}  // namespace

void register_tree_ensemble(OpRegistry& registry) {
  registry.add({.type = "TreeEnsemble",
                .onnx_type = "",
                .signature = {"f1:2 x:1 x:1 f1:1 x:2 x:1 x:1 f1:1 u?:1",
                              "aggregate=SUM|AVERAGE|MIN|MAX !features=0.. !targets=1.."},
                .kind = OpKind::kSearch,
                .infer = infer_trees,
                .compute = compute_trees,
                .flops = steps_of,
                .work = steps_of,
                .first_parameter = kTreeRoots,
                .min_inputs = kTreeWeights + 1});
}

}  // namespace aoe::reference
