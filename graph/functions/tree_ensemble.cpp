// TreeEnsembleClassifier, TreeEnsembleRegressor and TreeEnsemble of ai.onnx.ml: our operator TreeEnsemble, and behind it
// bases, transforms and labels.
#include <algorithm>
#include <map>
#include <set>

#include "graph/import/classical.h"
#include "graph/import/tree_nodes.h"
#include "reference/fail.h"
#include "reference/tensors/widen.h"

namespace aoe::graph {
namespace {

/// Attribute `name`, or, of float64, `name` + "_as_tensor".
std::vector<double> reals_of(const FunctionCall& call, const std::string& name) {
  ConstantPtr tensor = call.attrs().get_tensor(name + "_as_tensor");
  if (tensor) return reference::to_doubles(tensor->view());
  const std::vector<float> floats = call.attrs().get_floats(name);
  return {floats.begin(), floats.end()};
}

void require_size(std::size_t size, std::size_t wanted, const std::string& name) {
  if (size != wanted)
    reference::fail_model(name + " has " + std::to_string(size) + " elements, needs " +
                          std::to_string(wanted));
}

// ---- as versions 1 and 3 write them: nodes by the ids of tree and node ----

using NodeIds = std::map<std::pair<std::int64_t, std::int64_t>, std::size_t>;

std::size_t node_at(const NodeIds& ids, std::int64_t tree, std::int64_t node) {
  const auto found = ids.find({tree, node});
  if (found == ids.end())
    reference::fail_model("tree " + std::to_string(tree) + " has no node " + std::to_string(node));
  return found->second;
}

/// Votes are in attributes "class_..." or "target_...".
WrittenTrees trees_by_ids(const FunctionCall& call, const std::string& kind) {
  const auto ints = [&](const std::string& name) { return call.attrs().get_ints(name); };
  const auto trees = ints("nodes_treeids"), nodes = ints("nodes_nodeids"),
             features = ints("nodes_featureids"), yes = ints("nodes_truenodeids"),
             no = ints("nodes_falsenodeids"), nan = ints("nodes_missing_value_tracks_true");
  const std::vector<std::string> modes = call.attrs().get_strings("nodes_modes");
  const std::vector<double> splits = reals_of(call, "nodes_values");
  for (const auto& [size, name] : {std::pair(nodes.size(), "nodes_nodeids"),
                                   {features.size(), "nodes_featureids"},
                                   {yes.size(), "nodes_truenodeids"},
                                   {no.size(), "nodes_falsenodeids"},
                                   {modes.size(), "nodes_modes"},
                                   {splits.size(), "nodes_values"}})
    require_size(size, trees.size(), name);
  WrittenTrees written;
  NodeIds ids;
  for (std::size_t i = 0; i < trees.size(); ++i) {
    if (!ids.emplace(std::pair(trees[i], nodes[i]), i).second)
      reference::fail_model("tree " + std::to_string(trees[i]) + " has node " +
                            std::to_string(nodes[i]) + " twice");
    if (i == 0 || trees[i] != trees[i - 1]) written.roots.push_back(i);
  }
  for (std::size_t i = 0; i < trees.size(); ++i) {
    WrittenNode node{.is_leaf = modes[i] == "LEAF",
                     .mode = modes[i],
                     .feature = features[i],
                     .split = splits[i],
                     .nan_is_yes = i < nan.size() && nan[i] != 0};
    if (!node.is_leaf) {
      node.yes = node_at(ids, trees[i], yes[i]);
      node.no = node_at(ids, trees[i], no[i]);
    }
    written.nodes.push_back(node);
  }
  const auto of_trees = ints(kind + "_treeids"), of_nodes = ints(kind + "_nodeids"),
             targets = ints(kind + "_ids");
  const std::vector<double> weights = reals_of(call, kind + "_weights");
  require_size(of_nodes.size(), of_trees.size(), kind + "_nodeids");
  require_size(targets.size(), of_trees.size(), kind + "_ids");
  require_size(weights.size(), of_trees.size(), kind + "_weights");
  written.votes.resize(trees.size());
  for (std::size_t i = 0; i < targets.size(); ++i)
    written.votes[node_at(ids, of_trees[i], of_nodes[i])].push_back({targets[i], weights[i]});
  return written;
}

// ---- as version 5 writes them: nodes and leaves by their places in two lists ----

WrittenTrees trees_by_place(const FunctionCall& call) {
  const auto ints = [&](const std::string& name) { return call.attrs().get_ints(name); };
  const auto tensor = [&](const std::string& name) {
    const ConstantPtr given = call.attrs().get_tensor(name);
    return given ? reference::to_doubles(given->view()) : std::vector<double>{};
  };
  static const std::vector<std::string> kModes = {"BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE",
                                                  "BRANCH_GT",  "BRANCH_EQ", "BRANCH_NEQ"};
  const auto features = ints("nodes_featureids"), yes = ints("nodes_truenodeids"),
             no = ints("nodes_falsenodeids"), yes_leafs = ints("nodes_trueleafs"),
             no_leafs = ints("nodes_falseleafs"), nan = ints("nodes_missing_value_tracks_true"),
             targets = ints("leaf_targetids");
  const std::vector<double> splits = tensor("nodes_splits"), modes = tensor("nodes_modes"),
                            weights = tensor("leaf_weights");
  for (const auto& [size, name] : {std::pair(yes.size(), "nodes_truenodeids"),
                                   {no.size(), "nodes_falsenodeids"},
                                   {yes_leafs.size(), "nodes_trueleafs"},
                                   {no_leafs.size(), "nodes_falseleafs"},
                                   {splits.size(), "nodes_splits"},
                                   {modes.size(), "nodes_modes"}})
    require_size(size, features.size(), name);
  require_size(weights.size(), targets.size(), "leaf_weights");
  const auto at = [&](std::int64_t place, bool is_leaf) {
    const std::size_t count = is_leaf ? targets.size() : features.size();
    if (place < 0 || static_cast<std::size_t>(place) >= count)
      reference::fail_model("a branch leads to " + std::string(is_leaf ? "leaf " : "node ") +
                            std::to_string(place));
    return static_cast<std::size_t>(place);
  };
  WrittenTrees written;
  // A tree may lead to a leaf by two branches, so each branch has a leaf of its own, behind the nodes.
  std::vector<WrittenNode> leaves;
  written.votes.resize(features.size());
  const auto branch = [&](std::int64_t place, std::int64_t is_leaf) {
    if (is_leaf == 0) return at(place, false);
    const std::size_t leaf = at(place, true);
    leaves.push_back({.is_leaf = true});
    written.votes.push_back({{targets[leaf], weights[leaf]}});
    return features.size() + leaves.size() - 1;
  };
  for (std::size_t i = 0; i < features.size(); ++i) {
    const auto mode = static_cast<std::size_t>(modes[i]);
    if (mode >= kModes.size()) throw NotExpressible{"its nodes ask for members of sets"};
    WrittenNode node{.mode = kModes[mode],
                     .feature = features[i],
                     .split = splits[i],
                     .nan_is_yes = i < nan.size() && nan[i] != 0};
    node.yes = branch(yes[i], yes_leafs[i]);
    node.no = branch(no[i], no_leafs[i]);
    // How a tree that is a leaf is written.
    if (yes_leafs[i] != 0 && no_leafs[i] != 0 && yes[i] == no[i]) {
      node = {.is_leaf = true};
      written.votes[i] = written.votes.back();
    }
    written.nodes.push_back(node);
  }
  written.nodes.insert(written.nodes.end(), leaves.begin(), leaves.end());
  for (const std::int64_t root : ints("tree_roots")) written.roots.push_back(at(root, false));
  return written;
}

// ---- the operator ----

Term small_ints(FunctionCall& call, const std::vector<std::int64_t>& values, const Shape& shape,
                DataType dtype) {
  return call.cast(call.reshape(call.ints(values), shape), dtype);
}

/// [rows, targets], of the type of the features.
Term tallies(FunctionCall& call, const WrittenTrees& trees, std::int64_t targets,
             const std::string& aggregate) {
  for (const auto& votes : trees.votes)
    for (const Vote& vote : votes)
      if (vote.target < 0 || vote.target >= targets)
        reference::fail_model("a leaf votes for target " + std::to_string(vote.target) + " of " +
                              std::to_string(targets));
  Term rows = rows_of(call);
  const bool is_double = call.dtype(rows) == DataType::kDouble;
  const DataType dtype = is_double ? DataType::kDouble : DataType::kFloat;
  rows = call.cast(rows, dtype);
  const TreeArrays arrays = arrays_of(trees, is_double);
  const auto nodes = std::ssize(arrays.features), votes = std::ssize(arrays.targets);
  std::vector<Term> inputs = {
      rows,
      small_ints(call, arrays.roots, {std::ssize(arrays.roots)}, DataType::kInt32),
      small_ints(call, arrays.features, {nodes}, DataType::kInt32),
      call.reals(dtype, {nodes}, arrays.splits),
      small_ints(call, arrays.branches, {nodes, 2}, DataType::kInt32),
      small_ints(call, arrays.leaves, {std::ssize(arrays.leaves)}, DataType::kInt32),
      small_ints(call, arrays.targets, {votes}, DataType::kInt32),
      call.reals(dtype, {votes}, arrays.weights)};
  if (arrays.has_flags) inputs.push_back(small_ints(call, arrays.flags, {nodes}, DataType::kUint8));
  reference::Attrs attrs;
  attrs.set("aggregate", aggregate);
  attrs.set("features", arrays.least_features);
  attrs.set("targets", targets);
  return call.op("TreeEnsemble", inputs, attrs);
}

Term with_bases(FunctionCall& call, Term scores, const std::vector<double>& bases) {
  if (bases.empty()) return scores;
  return scores + call.reals(call.dtype(scores), {std::ssize(bases)}, bases);
}

void expand_tree_regressor(FunctionCall& call) {
  const std::int64_t targets = call.attrs().get_int("n_targets", 1);
  const std::vector<double> bases = reals_of(call, "base_values");
  if (bases.size() > 1)
    require_size(bases.size(), static_cast<std::size_t>(targets), "base_values");
  const Term scores = tallies(call, trees_by_ids(call, "target"), targets,
                              call.attrs().get_string("aggregate_function", "SUM"));
  const Term y = transformed(call, with_bases(call, scores, bases), targets);
  call.give(0, call.cast(y, DataType::kFloat));
}

/// Whether every row is sure to have votes for this target: every leaf of some tree has one.
bool always_votes(const WrittenTrees& trees, std::int64_t target) {
  std::size_t tree = 0;
  std::vector<bool> is_sure(trees.roots.size(), true);
  for (std::size_t i = 0; i < trees.nodes.size(); ++i) {
    while (tree + 1 < trees.roots.size() && trees.roots[tree + 1] <= i) ++tree;
    if (trees.nodes[i].is_leaf &&
        std::ranges::find(trees.votes[i], target, &Vote::target) == trees.votes[i].end())
      is_sure[tree] = false;
  }
  return std::ranges::find(is_sure, true) != is_sure.end();
}

/// Of many classes the best is the best among those that have votes; a score of zero stands for the others.
void require_votes_for_all(const WrittenTrees& trees, const Classes& classes, bool is_positive) {
  if (is_positive) return;
  for (std::int64_t target = 0; target < static_cast<std::int64_t>(classes.count()); ++target)
    if (!always_votes(trees, target))
      throw NotExpressible{"rows may have no votes for class " + std::to_string(target) +
                           ", and votes are negative"};
}

/// What the votes of a classifier's trees are like.
struct Votes {
  std::set<std::int64_t> targets;
  bool are_positive = true;

  explicit Votes(const WrittenTrees& trees) {
    for (const auto& votes : trees.votes)
      for (const Vote& vote : votes) {
        targets.insert(vote.target);
        are_positive &= vote.weight >= 0;
      }
  }
};

/// All votes are for one of two classes: a probability, or a margin where votes may be negative. Those for the first
/// class decide about the second; what the scores of both are is as ONNX Runtime has it.
void expand_one_score(FunctionCall& call, const Classes& classes, Term tallies, const Votes& votes,
                      const std::vector<double>& bases) {
  const std::int64_t voted = *votes.targets.begin();
  const bool is_second = voted == 1, has_both = bases.size() == 2;
  if (is_second && has_both)
    throw NotExpressible{"both classes have a base, and the second alone has votes"};
  Term score = call.slice(tallies, 1, voted, voted + 1);
  if (!bases.empty() && !is_second) score = with_bases(call, score, {bases.front()});
  if (call.wants(0)) call.give(0, label_above(call, classes, score, votes.are_positive ? 0.5 : 0));
  if (!call.wants(1)) return;
  const Term none = score * 0;
  const Term scores = is_second  ? transformed(call, call.concat({none, score}, 1), 2)
                      : has_both ? transformed(call, call.concat({score, none}, 1), 2)
                                 : both_scores(call, score, !votes.are_positive);
  call.give(1, call.cast(scores, DataType::kFloat));
}

void expand_tree_classifier(FunctionCall& call) {
  const Classes classes = classes_of(call, "classlabels_int64s", "classlabels_strings");
  if (classes.count() < 2) throw NotExpressible{"it has less than two classes"};
  const auto count = static_cast<std::int64_t>(classes.count());
  const WrittenTrees trees = trees_by_ids(call, "class");
  std::vector<double> bases = reals_of(call, "base_values");
  if (bases.size() > 1) require_size(bases.size(), classes.count(), "base_values");
  const Votes votes(trees);
  const Term tallied = tallies(call, trees, count, "SUM");
  if (count == 2 && votes.targets.size() == 1)
    return expand_one_score(call, classes, tallied, votes, bases);
  require_votes_for_all(trees, classes, votes.are_positive);
  if (!bases.empty()) bases.resize(classes.count());  // a single one is the first class's
  const Term scores = with_bases(call, tallied, bases);
  if (call.wants(0)) call.give(0, best_label(call, classes, scores));
  if (call.wants(1)) call.give(1, call.cast(transformed(call, scores, count), DataType::kFloat));
}

void expand_trees(FunctionCall& call) {
  static const std::vector<std::string> kAggregates = {"AVERAGE", "SUM", "MIN", "MAX"};
  if (call.attrs().get_int("post_transform", 0) != 0)
    throw NotExpressible{"it has a post_transform"};
  const auto aggregate = static_cast<std::size_t>(call.attrs().get_int("aggregate_function", 1));
  if (aggregate >= kAggregates.size())
    reference::fail_model("aggregate_function " + std::to_string(aggregate));
  call.give(0, tallies(call, trees_by_place(call), call.attrs().get_int("n_targets", 1),
                       kAggregates[aggregate]));
}

}  // namespace

void register_tree_ensemble(FunctionRegistry& registry) {
  registry.add({kClassical, "TreeEnsembleClassifier", expand_tree_classifier});
  registry.add({kClassical, "TreeEnsembleRegressor", expand_tree_regressor});
  registry.add({kClassical, "TreeEnsemble", expand_trees});
}

}  // namespace aoe::graph
