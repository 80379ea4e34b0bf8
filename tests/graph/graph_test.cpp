// Graph: wiring, ordering, compaction.
#include "graph/graph.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "graph/passes.h"
#include "graph/rewrite.h"

namespace aoe::graph {
namespace {

const TensorDesc kDesc{.dtype = DataType::kFloat, .shape = {2}};

NodeId add_relu(Graph& graph, const std::string& name, ValueId input, ValueId output) {
  return graph.add_node({.name = name,
                         .op = call_of("Relu"),
                         .inputs = {input},
                         .outputs = {output},
                         .origins = {name}});
}

/// x -> a -> b -> c, every value named like its producer.
Graph chain() {
  Graph graph;
  graph.inputs = {graph.add_value("x", kDesc)};
  ValueId last = graph.inputs[0];
  for (const char* name : {"a", "b", "c"}) {
    const ValueId next = graph.add_value(name, kDesc);
    add_relu(graph, name, last, next);
    last = next;
  }
  graph.outputs = {last};
  return graph;
}

TEST(Graph, OrdersProducersBeforeConsumers) {
  Graph graph;
  graph.inputs = {graph.add_value("x", kDesc)};
  const ValueId middle = graph.add_value("middle", kDesc), last = graph.add_value("last", kDesc);
  add_relu(graph, "second", middle, last);
  add_relu(graph, "first", graph.inputs[0], middle);
  EXPECT_EQ(graph.topological_order(), (std::vector<NodeId>{1, 0}));
}

TEST(Graph, NamesANodeOfACycle) {
  Graph graph;
  const ValueId a = graph.add_value("a", kDesc), b = graph.add_value("b", kDesc);
  add_relu(graph, "there", a, b);
  add_relu(graph, "back", b, a);
  try {
    graph.topological_order();
    FAIL() << "a cycle has an order";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::kModel);
    EXPECT_EQ(error.where(), "node there");
  }
}

TEST(Graph, ListsEachConsumerOnce) {
  Graph graph;
  const ValueId x = graph.add_value("x", kDesc), y = graph.add_value("y", kDesc);
  graph.add_node({.name = "square", .op = call_of("Mul"), .inputs = {x, x}, .outputs = {y}});
  EXPECT_EQ(graph.consumers(x), (std::vector<NodeId>{0}));
  EXPECT_TRUE(graph.consumers(y).empty());
}

TEST(Graph, ReplacesUsesInOutputsToo) {
  Graph graph = chain();
  graph.replace_uses(graph.outputs[0], graph.inputs[0]);
  EXPECT_EQ(graph.outputs, graph.inputs);
}

TEST(Graph, CompactDropsDeadNodesAndKeepsTheRest) {
  Graph graph = chain();
  const ValueId b = 2, a = 1;
  graph.remove_node(1);
  graph.replace_uses(b, a);
  graph.compact();
  EXPECT_EQ(graph.nodes.size(), 2u);
  EXPECT_EQ(graph.values.size(), 3u);
  EXPECT_EQ(graph.to_text(),
            "graph \ninput x: float32 2\na: Relu(x) -> a: float32 2\nc: Relu(a) -> c: float32 "
            "2\noutput c\n");
}

TEST(Graph, BypassLetsTheProducerTakeOverTheOutputsName) {
  Graph graph = chain();
  ASSERT_TRUE(bypass(graph, 2, graph.nodes[2].inputs[0]));
  graph.compact();
  EXPECT_EQ(graph.values[graph.outputs[0]].name, "c");
  EXPECT_EQ(graph.nodes[graph.values[graph.outputs[0]].producer].name, "b");
}

TEST(Graph, BypassRefusesToGiveAnInputOut) {
  Graph graph;
  graph.inputs = {graph.add_value("x", kDesc)};
  graph.outputs = {graph.add_value("y", kDesc)};
  add_relu(graph, "only", graph.inputs[0], graph.outputs[0]);
  EXPECT_FALSE(bypass(graph, 0, graph.inputs[0]));
  EXPECT_FALSE(graph.nodes[0].is_dead);
}

TEST(Graph, UnknownRankIsNoOrdinaryShape) {
  EXPECT_FALSE(has_known_rank({.shape = kUnknownRankShape}));
  EXPECT_TRUE(has_known_rank({.shape = {kUnknownDim}}));
  EXPECT_TRUE(has_known_rank({.shape = {}}));
  EXPECT_FALSE(is_static(kUnknownRankShape));
}

}  // namespace
}  // namespace aoe::graph
