// The canonical form: what may change without changing it, and what may not; atoms and the choice
// of rows of them.
#include "graph/subgraphs/canonical_form.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "graph/parts.h"
#include "graph/passes.h"
#include "graph/rewrite.h"
#include "graph/subgraphs/atoms.h"
#include "tests/graph/random_blocks.h"

namespace aoe::tests {
namespace {

using graph::Graph;

std::string description(const Graph& graph) {
  return graph::canonical_form(graph, graph::subgraph_of(graph, graph.topological_order()))
      .description;
}

TEST(CanonicalForm, DependsNeitherOnNamesNorOnOrder) {
  for (std::uint32_t seed = 1; seed <= 200; ++seed) {
    const Graph graph = random_blocks(seed, 4);
    SCOPED_TRACE(graph.to_text());
    ASSERT_EQ(description(shuffled_and_renamed(graph, seed)), description(graph)) << seed;
  }
}

TEST(CanonicalForm, DoesNotDependOnWeights) {
  Graph a = random_blocks(3, 4), b = a;
  int changed = 0;
  for (graph::Value& value : b.values) {
    if (!value.constant || value.desc.dtype != DataType::kFloat ||
        element_count(value.desc.shape) < 2)
      continue;
    value.constant = std::make_shared<Constant>(value.desc);
    ++changed;
  }
  ASSERT_GT(changed, 0);
  EXPECT_EQ(description(a), description(b));
}

TEST(CanonicalForm, ChangesWithShapesAttributesAndEdges) {
  int compared = 0;
  for (std::uint32_t seed = 1; seed <= 25; ++seed) {
    const Graph graph = random_blocks(seed, 3);
    for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
      Graph other = graph;
      other.edit(static_cast<graph::NodeId>(n))->op.attrs.set("extra", std::int64_t{1});
      ASSERT_NE(description(other), description(graph)) << seed << " node " << n;
      other = graph;
      other.values[other.nodes[n].outputs[0]].desc.shape.push_back(1);
      ASSERT_NE(description(other), description(graph)) << seed << " node " << n;
      ++compared;
    }
    Graph other = graph;
    if (other.outputs.size() > 1) {
      std::vector<graph::ValueId> fewer = other.outputs;
      fewer.pop_back();
      other.outputs = fewer;
      ASSERT_NE(description(other), description(graph)) << seed;
    }
  }
  EXPECT_GT(compared, 150);
}

TEST(CanonicalForm, TellsWhichOfTwoAlikeNodesIsRead) {
  // Two convolutions alike; in one graph the sum of one with itself, in the other of both.
  const auto build = [](bool reads_both) {
    Graph graph;
    const TensorDesc image{.dtype = DataType::kFloat, .shape = {1, 4, 3, 3}};
    const graph::ValueId x = graph.add_value("x", image);
    graph.inputs = {x};
    std::vector<graph::ValueId> made;
    for (const char* name : {"a", "b"}) {
      made.push_back(graph.add_value(name, image));
      graph.add_node(
          {.name = name, .op = graph::call_of("Relu"), .inputs = {x}, .outputs = {made.back()}});
    }
    const graph::ValueId sum = graph.add_value("sum", image);
    graph.add_node({.name = "sum",
                    .op = graph::call_of("Add"),
                    .inputs = {made[0], made[reads_both ? 1 : 0]},
                    .outputs = {sum}});
    graph.outputs = {sum, made[1]};
    return graph;
  };
  EXPECT_NE(description(build(true)), description(build(false)));
}

TEST(Atoms, CutChainsApartAndKeepRegionsWhole) {
  Graph graph;
  const TensorDesc image{.dtype = DataType::kFloat, .shape = {1, 4, 3, 3}};
  graph.inputs = {graph.add_value("x", image)};
  const auto add = [&](const std::string& name, const char* type,
                       std::vector<graph::ValueId> inputs) {
    const graph::ValueId out = graph.add_value(name + "_out", image);
    graph.add_node(
        {.name = name, .op = graph::call_of(type), .inputs = std::move(inputs), .outputs = {out}});
    return out;
  };
  const auto a = add("a", "Relu", graph.inputs);
  const auto b = add("b", "Relu", {a});  // a branch of two nodes, and one of one, meet in d
  const auto c = add("c", "Sigmoid", {b});
  const auto side = add("side", "Tanh", {a});
  const auto d = add("d", "Add", {c, side});
  graph.outputs = {add("e", "Relu", {d})};
  const auto atoms = graph::atoms_of(graph);
  ASSERT_EQ(atoms.size(), 3u);
  EXPECT_EQ(atoms[0], (std::vector<graph::NodeId>{0}));
  EXPECT_EQ(atoms[1], (std::vector<graph::NodeId>{1, 2, 3, 4}));
  EXPECT_EQ(atoms[2], (std::vector<graph::NodeId>{5}));
}

TEST(Atoms, OfARegionLargerThanAnySubgraphAreItsNodesRowByRow) {
  Graph graph;
  const TensorDesc image{.dtype = DataType::kFloat, .shape = {1, 4, 3, 3}};
  graph.inputs = {graph.add_value("x", image)};
  const auto add = [&](const char* type, std::vector<graph::ValueId> inputs) {
    const std::string name = type + std::to_string(graph.nodes.size());
    const graph::ValueId out = graph.add_value(name + "_out", image);
    graph.add_node(
        {.name = name, .op = graph::call_of(type), .inputs = std::move(inputs), .outputs = {out}});
    return out;
  };
  // The first nodes of all heads, then the second ones, and so on; every other head ends in the sum with the one before it.
  constexpr int kHeads = 6, kDepth = 5;
  const graph::ValueId trunk = add("Relu", graph.inputs);
  std::vector<graph::ValueId> heads(kHeads, trunk);
  for (int depth = 0; depth < kDepth; ++depth)
    for (std::size_t i = 0; i < kHeads; ++i)
      heads[i] = depth + 1 == kDepth && i % 2 == 1 ? add("Add", {heads[i], heads[i - 1]})
                                                   : add("Sigmoid", {heads[i]});
  graph.outputs = heads;
  std::vector<std::vector<graph::NodeId>> expected = {{0}};
  for (int i = 0; i < kHeads; ++i)
    for (int depth = 0; depth < kDepth; ++depth) expected.push_back({1 + depth * kHeads + i});
  EXPECT_EQ(graph::atoms_of(graph), expected);
}

TEST(Atoms, OfPartsThatShareNoDataAreThoseOfEachAlone) {
  Graph graph;
  const TensorDesc image{.dtype = DataType::kFloat, .shape = {1, 4, 3, 3}};
  const auto add = [&](const std::string& name, const char* type,
                       std::vector<graph::ValueId> inputs) {
    const graph::ValueId out = graph.add_value(name + "_out", image);
    graph.add_node(
        {.name = name, .op = graph::call_of(type), .inputs = std::move(inputs), .outputs = {out}});
    return out;
  };
  graph.inputs = {graph.add_value("x", image), graph.add_value("y", image)};
  const auto a = add("a", "Relu", {graph.inputs[0]});
  const auto b = add("b", "Sigmoid", {graph.inputs[1]});
  const auto c = add("c", "Tanh", {b});
  graph.outputs = {add("d", "Sigmoid", {a}), c};  // the first part ends behind the second
  EXPECT_EQ(graph::parts_of(graph), (std::vector<graph::NodeId>{0, 1, 1, 0}));
  EXPECT_EQ(graph.topological_order(), (std::vector<graph::NodeId>{0, 3, 1, 2}));
  const std::vector<std::vector<graph::NodeId>> alone = {{0}, {3}, {1}, {2}};
  EXPECT_EQ(graph::atoms_of(graph), alone);
}

TEST(ChooseRanges, IsAsGoodAsTryingAllSets) {
  std::mt19937 random(7);
  for (int trial = 0; trial < 200; ++trial) {
    const std::size_t atoms = 2 + random() % 6;
    std::vector<graph::WeightedRange> candidates;
    for (std::size_t i = 0, count = 1 + random() % 8; i < count; ++i) {
      const std::size_t begin = random() % atoms;
      candidates.push_back({{begin, begin + 1 + random() % (atoms - begin)},
                            static_cast<double>(random() % 20) - 4});
    }
    double best = 0;
    for (std::uint32_t set = 0; set < (1u << candidates.size()); ++set) {
      double gain = 0;
      std::vector<int> taken(atoms, 0);
      for (std::size_t i = 0; i < candidates.size(); ++i) {
        if ((set >> i & 1) == 0) continue;
        gain += candidates[i].gain;
        for (std::size_t a = candidates[i].range.begin; a < candidates[i].range.end; ++a)
          ++taken[a];
      }
      if (std::ranges::all_of(taken, [](int t) { return t <= 1; })) best = std::max(best, gain);
    }
    double chosen = 0;
    std::size_t end = 0;
    for (const graph::WeightedRange& each : graph::choose_ranges(atoms, candidates)) {
      ASSERT_GE(each.range.begin, end);
      end = each.range.end;
      chosen += each.gain;
    }
    EXPECT_EQ(chosen, best) << trial;
  }
}

}  // namespace
}  // namespace aoe::tests
