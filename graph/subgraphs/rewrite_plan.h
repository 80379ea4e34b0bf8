// Rewrites of subgraphs, and plans made of them: what subgraph tuning searches and the graph bank
// stores. One file per kind in graph/rewrites/, with `void register_<file stem>(RewriteRegistry&)`;
// adding one touches no other file.
//
// Unlike a pass, a rewrite is no gain by itself: whether it pays is measured. It keeps the meaning
// of the graph up to rounding, like a pass.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <type_traits>
#include <vector>

#include "base/result.h"
#include "graph/graph.h"
#include "graph/hardware.h"

namespace aoe::graph {

using RewriteParams = std::map<std::string, std::int64_t>;

/// Where a kind applies, with which parameters. The order of `nodes` is the kind's own.
struct Place {
  std::vector<NodeId> nodes;
  std::vector<RewriteParams> choices = {{}};  ///< parameters worth a try, the best guess first
  /// A guess of the share of these nodes' time that goes away; decides where to search first. 0:
  /// legal, but not worth a measurement.
  double expected_share = 0.05;
};

/// All places of a kind in a graph. A kind does not look at names, and asks the hardware only what is worth a try.
class FindPlaces {
 public:
  template <typename Find>
  FindPlaces(Find find)  // NOLINT(google-explicit-constructor): a function in a table's row
      : find_([find](const Graph& graph, const Hardware& hardware) {
          if constexpr (std::is_invocable_v<Find, const Graph&>)
            return find(graph);
          else
            return find(graph, hardware);
        }) {}
  std::vector<Place> operator()(const Graph& graph, const Hardware& hardware = {}) const {
    return find_(graph, hardware);
  }

 private:
  std::function<std::vector<Place>(const Graph&, const Hardware&)> find_;
};

struct Rewrite {
  std::string kind;
  /// Raise it when apply() would give another graph: stored plans of older versions then miss.
  int version = 1;
  FindPlaces find;
  /// In place; "no", with nothing changed, when the nodes are not what the kind expects. Values that
  /// are there keep their descriptions and constants.
  std::function<Result<void>(Graph&, const std::vector<NodeId>&, const RewriteParams&)> apply;
  /// Kinds that may find more among what this one makes of its best guess: each is a kind "<this>+<that>" as well.
  std::vector<std::string> then = {};
};

class RewriteRegistry {
 public:
  void add(Rewrite rewrite) { rewrites_.push_back(std::move(rewrite)); }
  const Rewrite* find(const std::string& kind) const;
  const std::vector<Rewrite>& all() const { return rewrites_; }

 private:
  std::vector<Rewrite> rewrites_;
};

const RewriteRegistry& rewrites();

struct PlanStep {
  std::string kind;
  int version = 0;
  std::vector<int> nodes;  ///< canonical ids: places in CanonicalForm::order
  RewriteParams params;
  bool operator==(const PlanStep&) const = default;
};

/// Steps touch different nodes, so their order does not matter.
struct RewritePlan {
  std::vector<PlanStep> steps;
  bool operator==(const RewritePlan&) const = default;
  bool is_disjoint() const;
};

inline constexpr int kPlanSchema = 1;
nlohmann::json to_json(const RewritePlan& plan);
/// "No": a newer schema, or not a plan.
Result<RewritePlan> plan_from_json(const nlohmann::json& json);

/// The rewrite of a step; "no" when it is gone or has another version.
Result<const Rewrite*> rewrite_of(const PlanStep& step);

/// "horizontal_fusion[0 2 3]": for logs and tables.
std::string to_text(const RewritePlan& plan);

/// Applies a plan to the nodes of a canonical order. "No", with the graph unchanged, when this
/// program has another version of a kind, or the nodes refuse it.
Result<void> apply_plan(Graph& graph, const std::vector<NodeId>& order, const RewritePlan& plan);

}  // namespace aoe::graph
