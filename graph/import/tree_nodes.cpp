#include "graph/import/tree_nodes.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "graph/import/function_call.h"
#include "reference/fail.h"
#include "reference/trees.h"

namespace aoe::graph {
namespace {

/// Of the numbers that a feature can be, the next below.
double before(double split, bool is_double) {
  if (is_double) return std::nextafter(split, -std::numeric_limits<double>::infinity());
  return std::nextafter(static_cast<float>(split), -std::numeric_limits<float>::infinity());
}

/// A question, as one of those that TreeEnsemble knows.
struct SplitQuestion {
  double split = 0;
  std::int64_t flags = 0;
  bool is_turned = false;  ///< what was "yes" is "no"
};

SplitQuestion split_question(const WrittenNode& node, bool is_double) {
  SplitQuestion question{.split = node.split};
  if (node.mode == "BRANCH_LT" || node.mode == "BRANCH_GTE")
    question.split = before(node.split, is_double);
  else if (node.mode == "BRANCH_EQ" || node.mode == "BRANCH_NEQ")
    question.flags = reference::kAsksEqual;
  else if (node.mode != "BRANCH_LEQ" && node.mode != "BRANCH_GT")
    throw NotExpressible{"its nodes compare by " + node.mode};
  question.is_turned =
      node.mode == "BRANCH_GTE" || node.mode == "BRANCH_GT" || node.mode == "BRANCH_NEQ";
  // NaN answers every comparison with no, but for "is it another": unless it is said to go with yes.
  const bool nan_is_yes = node.nan_is_yes || node.mode == "BRANCH_NEQ";
  if (nan_is_yes != question.is_turned) question.flags |= reference::kNanIsYes;
  return question;
}

class Layout {
 public:
  Layout(const WrittenTrees& trees, bool is_double)
      : trees_(trees), is_double_(is_double), places_(trees.nodes.size(), kNowhere) {}

  TreeArrays lay() {
    arrays_.leaves = {0};
    for (const std::size_t root : trees_.roots) lay_tree(root);
    return std::move(arrays_);
  }

 private:
  static constexpr std::int64_t kNowhere = std::numeric_limits<std::int64_t>::min();

  /// A node gets its place when it is met; its parent has one already, where that place is then written.
  void lay_tree(std::size_t root) {
    struct Open {
      std::size_t node;
      std::int64_t from;  ///< in branches; -1: a root
    };
    std::vector<Open> open = {{root, -1}};
    while (!open.empty()) {
      const Open next = open.back();
      open.pop_back();
      const std::int64_t place = place_of(next.node);
      if (next.from < 0)
        arrays_.roots.push_back(place);
      else
        arrays_.branches[static_cast<std::size_t>(next.from)] = place;
      const WrittenNode& node = trees_.nodes[next.node];
      if (node.is_leaf) continue;
      const bool is_turned = split_question(node, is_double_).is_turned;
      open.push_back({is_turned ? node.yes : node.no, 2 * place});
      open.push_back({is_turned ? node.no : node.yes, 2 * place + 1});
    }
  }

  std::int64_t place_of(std::size_t at) {
    if (places_[at] != kNowhere) reference::fail_model("a node is reached by two branches");
    const WrittenNode& node = trees_.nodes[at];
    return places_[at] = node.is_leaf ? ~leaf(at) : inner(node);
  }

  std::int64_t leaf(std::size_t at) {
    for (const Vote& vote : trees_.votes[at]) {
      arrays_.targets.push_back(vote.target);
      arrays_.weights.push_back(vote.weight);
    }
    arrays_.leaves.push_back(std::ssize(arrays_.targets));
    return std::ssize(arrays_.leaves) - 2;
  }

  std::int64_t inner(const WrittenNode& node) {
    const SplitQuestion question = split_question(node, is_double_);
    constexpr std::int64_t kMostFeatures = std::numeric_limits<std::int32_t>::max();
    if (node.feature < 0 || node.feature >= kMostFeatures)
      reference::fail_model("a node asks about feature " + std::to_string(node.feature));
    arrays_.features.push_back(node.feature);
    arrays_.splits.push_back(question.split);
    arrays_.flags.push_back(question.flags);
    arrays_.has_flags |= question.flags != 0;
    arrays_.branches.resize(arrays_.branches.size() + 2);
    arrays_.least_features = std::max(arrays_.least_features, node.feature + 1);
    return std::ssize(arrays_.features) - 1;
  }

  const WrittenTrees& trees_;
  const bool is_double_;
  std::vector<std::int64_t> places_;
  TreeArrays arrays_;
};

}  // namespace

TreeArrays arrays_of(const WrittenTrees& trees, bool is_double) {
  return Layout(trees, is_double).lay();
}

}  // namespace aoe::graph
