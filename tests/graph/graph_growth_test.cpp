// Work on a graph grows as the graph does: twice the nodes are looked at twice as often, by the passes, by
// what finds rewrites and by what applies them.
#include <gtest/gtest.h>

#include "graph/passes.h"
#include "graph/subgraph.h"
#include "graph/subgraphs/atoms.h"
#include "graph/subgraphs/canonical_form.h"
#include "graph/subgraphs/rewrite_plan.h"
#include "graph/verify.h"
#include "tests/graph/large_models.h"
#include "tests/graph/model_text.h"

namespace aoe::tests {
namespace {

using graph::Graph;
using graph::NodeId;
using Work = std::map<std::string, double>;  ///< by stage: nodes looked at

class Growth : public testing::TestWithParam<std::string> {};

/// Applies a plan of one step at every place of the kind that is still there, as subgraphs of a model are.
void apply_everywhere(Graph& graph, const graph::Rewrite& rewrite,
                      const std::vector<graph::Place>& places) {
  for (const graph::Place& place : places) {
    graph::RewritePlan plan{{{rewrite.kind, rewrite.version, {}, place.choices.front()}}};
    for (std::size_t i = 0; i < place.nodes.size(); ++i)
      plan.steps[0].nodes.push_back(static_cast<int>(i));
    (void)graph::apply_plan(graph, place.nodes, plan);  // refused where another one has been
  }
}

/// All stages between reading a model and compiling it.
Work work_on(Graph graph) {
  Work work;
  const auto count = [&](const std::string& stage, const Graph& of, auto&& run) {
    const std::uint64_t before = of.nodes.visits();
    run();
    work[stage] += static_cast<double>(of.nodes.visits() - before);
  };
  for (const graph::Pass& pass : graph::passes())
    count("pass " + pass.name, graph, [&] { pass.run(graph); });
  graph.compact();
  count("verify", graph, [&] { graph::verify(graph, "the test"); });
  count("subgraphs", graph, [&] {
    for (const std::vector<NodeId>& atom : graph::atoms_of(graph))
      graph::canonical_form(graph, graph::subgraph_of(graph, atom));
  });
  for (const graph::Rewrite& rewrite : graph::rewrites().all()) {
    std::vector<graph::Place> places;
    count("find " + rewrite.kind, graph, [&] { places = rewrite.find(graph); });
    Graph rewritten = graph;
    count("apply " + rewrite.kind, rewritten,
          [&] { apply_everywhere(rewritten, rewrite, places); });
  }
  return work;
}

TEST_P(Growth, IsThatOfTheGraph) {
  constexpr std::size_t kNodes = 1500;
  const Work once = work_on(import_bytes(large_model(GetParam(), kNodes)));
  const Work twice = work_on(import_bytes(large_model(GetParam(), 2 * kNodes)));
  double total = 0;
  for (const auto& [stage, visits] : once) {
    // Sorting and walks up trees take a logarithm more.
    EXPECT_LT(twice.at(stage), 2.3 * visits + 1000) << stage << " looks at " << visits;
    total += visits;
  }
  EXPECT_GT(total, 20.0 * kNodes) << "nothing is counted";
}

INSTANTIATE_TEST_SUITE_P(Forms, Growth, testing::ValuesIn(large_model_forms()),
                         [](const auto& form) { return form.param; });

}  // namespace
}  // namespace aoe::tests
