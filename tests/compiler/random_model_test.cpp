// Random models of convolutions, poolings, additions, concatenations, views and the like, each node compiled to a random
// candidate: conversions and placements of all kinds occur. A failure prints the seed, the graph and the candidates.
// AOE_FIRST_SEED=n and AOE_MODELS=n choose others, as for *RandomOnnx*.
#include <gtest/gtest.h>

#include <cmath>

#include "graph/passes.h"
#include "graph/rewrite.h"
#include "graph/shape_inference.h"
#include "tests/compiler/compiled_model.h"
#include "tests/compiler/machine_code.h"
#include "tests/compiler/random_candidates.h"

namespace aoe::compiler {
namespace {

using graph::Graph;
using graph::ValueId;
using tests::Random;
using tests::Seeds;

/// Draws nodes over the values there are. Images are N,C,H,W; some values become matrices on the way.
class RandomModel {
 public:
  RandomModel(std::uint32_t seed, Random& random) : random_(random) {
    graph_.name = "model_" + std::to_string(seed);
    const auto batch = static_cast<std::int64_t>(1 + random_.below(2));
    const auto side = static_cast<std::int64_t>(4 + 2 * random_.below(3));
    const int inputs = 1 + static_cast<int>(random_.below(2));
    for (int i = 0; i < inputs; ++i) {
      const Shape shape = {batch, random_.pick(kChannels), side, side};
      graph_.inputs.push_back(
          graph_.add_value("x" + std::to_string(i), {.dtype = DataType::kFloat, .shape = shape}));
      pool_.push_back(graph_.inputs.back());
    }
  }

  Graph draw(int nodes) {
    for (int i = 0; i < nodes; ++i) add_random_node();
    for (const ValueId value : pool_)
      if (graph_.values[value].producer != graph::kNone &&
          (graph_.consumers(value).empty() || random_.one_in(8)))
        graph_.outputs.push_back(value);
    if (random_.one_in(4)) graph_.outputs.push_back(graph_.outputs.front());
    return std::move(graph_);
  }

 private:
  inline static const std::vector<std::int64_t> kChannels = {3, 8, 16, 16, 32};
  using Ints = std::vector<std::int64_t>;

  const Shape& shape(ValueId value) const { return graph_.values[value].desc.shape; }
  bool is_image(ValueId value) const { return shape(value).size() == 4; }

  /// Later values are likelier: graphs get deep and not only wide.
  ValueId any() {
    const std::size_t newest = pool_.size() - 1;
    return pool_[newest - std::min(random_.below(pool_.size()), random_.below(pool_.size()))];
  }
  ValueId image() {
    for (int attempt = 0; attempt < 8; ++attempt)
      if (const ValueId value = any(); is_image(value)) return value;
    return pool_.front();
  }
  /// Values whose shape differs from `value`'s at most in `axis`; -1: nowhere.
  std::vector<ValueId> like(ValueId value, std::int64_t axis) const {
    std::vector<ValueId> found;
    for (const ValueId other : pool_) {
      Shape a = shape(value), b = shape(other);
      if (a.size() != b.size()) continue;
      if (axis >= 0) a[axis] = b[axis] = 1;
      if (a == b) found.push_back(other);
    }
    return found;
  }

  ValueId weights(const Shape& dims, std::int64_t products) {
    std::vector<double> values(static_cast<std::size_t>(element_count(dims)));
    for (double& each : values)
      each = (random_.below(2001) / 1000.0 - 1) * std::sqrt(3.0 / static_cast<double>(products));
    return graph::add_floats(graph_, "w", dims, values);
  }

  void add(const std::string& type, std::vector<ValueId> inputs, reference::Attrs attrs = {},
           int outputs = 1) {
    const std::string name = "n" + std::to_string(graph_.nodes.size());
    graph::Node node{.name = name,
                     .op = graph::call_of(type, std::move(attrs)),
                     .inputs = std::move(inputs),
                     .origins = {name}};
    for (int i = 0; i < outputs; ++i)
      node.outputs.push_back(
          graph_.add_value(name + "_" + std::to_string(i), {.shape = graph::kUnknownRankShape}));
    pool_.insert(pool_.end(), node.outputs.begin(), node.outputs.end());
    graph::ShapeInference(graph_).infer_node(graph_.add_node(std::move(node)));
  }

  void add_random_node() {
    static const std::vector<std::string> kUnary = {"Relu", "Sigmoid", "Tanh", "Identity", "Neg"};
    switch (random_.below(16)) {
      case 0:
      case 1:
      case 2:
        return add_convolution(image());
      case 3:
        return add_pool(image());
      case 4:
        return add(random_.pick(kUnary), {any()});
      case 5:
      case 6: {
        const ValueId value = any();
        return add(random_.one_in(3) ? "Mul" : "Add", {value, random_.pick(like(value, -1))});
      }
      case 7:
      case 8:
      case 9:
        return add_concat(any());
      case 10:
        return add_reshape(any());
      case 11:
        return add_split(any());
      case 12:
      case 13:
        return add_residual(image());
      default:
        return add_other(any());
    }
  }

  void add_convolution(ValueId input) {
    const bool is_depthwise = random_.one_in(4);
    const std::int64_t filters = is_depthwise ? shape(input)[1] : random_.pick(kChannels);
    add_convolution(input, filters, is_depthwise, random_.one_in(5));
  }

  /// What passes fuse into one op: a convolution of its own or of another value, plus a value.
  void add_residual(ValueId input) {
    add_convolution(random_.pick(like(input, 1)), shape(input)[1], false, false);
    const ValueId result = pool_.back();
    add("Add", random_.one_in(2) ? std::vector{result, input} : std::vector{input, result});
    if (random_.one_in(2)) add("Relu", {pool_.back()});
  }

  void add_convolution(ValueId input, std::int64_t filters, bool is_depthwise, bool is_strided) {
    const std::int64_t channels = shape(input)[1];
    const std::int64_t side = random_.one_in(2) || shape(input)[2] < 3 ? 1 : 3;
    const std::int64_t inner = is_depthwise ? 1 : channels;
    reference::Attrs attrs;
    if (is_depthwise) attrs.set("group", channels);
    if (side == 3) attrs.set("pads", Ints{1, 1, 1, 1});
    if (is_strided) attrs.set("strides", Ints{2, 2});
    std::vector<ValueId> inputs = {input,
                                   weights({filters, inner, side, side}, inner * side * side)};
    if (random_.one_in(2)) inputs.push_back(weights({filters}, 1));
    add("Conv2D", std::move(inputs), std::move(attrs));
  }

  void add_pool(ValueId input) {
    if (shape(input)[2] < 2 || shape(input)[3] < 2 || random_.one_in(5))
      return add("GlobalAveragePool", {input});
    reference::Attrs attrs;
    const bool is_small = random_.one_in(2);
    attrs.set("kernel_shape", is_small ? Ints{2, 2} : Ints{3, 3});
    if (!is_small) attrs.set("pads", Ints{1, 1, 1, 1});
    if (is_small) attrs.set("strides", Ints{2, 2});
    add(random_.one_in(2) ? "MaxPoolV3" : "AvgPoolV2", {input}, std::move(attrs));
  }

  void add_concat(ValueId first) {
    constexpr std::int64_t kMostElements = 1 << 15;
    const std::int64_t axis = shape(first).size() < 2 || random_.one_in(4) ? 0 : 1;
    const std::vector<ValueId> others = like(first, axis);
    std::vector<ValueId> parts = {first};
    std::int64_t elements = element_count(shape(first));
    for (std::uint32_t more = random_.below(4); more > 0 && elements < kMostElements; --more) {
      parts.push_back(random_.pick(others));
      elements += element_count(shape(parts.back()));
    }
    reference::Attrs attrs;
    attrs.set("axis", axis);
    add("ConcatV2", std::move(parts), std::move(attrs));
  }

  void add_reshape(ValueId input) {
    const Shape& from = shape(input);
    const std::int64_t count = element_count(from);
    std::vector<Shape> targets = {{from[0], count / from[0]}, {count}, {1, count, 1, 1}};
    if (count % 16 == 0) targets.push_back({1, 16, 1, count / 16});
    if (count % 64 == 0) targets.insert(targets.end(), 4, {1, count / 16, 4, 4});
    const Shape target = random_.pick(targets);
    add("Reshape", {input, graph::add_ints(graph_, "shape", target)});
  }

  void add_split(ValueId input) {
    const auto axis = static_cast<std::int64_t>(shape(input).size() > 1 ? 1 : 0);
    const std::int64_t dim = shape(input)[axis];
    if (dim % 2 != 0) return add("Abs", {input});
    reference::Attrs attrs;
    attrs.set("axis", axis);
    add("SplitV", {input}, std::move(attrs), 2);
  }

  void add_other(ValueId input) {
    const std::size_t rank = shape(input).size();
    reference::Attrs attrs;
    if (rank == 2 && random_.one_in(2)) {
      constexpr std::int64_t kMostInner = 512;
      if (const std::int64_t inner = shape(input)[1]; inner <= kMostInner)
        return add("MatMulV2", {input, weights({inner, 24}, inner)});
    }
    if (random_.one_in(2)) {
      attrs.set("axis", static_cast<std::int64_t>(rank) - 1);
      return add("SoftmaxV2", {input}, std::move(attrs));
    }
    Ints perm(rank);
    for (std::size_t i = 0; i < rank; ++i) perm[i] = static_cast<std::int64_t>(i);
    if (rank > 1) std::swap(perm[rank - 1], perm[1]);
    attrs.set("perm", perm);
    add("Transpose", {input}, std::move(attrs));
  }

  Random& random_;
  Graph graph_;
  std::vector<ValueId> pool_;
};

void check_random_model(std::uint32_t seed) {
  Random random(seed);
  const Graph meaning = RandomModel(seed, random).draw(4 + static_cast<int>(random.below(12)));
  Graph graph = meaning;
  if (random.one_in(2)) graph::run_passes(graph, {});
  CompileOptions options = options_for(
      random.pick(std::vector<Soc>(loopnest::test_socs().begin(), loopnest::test_socs().end())),
      1 + static_cast<int>(random.below(3)));
  options.reuse_memory = !random.one_in(4);
  options.fixed = random_candidates(graph, options.soc, random);
  SCOPED_TRACE("seed " + std::to_string(seed) + ", " + options.soc.version + ", threads " +
               std::to_string(options.soc.threads) + "\n" + graph.to_text() +
               to_text(options.fixed));
  try {
    expect_compiled_like_reference(graph, options, meaning);
  } catch (const std::exception& e) {  // so that the trace above is printed
    FAIL() << e.what();
  }
}

class RandomModels : public testing::TestWithParam<std::uint32_t> {};

TEST_P(RandomModels, RunLikeTheReference) {
  for (const std::uint32_t seed : Seeds("AOE_MODELS", 240).of_shard(GetParam())) {
    check_random_model(seed);
    if (HasFatalFailure()) return;
  }
}
INSTANTIATE_TEST_SUITE_P(Shards, RandomModels, testing::Range(0u, Seeds::kShards));

}  // namespace
}  // namespace aoe::compiler
