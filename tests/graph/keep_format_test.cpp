// keep_format: where it applies, what it refuses, and that graphs carry the mark along.
#include <gtest/gtest.h>

#include <set>

#include "graph/rewrite.h"
#include "graph/subgraph.h"
#include "graph/subgraphs/canonical_form.h"
#include "graph/subgraphs/rewrite_plan.h"
#include "tests/graph/model_text.h"

namespace aoe::tests {
namespace {

using graph::Graph;
using graph::NodeId;

const graph::Rewrite& keep_format() {
  return *graph::rewrites().find("keep_format");
}

graph::RewriteParams in(Format format) {
  return {{"format", static_cast<std::int64_t>(format)}};
}

/// Places, as names of what their nodes make.
using Proposals = std::vector<std::vector<std::string>>;

Proposals proposals(const Graph& graph) {
  Proposals all;
  for (const graph::Place& place : keep_format().find(graph)) {
    EXPECT_EQ(place.choices, (std::vector{in(Format::kNC1HWC0), in(Format::kNHWC)}));
    std::vector<std::string> names;
    for (const NodeId id : place.nodes)
      names.push_back(graph.values[graph.nodes[id].outputs[0]].name);
    all.push_back(names);
  }
  return all;
}

/// What an Inception network begins with: a row, a module, and a head of no images.
Graph stem_and_module() {
  return import_text(R"(g (float[1,3,19,19] x) => (float[1,12] y)
      <float[4,3,3,3] w0, float[4,4,1,1] w1, float[4,4,3,3] w3> {
    a = Conv <strides = [2,2], pads = [1,1,1,1]> (x, w0)
    b = MaxPool <kernel_shape = [3,3], strides = [2,2]> (a)
    c = LRN <size = 3> (b)
    d = Conv <pads = [1,1,1,1]> (c, w3)
    e = Relu (d)
    f = Conv (e, w1)
    m0 = Conv (e, w1)
    m = Conv <pads = [1,1,1,1]> (m0, w3)
    n0 = MaxPool <kernel_shape = [3,3], pads = [1,1,1,1]> (e)
    n = Conv (n0, w1)
    o = Concat <axis = 1> (f, m, n)
    p = GlobalAveragePool (o)
    y = Flatten (p)
  })");
}

TEST(KeepFormat, FindsRowsWhatSurroundsLightOpsAndModules) {
  EXPECT_EQ(proposals(stem_and_module()), (Proposals{{"a", "b", "c", "d", "e"},
                                                     {"a", "b", "c", "d"},
                                                     {"f", "m0", "m", "n0", "n", "o"}}));
}

TEST(KeepFormat, CutsLongRowsEvenly) {
  std::string nodes, last = "x";
  for (int i = 0; i < 17; ++i) {
    const std::string next = i == 16 ? "y" : "v" + std::to_string(i);
    nodes += next + (i % 2 == 0 ? " = Relu (" : " = Sigmoid (") + last + ")\n";
    last = next;
  }
  std::vector<std::size_t> sizes;
  for (const auto& place :
       proposals(import_text("g (float[1,4,5,5] x) => (float[1,4,5,5] y) {" + nodes + "}")))
    sizes.push_back(place.size());
  EXPECT_EQ(sizes, (std::vector<std::size_t>{5, 6, 6}));
}

TEST(KeepFormat, FindsNothingInShortRowsNorWithoutImages) {
  EXPECT_EQ(proposals(import_text(R"(g (float[1,4,5,5] x) => (float[1,4,5,5] y) {
    a = Relu (x)
    y = Neg (a)
  })")),
            Proposals{});
  for (const std::string shape : {"float[4,5]", "float[1,4,1,1]", "double[1,4,5,5]"})
    EXPECT_EQ(proposals(import_text("g (" + shape + " x) => (" + shape + R"( y) {
    a = Abs (x)
    b = Neg (a)
    c = Abs (b)
    y = Neg (c)
  })")),
              Proposals{})
        << shape;
}

TEST(KeepFormat, TakesApartWhatAnOutputSeparates) {
  EXPECT_EQ(proposals(import_text(R"(
      g (float[1,4,5,5] x) => (float[1,4,5,5] c, float[1,4,5,5] y) {
    a = Relu (x)
    b = Neg (a)
    c = Relu (b)
    d = Neg (c)
    y = Abs (d)
  })")),
            (Proposals{{"a", "b", "c"}, {"d", "y"}}));
}

TEST(KeepFormat, RefusesWithNothingChanged) {
  Graph graph = stem_and_module();
  const std::string text = graph.to_text();
  const auto head = static_cast<NodeId>(graph.nodes.size() - 1);
  EXPECT_FALSE(keep_format().apply(graph, {0, 1, 2}, {}));
  EXPECT_FALSE(keep_format().apply(graph, {0, 1, 2}, in(Format::kFractalZ)));
  EXPECT_FALSE(keep_format().apply(graph, {0, 1, 2}, {{"format", 1000}}));
  EXPECT_FALSE(keep_format().apply(graph, {}, in(Format::kNHWC)));
  EXPECT_FALSE(keep_format().apply(graph, {0, 1, head}, in(Format::kNHWC)));
  EXPECT_EQ(graph.to_text(), text);
  ASSERT_TRUE(keep_format().apply(graph, {1, 2}, in(Format::kND)));
  EXPECT_FALSE(keep_format().apply(graph, {0, 1}, in(Format::kNHWC)));  // one keeps a Format
  EXPECT_FALSE(graph.nodes[0].kept_format);
  EXPECT_EQ(graph.nodes[1].kept_format, Format::kND);
  EXPECT_NE(graph.to_text().find("format=ND"), std::string::npos);
}

TEST(KeepFormat, IsCarriedAlongAndNoPartOfTheKey) {
  Graph graph = stem_and_module();
  const auto form_of = [](const Graph& of) {
    return graph::canonical_form(of, graph::subgraph_of(of, of.topological_order()));
  };
  const std::string key = form_of(graph).description;
  ASSERT_TRUE(keep_format().apply(graph, {3, 4, 5}, in(Format::kNHWC)));
  EXPECT_EQ(form_of(graph).description, key);

  const Graph part = graph::extract(graph, graph::subgraph_of(graph, {2, 3, 4}));
  EXPECT_EQ(part.nodes[0].kept_format, std::nullopt);
  EXPECT_EQ(part.nodes[1].kept_format, Format::kNHWC);
  EXPECT_EQ(part.nodes[2].kept_format, Format::kNHWC);

  // One node in the place of two: it keeps what both keep.
  Graph changed = graph;
  graph::Node fused{
      .op = graph.nodes[3].op, .inputs = graph.nodes[3].inputs, .outputs = graph.nodes[4].outputs};
  const NodeId both = graph::replace_nodes(changed, {3, 4}, fused);
  EXPECT_EQ(changed.nodes[both].kept_format, Format::kNHWC);
  changed.compact();
  EXPECT_EQ(changed.nodes[3].kept_format, Format::kNHWC);
  EXPECT_EQ(changed.nodes[2].kept_format, std::nullopt);

  // Of two that differ, it keeps what it says itself.
  fused.inputs = graph.nodes[2].inputs;
  fused.outputs = graph.nodes[3].outputs;
  for (const std::optional<Format> own : {std::optional<Format>(), std::optional(Format::kND)}) {
    fused.kept_format = own;
    Graph other = graph;
    EXPECT_EQ(other.nodes[graph::replace_nodes(other, {2, 3}, fused)].kept_format, own);
  }
}

}  // namespace
}  // namespace aoe::tests
