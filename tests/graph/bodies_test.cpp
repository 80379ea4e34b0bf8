// Paths into bodies: names, changes that other copies of the model do not see, and how bodies are cut.
#include "graph/bodies.h"

#include <gtest/gtest.h>

#include "graph/passes.h"
#include "graph/subgraphs/atoms.h"
#include "tests/graph/model_text.h"

namespace aoe::tests {
namespace {
using graph::BodyPath;
using graph::Graph;

/// An If inside of a Loop.
Graph nested() {
  Graph graph = import_text(R"(
      g (int64 n, bool c, float[2,3] x) => (float[2,3] z) {
        t = Relu (x)
        z = Loop (n, c, t) <body = b (int64 i, bool go, float[2,3] s) => (bool on, float[2,3] u) {
          on = Identity (go)
          zero = Constant <value_int = 3> ()
          early = Less (i, zero)
          u = If (early) <then_branch = h () => (float[2,3] p) { p = Tanh (s) },
                          else_branch = e () => (float[2,3] q) { q = Sigmoid (s) }>
        }>
      })");
  graph::run_passes(graph, {});
  return graph;
}

std::vector<std::string> names(const Graph& model) {
  std::vector<std::string> list;
  graph::for_each_graph(model, [&](const Graph& graph, const BodyPath& path) {
    const std::string at = graph::text_of(model, path);
    for (const graph::NodeId id : graph.topological_order())
      if (graph.nodes[id].op.type == "Loop" || graph.nodes[id].op.type == "If" ||
          graph.nodes[id].op.type == "Tanh" || graph.nodes[id].op.type == "Sigmoid")
        list.push_back(graph::name_at(at, graph.nodes[id].name));
  });
  return list;
}

TEST(Bodies, AreWalkedWithTheNamesOfProfiles) {
  const std::vector<std::string> list = names(nested());
  ASSERT_EQ(list.size(), 4U);
  const std::string &loop = list[0], &choice = list[1];
  EXPECT_EQ(loop.find('/'), std::string::npos);
  EXPECT_TRUE(choice.starts_with(loop + "/")) << choice;
  EXPECT_TRUE(list[2].starts_with(choice + "/")) << list[2];
  EXPECT_TRUE(list[3].starts_with(choice + "/")) << list[3];
  EXPECT_EQ(graph::name_at("loop/", "loop/op"), "loop/op") << "some exporters write it so";
}

TEST(Bodies, AreChangedInOneCopyOfTheModel) {
  Graph model = nested();
  std::vector<BodyPath> paths;
  graph::for_each_graph(model, [&](const Graph&, const BodyPath& path) { paths.push_back(path); });
  ASSERT_EQ(paths.size(), 4U) << "the model, the loop's body and two branches";
  const Graph other = model;
  const std::string before = graph::graph_at(other, paths[3]).to_text();
  graph::change_at(model, paths[3],
                   [](Graph& branch) { branch.rename(branch.outputs.front(), "renamed"); });
  EXPECT_NE(graph::graph_at(model, paths[3]).to_text(), before);
  EXPECT_EQ(graph::graph_at(other, paths[3]).to_text(), before);
  EXPECT_EQ(&graph::graph_at(model, paths[2]), &graph::graph_at(other, paths[2])) << "the sibling";
  EXPECT_NE(&graph::graph_at(model, paths[1]), &graph::graph_at(other, paths[1])) << "the parent";
}

// What ends the run instead has the shape that the other branch gives.
TEST(Bodies, ABranchThatCannotRunMayBeLarge) {
  Graph model = import_text(R"(
      g (float[2147483648] x, float[3] z, bool c) => (y) {
        y = If (c) <then_branch = h () => (p) { p = Tanh (x) },
                    else_branch = e () => (q) { q = Add (x, z) }>
      })");
  graph::run_passes(model, {});
  EXPECT_EQ(model.values[model.outputs.front()].desc.shape, (Shape{std::int64_t{1} << 31}));
}

TEST(Atoms, OfABodyAreNotHeldTogetherByItsCondition) {
  Graph model = import_text(R"(
      g (int64 n, bool c, float[2,3] x) => (float[2,3] z) {
        z = Loop (n, c, x) <body = b (int64 i, bool go, float[2,3] s) => (bool on, float[2,3] u) {
          on = Identity (go)
          p = Softmax (s)  q = ReduceSum <keepdims = 1> (p)  r = Mul (p, q)  u = Softmax (r)
        }>
      })");
  const Graph& body = graph::graph_at(model, BodyPath{{0, 0}});
  const auto atoms = graph::atoms_of(body);
  const auto softmax = [&](std::size_t atom) {
    return atoms[atom].size() == 1 && body.nodes[atoms[atom].front()].op.type == "SoftmaxV2";
  };
  ASSERT_GE(atoms.size(), 3U);
  EXPECT_TRUE(softmax(atoms.size() - 1)) << body.to_text();
  EXPECT_TRUE(softmax(0) || softmax(1)) << body.to_text();
}

}  // namespace
}  // namespace aoe::tests
