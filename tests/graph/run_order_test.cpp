// The order of nodes and groups: groups stay together where that is possible.
#include "graph/run_order.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

#include "graph/rewrite_plan.h"
#include "tests/graph/model_text.h"
#include "tests/graph/random_blocks.h"

namespace aoe::tests {
namespace {

using graph::Graph;
using graph::NodeId;

/// Nodes 0 to 4: a; b and c read a; d joins them; e reads c.
Graph diamond() {
  return import_text(R"(g (float[1,4] x) => (float[1,4] d, float[1,4] e) {
    a = Relu (x)
    b = Sigmoid (a)
    c = Tanh (a)
    d = Add (b, c)
    e = Neg (c)
  })");
}

using Units = std::vector<std::vector<NodeId>>;

Units order_of(Graph graph, const std::vector<int>& groups) {
  for (std::size_t i = 0; i < groups.size(); ++i) graph.nodes[i].group.id = groups[i];
  return graph::run_order(graph);
}

TEST(RunOrder, KeepsGroupsTogether) {
  EXPECT_EQ(order_of(diamond(), {}), (Units{{0}, {1}, {2}, {3}, {4}}));
  EXPECT_EQ(order_of(diamond(), {0, 7, 7}), (Units{{0}, {1, 2}, {3}, {4}}));
  EXPECT_EQ(order_of(diamond(), {0, 7, 7, 8, 8}), (Units{{0}, {1, 2}, {3, 4}}));
  EXPECT_EQ(order_of(diamond(), {0, 3, 0, 0, 3}), (Units{{0}, {2}, {1, 4}, {3}}));
}

TEST(RunOrder, DissolvesGroupsWhoseNodesNeedEachOther) {
  // Whatever else is ready runs before a group is given up.
  EXPECT_EQ(order_of(diamond(), {0, 5, 0, 5}), (Units{{0}, {2}, {4}, {1}, {3}}));
  // Each of the two groups waits for a node of the other.
  const Graph crossed = import_text(R"(g (float[1,4] x) => (float[1,4] c, float[1,4] d) {
    a = Relu (x)
    b = Sigmoid (x)
    c = Neg (b)
    d = Tanh (a)
  })");
  EXPECT_EQ(order_of(crossed, {1, 2, 1, 2}), (Units{{0}, {1, 3}, {2}}));
}

TEST(RunOrder, IsTopologicalWhateverTheGroups) {
  for (std::uint32_t seed = 1; seed <= 300; ++seed) {
    std::mt19937 random(seed);
    Graph graph = random_blocks(seed, 4);
    for (graph::Node& node : graph.nodes) node.group.id = static_cast<int>(random() % 4);
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + graph.to_text());
    std::set<NodeId> done;
    for (const std::vector<NodeId>& unit : graph::run_order(graph)) {
      ASSERT_FALSE(unit.empty());
      for (const NodeId id : unit) {
        EXPECT_TRUE(unit.size() == 1 ||
                    (graph.nodes[id].group.id != 0 &&
                     graph.nodes[id].group.id == graph.nodes[unit.front()].group.id));
        for (const graph::ValueId input : graph.nodes[id].inputs) {
          const NodeId producer =
              input == graph::kNone ? graph::kNone : graph.values[input].producer;
          ASSERT_TRUE(producer == graph::kNone || done.contains(producer));
        }
      }
      done.insert(unit.begin(), unit.end());
    }
    EXPECT_EQ(done.size(), graph.topological_order().size());
  }
}

/// The groups that the rewrite proposes, as names.
std::set<std::set<std::string>> proposals(const Graph& graph) {
  std::set<std::set<std::string>> groups;
  const graph::Rewrite* kind = graph::rewrites().find("run_side_by_side");
  for (const graph::Place& place : kind->find(graph)) {
    std::set<std::string> names;
    for (const NodeId id : place.nodes) names.insert(graph.values[graph.nodes[id].outputs[0]].name);
    groups.insert(names);
  }
  return groups;
}

TEST(RunSideBySide, FindsLevelsOfBranchesAndWhatOneNodeJoins) {
  const Graph module = import_text(R"(g (float[1,4,8,8] x) => (float[1,12,8,8] y)
      <float[4,4,1,1] w1, float[4,4,3,3] w3> {
    a = Conv (x, w1)
    b0 = Conv (x, w1)
    b = Conv <pads = [1,1,1,1]> (b0, w3)
    c0 = Conv (x, w1)
    c = Conv <pads = [1,1,1,1]> (c0, w3)
    y = Concat <axis = 1> (a, b, c)
  })");
  EXPECT_EQ(proposals(module),
            (std::set<std::set<std::string>>{{"a", "b0", "c0"}, {"b", "c"}, {"a", "b", "c"}}));
  // A residual is read by nodes that need each other: nothing to run beside.
  EXPECT_TRUE(proposals(import_text(R"(g (float[1,4] x) => (float[1,4] y) {
    a = Relu (x)
    y = Add (a, x)
  })"))
                  .empty());
}

TEST(RunSideBySide, RefusesNodesThatNeedEachOther) {
  Graph graph = diamond();
  const graph::Rewrite* kind = graph::rewrites().find("run_side_by_side");
  for (const std::vector<NodeId>& nodes :
       std::vector<std::vector<NodeId>>{{1}, {1, 1}, {0, 4}, {1, 3}, {1, 2, 4}})
    EXPECT_FALSE(kind->apply(graph, nodes, {}));
  for (const graph::Node& node : graph.nodes) EXPECT_EQ(node.group.id, 0);
  ASSERT_TRUE(kind->apply(graph, {1, 2}, {{"one_list", 1}}));
  EXPECT_EQ(graph.nodes[1].group.id, graph.nodes[2].group.id);
  EXPECT_TRUE(graph.nodes[1].group.is_one_list);
  ASSERT_TRUE(kind->apply(graph, {3, 4}, {}));
  EXPECT_NE(graph.nodes[1].group.id, graph.nodes[3].group.id);
  EXPECT_FALSE(kind->apply(graph, {1, 2}, {}));  // they are in a group already
}

}  // namespace
}  // namespace aoe::tests
