// Random graphs through all passes: the outputs stay what they were. A failure prints the seed and
// the graph.
#include <gtest/gtest.h>

#include <random>

#include "graph/passes.h"
#include "graph/rewrite.h"
#include "graph/shape_inference.h"
#include "tests/graph/interpret.h"

namespace aoe::tests {
namespace {

using graph::Graph;
using graph::ValueId;

/// Draws nodes over the values there are; every value that nobody reads becomes an output.
class RandomGraph {
 public:
  explicit RandomGraph(std::uint32_t seed) : random_(seed) {
    graph_.name = "random_" + std::to_string(seed);
    for (int i = 0; i < 2; ++i) {
      const ValueId input =
          graph_.add_value("x" + std::to_string(i), {.dtype = DataType::kFloat, .shape = kShape});
      graph_.inputs.push_back(input);
      pool_.push_back(input);
    }
  }

  Graph draw(int nodes) {
    for (int i = 0; i < nodes; ++i) add_random_node();
    for (const ValueId value : pool_)
      if (graph_.values[value].producer != graph::kNone &&
          (graph_.consumers(value).empty() || below(8) == 0))
        graph_.outputs.push_back(value);
    return std::move(graph_);
  }

 private:
  inline static const Shape kShape = {1, 4, 3, 3};

  std::uint32_t below(std::uint32_t limit) { return static_cast<std::uint32_t>(random_() % limit); }
  ValueId pick() { return pool_[below(static_cast<std::uint32_t>(pool_.size()))]; }

  ValueId constant(const Shape& shape) {
    std::vector<double> values(static_cast<std::size_t>(element_count(shape)));
    for (double& value : values) value = 0.25 * (1 + below(6));
    return graph::add_floats(graph_, "c", shape, values);
  }

  void add(const std::string& type, std::vector<ValueId> inputs, reference::Attrs attrs = {}) {
    const std::string name = "n" + std::to_string(graph_.nodes.size());
    const ValueId output = graph_.add_value(name + "_out", {.shape = graph::kUnknownRankShape});
    const graph::NodeId id = graph_.add_node({.name = name,
                                              .op = graph::call_of(type, std::move(attrs)),
                                              .inputs = std::move(inputs),
                                              .outputs = {output},
                                              .origins = {name}});
    graph::ShapeInference(graph_).infer_node(id);
    pool_.push_back(output);
  }

  void add_random_node() {
    static const char* const kUnary[] = {"Relu", "Sigmoid", "Neg", "Tanh", "Abs", "Identity"};
    static const char* const kBinary[] = {"Add", "Mul", "Sub", "Maximum", "AddN"};
    switch (below(8)) {
      case 0:
      case 1:
        return add(kUnary[below(6)], {pick()});
      case 2:
      case 3:
        return add(kBinary[below(5)], {pick(), pick()});
      case 4: {
        static const Shape kShapes[] = {{}, {4, 1, 1}, {1, 4, 1, 1}, {3}};
        const ValueId scale = constant(kShapes[below(4)]);
        return add(kBinary[below(3)],
                   below(2) == 0 ? std::vector{pick(), scale} : std::vector{scale, pick()});
      }
      case 5:
      case 6:
        return add_convolution();
      default:
        return add("BatchNorm",
                   {pick(), constant({4}), constant({4}), constant({4}), constant({4})});
    }
  }

  void add_convolution() {
    reference::Attrs attrs;
    const bool is_depthwise = below(3) == 0;
    if (is_depthwise) attrs.set("group", std::int64_t{4});
    attrs.set("pads", std::vector<std::int64_t>{1, 1, 1, 1});
    std::vector<ValueId> inputs = {pick(), constant({4, is_depthwise ? 1 : 4, 3, 3})};
    if (below(2) == 0) inputs.push_back(constant({4}));
    add("Conv2D", std::move(inputs), std::move(attrs));
  }

  std::mt19937 random_;
  Graph graph_;
  std::vector<ValueId> pool_;
};

TEST(RandomGraphs, KeepTheirMeaningThroughAllPasses) {
  constexpr std::uint32_t kGraphs = 200;
  for (std::uint32_t seed = 1; seed <= kGraphs; ++seed) {
    const Graph before = RandomGraph(seed).draw(3 + static_cast<int>(seed % 12));
    Graph after = before;
    SCOPED_TRACE(before.to_text());
    graph::run_passes(after, {});
    expect_same_outputs(before, after, seed);
    if (testing::Test::HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace aoe::tests
