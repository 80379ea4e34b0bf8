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

TEST(Graph, KnowsReadersBehindEveryChange) {
  Graph graph = chain();
  const ValueId x = 0, a = 1, b = 2;
  graph.edit(2)->inputs[0] = a;
  EXPECT_EQ(graph.consumers(a), (std::vector<NodeId>{1, 2}));
  EXPECT_TRUE(graph.consumers(b).empty());
  graph.edit(2)->inputs = {x, x, kNone, a};
  EXPECT_EQ(graph.consumers(x), (std::vector<NodeId>{0, 2}));
  graph.replace_uses(a, x);
  EXPECT_TRUE(graph.consumers(a).empty());
  EXPECT_EQ(graph.consumers(x), (std::vector<NodeId>{0, 1, 2}));
  graph.remove_node(1);
  EXPECT_EQ(graph.consumers(x), (std::vector<NodeId>{0, 2}));
  graph.compact();
  EXPECT_EQ(graph.consumers(0), (std::vector<NodeId>{0, 1}));
}

TEST(Graph, GivesNamesThatNoValueHas) {
  Graph graph = chain();
  EXPECT_EQ(graph.unused_name("new"), "new");
  EXPECT_EQ(graph.unused_name("a"), "a_2");
  graph.add_value("a_3", kDesc);
  graph.add_value(graph.unused_name("a"), kDesc);  // a_2 was only asked for
  EXPECT_EQ(graph.values.back().name, "a_4");
  graph.rename(1, "other");
  EXPECT_EQ(graph.unused_name("a"), "a");
  EXPECT_EQ(graph.unused_name("other"), "other_2");
}

TEST(Graph, TakesChangesBack) {
  const Graph before = chain();
  Graph graph = before;
  graph.begin_changes();
  const ValueId b = 2;
  const ValueId added = graph.add_value("added", kDesc);
  add_relu(graph, "more", b, added);
  graph.remove_node(1);
  graph.edit(2)->inputs[0] = added;
  graph.edit(0)->op = call_of("Neg");
  graph.replace_uses(graph.outputs[0], added);
  EXPECT_EQ(graph.changed_nodes(), (std::vector<NodeId>{0, 1, 2, 3}));
  graph.take_back_changes();
  EXPECT_EQ(graph.to_text(), before.to_text());
  for (ValueId value = 0; value < 3; ++value) {
    EXPECT_EQ(graph.consumers(value), before.consumers(value));
    EXPECT_EQ(graph.values[value].producer, before.values[value].producer);
  }
  EXPECT_EQ(graph.values.size(), before.values.size());
  EXPECT_EQ(graph.nodes.size(), before.nodes.size());
  EXPECT_EQ(graph.unused_name("added"), "added");
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
