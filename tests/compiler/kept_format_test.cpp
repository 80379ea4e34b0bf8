// Nodes that shall keep a Format, through the choice of options, lowering and executor.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "compiler/lowering/format_assignment.h"
#include "compiler/lowering/node_options.h"
#include "graph/passes.h"
#include "graph/subgraphs/rewrite_plan.h"
#include "tests/compiler/compiled_model.h"
#include "tests/compiler/machine_code.h"
#include "tests/graph/model_text.h"
#include "tests/graph/random_blocks.h"

namespace aoe::compiler {
namespace {

/// An image goes through a stem and an Inception module.
graph::Graph stem_and_module() {
  graph::Graph graph = tests::import_text(R"(g (float[1,3,19,19] x) => (float[1,12,9,9] y)
      <float[16,3,3,3] w0, float[16,16,1,1] w1, float[8,16,1,1] r3, float[16,8,3,3] w3> {
    s0 = Conv <pads = [1,1,1,1]> (x, w0)
    s1 = MaxPool <kernel_shape = [3,3], strides = [2,2]> (s0)
    s2 = LRN <size = 3> (s1)
    i = Conv (s2, w1)
    a = Conv (i, w1)
    b0 = Conv (i, r3)
    b1 = Relu (b0)
    b = Conv <pads = [1,1,1,1]> (b1, w3)
    c0 = MaxPool <kernel_shape = [3,3], pads = [1,1,1,1]> (i)
    c = Conv (c0, r3)
    j = Concat <axis = 1> (a, b, c)
    k = Sigmoid (j)
    y = Slice <starts = [0], ends = [12], axes = [1]> (k)
  })",
                                          9);
  graph::run_passes(graph, {});
  return graph;
}

/// Marks those that make one of these values.
void keep(graph::Graph& graph, const std::vector<std::string>& values, Format format) {
  for (const graph::NodeId id : graph.topological_order()) {
    const std::string& made = graph.values[graph.nodes[id].outputs[0]].name;
    if (std::ranges::find(values, made) != values.end()) graph.edit(id)->kept_format = format;
  }
}

/// Names of values that steps convert, with the Format they have then: "x:ND_to_NHWC".
std::vector<std::string> conversions(const runtime::Om& om) {
  std::vector<std::string> names;
  for (const runtime::OmStep& step : om.steps)
    if (step.op_types.front() == "TransData") names.push_back(step.name);
  return names;
}

bool is_offered(const Task& task, Format format, const Soc& soc) {
  return std::ranges::any_of(default_candidates(task, soc), [&](const Candidate& candidate) {
    return candidate.format.name == name(format);
  });
}

/// Nodes whose results are stored otherwise than they keep, although Impls offer it.
std::vector<std::string> stored_otherwise(const graph::Graph& graph, const runtime::Om& om,
                                          const Soc& soc) {
  std::vector<std::string> names;
  for (std::size_t id = 0; id < graph.nodes.size(); ++id) {
    const graph::Node& node = graph.nodes[id];
    if (node.is_dead || !node.kept_format ||
        !is_offered(task_of(graph, static_cast<graph::NodeId>(id)), *node.kept_format, soc))
      continue;
    const auto step = std::ranges::find(om.steps, node.name, &runtime::OmStep::name);
    if (step == om.steps.end() ||
        dense(om.tensors[step->outputs[0]].desc.format) != dense(*node.kept_format))
      names.push_back(node.name);
  }
  return names;
}

/// A bank that knows the graph's ops in these Formats only, with these times.
class FormatBank final : public bank::StrategySource {
 public:
  FormatBank(const graph::Graph& graph, const Soc& soc,
             const std::map<std::string, double>& time_ns) {
    for (const graph::NodeId id : graph.topological_order()) {
      const Task task = task_of(graph, id);
      for (const Candidate& candidate : default_candidates(task, soc)) {
        const auto known = time_ns.find(candidate.format.name);
        if (known == time_ns.end()) continue;
        bank::Strategy strategy = strategy_of(candidate);
        strategy.measured.time_ns = known->second;
        sets_[key_of(task, soc).description].strategies.push_back(strategy);
      }
    }
  }
  std::optional<bank::StrategySet> find(const bank::TaskKey& key) const override {
    const auto known = sets_.find(key.description);
    return known == sets_.end() ? std::nullopt : std::optional(known->second);
  }
  std::string description() const override { return "a few Formats"; }

 private:
  std::map<std::string, bank::StrategySet> sets_;
};

const std::vector<std::string> kModule = {"a", "b0", "b1", "b", "c0", "c", "j", "k"};
const std::vector<std::string> kStem = {"s0", "s1", "s2", "i"};

TEST(KeptFormat, NoConversionStandsInside) {
  const Soc soc = loopnest::test_socs().back();
  const graph::Graph plain = stem_and_module();
  for (const Format outside : {Format::kNHWC, Format::kNC1HWC0}) {
    for (const Format inside : {Format::kND, Format::kNHWC, Format::kNC1HWC0}) {
      SCOPED_TRACE(std::string(name(inside)) + " inside, " + std::string(name(outside)) +
                   " in the bank");
      const FormatBank bank(plain, soc, {{std::string(name(outside)), 1}});
      graph::Graph graph = plain;
      keep(graph, kModule, inside);
      for (const int threads : {1, 2}) {
        CompileOptions options = options_for(soc, threads);
        options.strategies = &bank;
        const runtime::Om om = expect_compiled_like_reference(graph, options, plain);
        EXPECT_EQ(stored_otherwise(graph, om, soc), std::vector<std::string>{}) << steps_text(om);
        for (const std::string& converted : conversions(om))
          EXPECT_TRUE(
              std::ranges::any_of(std::vector{"x:", "s0:", "s1:", "s2:", "i:", "k:", "y:"},
                                  [&](const char* value) { return converted.starts_with(value); }))
              << converted;
      }
    }
  }
}

TEST(KeptFormat, WhatIsChosenAnywayCompilesToTheSameBytes) {
  const Soc soc = loopnest::test_socs().back();
  const graph::Graph plain = stem_and_module();
  const FormatBank bank(plain, soc, {{"NHWC", 1}});
  CompileOptions options = options_for(soc, 2);
  options.strategies = &bank;
  graph::Graph same = plain, other = plain;
  keep(same, kModule, Format::kNHWC);
  keep(other, kModule, Format::kNC1HWC0);
  const std::string bytes = compile(plain, options).om.serialize();
  EXPECT_EQ(compile(same, options).om.serialize(), bytes);
  EXPECT_NE(compile(other, options).om.serialize(), bytes);
}

TEST(KeptFormat, TheFirstConvolutionReadsTheImageAsItIs) {
  const Soc soc = loopnest::test_socs().back();
  const graph::Graph plain = stem_and_module();
  graph::Graph graph = plain;
  keep(graph, kStem, Format::kNC1HWC0);
  const runtime::Om om = expect_compiled_like_reference(graph, options_for(soc), plain);
  EXPECT_EQ(stored_otherwise(graph, om, soc), std::vector<std::string>{});
  for (const std::string& converted : conversions(om))
    EXPECT_FALSE(converted.starts_with("x:") || converted.starts_with("s")) << converted;
}

/// All options of the node that makes the value.
NodeOptions options_of(const graph::Graph& graph, const std::string& value,
                       const CompileOptions& options) {
  for (NodeOptions& each : node_options(graph, options))
    if (graph.values[graph.nodes[each.node].outputs[0]].name == value) return std::move(each);
  throw std::runtime_error("nothing makes " + value);
}

TEST(KeptFormat, TheBankIsAskedFirstAndDefaultsComeIn) {
  const Soc soc = loopnest::test_socs().back();
  const graph::Graph plain = stem_and_module();
  const FormatBank bank(plain, soc, {{"NHWC", 1}});
  CompileOptions options = options_for(soc);
  options.strategies = &bank;
  for (const Format format : {Format::kNHWC, Format::kNC1HWC0}) {
    graph::Graph graph = plain;
    keep(graph, {"b"}, format);
    const NodeOptions kept = options_of(graph, "b", options);
    EXPECT_EQ(kept.source, format == Format::kNHWC ? "bank" : "default");
    ASSERT_FALSE(kept.options.empty());
    for (const NodeOption& each : kept.options) {
      EXPECT_EQ(each.candidate.format.outputs.at(0), format);
      const Candidate& own = each.candidate;
      const auto plan = own.impl->plan(kept.task, own.format, options.soc);
      EXPECT_EQ(each.time_ns, format == Format::kNHWC ? 1 : plan->estimate_ns(own.schedule));
    }
  }
}

TEST(KeptFormat, WhatNoImplOffersChangesNothing) {
  const Soc soc = loopnest::test_socs().back();
  const graph::Graph plain = tests::import_text(R"(g (float[4,16] x) => (float[4,8] y)
      <float[16,8] w> {
    p = MatMul (x, w)
    y = Softmax (p)
  })");
  const FormatBank bank(plain, soc, {{"ND", 1}});
  for (const bank::StrategySource* source : {static_cast<const bank::StrategySource*>(nullptr),
                                             static_cast<const bank::StrategySource*>(&bank)}) {
    CompileOptions options = options_for(soc);
    options.strategies = source;
    graph::Graph graph = plain;
    keep(graph, {"p", "y"}, Format::kNC1HWC0);
    const runtime::Om om = expect_compiled_like_reference(graph, options, plain);
    EXPECT_EQ(steps_text(om), steps_text(compile(plain, options).om));
    for (const char* value : {"p", "y"}) {
      const NodeOptions wished = options_of(graph, value, options);
      const NodeOptions free = options_of(plain, value, options);
      EXPECT_EQ(wished.source, free.source);
      EXPECT_EQ(wished.options.size(), free.options.size());
    }
  }
}

TEST(FreeBorders, DecideNothing) {
  const Soc soc = loopnest::test_socs().back();
  const graph::Graph graph =
      tests::import_text(R"(g (float[1,64,30,30] x) => (float[1,64,30,30] y) {
    y = Sigmoid (x)
  })");
  const FormatBank bank(graph, soc,
                        {{"ND", 100}, {"NHWC", 99}});  // less than what converting takes
  CompileOptions options = options_for(soc);
  options.strategies = &bank;
  EXPECT_EQ(compile(graph, options).nodes.at(0).format, "ND");
  options.free_borders = {"x"};
  EXPECT_EQ(compile(graph, options).nodes.at(0).format, "ND");
  options.free_borders = {"x", "y"};
  EXPECT_EQ(compile(graph, options).nodes.at(0).format, "NHWC");
  expect_compiled_like_reference(graph, options);
}

TEST(KeptFormat, RandomRegionsComputeTheSame) {
  const Soc soc = loopnest::test_socs().back();
  const graph::Rewrite* kind = graph::rewrites().find("keep_format");
  std::size_t regions = 0, conversions_saved_or_made = 0;
  for (std::uint32_t seed = 1; seed <= 30; ++seed) {
    std::mt19937 random(seed);
    graph::Graph graph = tests::random_blocks(seed, 3);
    graph::run_passes(graph, {});
    const graph::Graph plain = graph;
    const bool is_anywhere = seed % 3 == 0;  // mostly what cannot be had
    constexpr Format kKeepable[] = {Format::kND, Format::kNHWC, Format::kNC1HWC0};
    if (is_anywhere) {
      for (const graph::NodeId id : graph.topological_order())
        graph.edit(id)->kept_format = kKeepable[random() % 3];
    } else {
      for (const graph::Place& place : kind->find(graph))  // refused where regions overlap
        if (kind->apply(graph, place.nodes, place.choices[random() % place.choices.size()]))
          ++regions;
    }
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + graph.to_text());
    const CompileOptions options = options_for(soc, 1 + static_cast<int>(seed % 2));
    const runtime::Om om = expect_compiled_like_reference(graph, options, plain);
    if (testing::Test::HasFatalFailure()) return;
    if (!is_anywhere) {
      EXPECT_EQ(stored_otherwise(graph, om, soc), std::vector<std::string>{});
    }
    if (conversions(om) != conversions(compile(plain, options).om)) ++conversions_saved_or_made;
  }
  EXPECT_GT(regions, 12u);
  EXPECT_GT(conversions_saved_or_made, 5u);
}

}  // namespace
}  // namespace aoe::compiler
