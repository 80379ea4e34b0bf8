// See composed_rewrite.h.
#include "graph/composed_rewrite.h"

#include <numeric>
#include <set>

#include "base/check.h"
#include "graph/subgraph.h"

namespace aoe::graph {

const Rewrite& rewrite_named(const std::string& kind) {
  const Rewrite* found = rewrites().find(kind);
  AOE_CHECK(found != nullptr, "there is no rewrite " + kind);
  return *found;
}

Result<void> check_steps(const Graph& graph, const std::vector<NodeId>& nodes,
                         const RewriteSteps& steps) {
  if (std::set<NodeId>(nodes.begin(), nodes.end()).size() != nodes.size())
    return Unexpected("names a node twice");
  Graph part = extract(graph, subgraph_of(graph, nodes));
  std::vector<NodeId> own(nodes.size());
  std::iota(own.begin(), own.end(), NodeId{0});
  return steps(part, own);
}

Result<void> apply_steps(Graph& graph, const std::vector<NodeId>& nodes,
                         const RewriteSteps& steps) {
  if (auto checked = check_steps(graph, nodes, steps); !checked) return checked;
  return steps(graph, nodes);
}

}  // namespace aoe::graph
