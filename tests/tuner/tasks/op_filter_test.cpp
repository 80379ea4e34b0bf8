// Operators by name and type; names that no operator has are told with what they may have meant.
#include "tuner/tasks/op_filter.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "graph/passes.h"
#include "tests/graph/model_text.h"

namespace aoe::tuner {
namespace {

graph::Graph model() {
  graph::Graph graph = aoe::tests::import_text(R"(
    g (float[1,4,8,8] x) => (float[1,4,8,8] y) <float[4,4,3,3] w> {
      c = Conv <pads = [1,1,1,1]> (x, w)
      r = Relu (c)
      y = Softmax <axis = 1> (r)
    })");
  graph::run_passes(graph, {});
  return graph;
}

std::string refusal(const OpFilter& filter) {
  try {
    check_filter(filter, model(), "--tune_ops_file f.json");
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ExitCode::kUsage);
    return e.what();
  }
  return {};
}

TEST(OpFilter, PassesByNameByTypeAndByNameWithoutItsGear) {
  EXPECT_TRUE(OpFilter{}.passes("any", {"Conv2D"}));
  const OpFilter filter{.names = {"conv1", "gear[4]:pool"}, .types = {"Relu"}};
  EXPECT_TRUE(filter.passes("conv1", {"Conv2D"}));
  EXPECT_TRUE(filter.passes("gear[8,8]:conv1", {"Conv2D"}));
  EXPECT_TRUE(filter.passes("gear[4]:pool", {"MaxPoolV3"}));
  EXPECT_FALSE(filter.passes("gear[8]:pool", {"MaxPoolV3"}));
  EXPECT_TRUE(filter.passes("other", {"Conv2D", "Relu"}));
  EXPECT_FALSE(filter.passes("conv", {"Conv2D"}));
  EXPECT_FALSE(filter.passes("gear[", {"Conv2D"}));
}

TEST(OpFilter, NamesOfTheModelAreAccepted) {
  std::set<std::string> names;
  for (const graph::Node& node : model().nodes) names.insert(node.name);
  ASSERT_EQ(names.size(), 2U);
  EXPECT_EQ(refusal({.names = names}), "");
  EXPECT_EQ(refusal({.types = {"Conv2D", "Relu", "SoftmaxV2"}}), "");
  EXPECT_EQ(refusal({.types = {"Conv2D", "MatMulV2"}}), "") << "another model of the team has it";
}

TEST(OpFilter, NamesAndTypesOfBodiesAreAccepted) {
  const graph::Graph graph = aoe::tests::import_text(R"(
    g (bool c, float[2,3] x) => (float[2,3] y) {
      y = If (c) <then_branch = t () => (float[2,3] a) { a = Relu (x) },
                  else_branch = e () => (float[2,3] b) { b = Softmax (x) }>
    })");
  const std::string& choice = graph.nodes.front().name;
  const std::string& inner = graph.nodes.front().bodies[1]->nodes.front().name;
  const auto check = [&](const OpFilter& filter) { check_filter(filter, graph, "f.json"); };
  EXPECT_NO_THROW(check({.names = {choice + "/" + inner}, .types = {"Relu"}}));
  EXPECT_THROW(check({.names = {inner}}), Error) << "as profiles have it, or not at all";
}

TEST(OpFilter, UnknownNamesAndTypesAreToldWithWhatTheyMayMean) {
  const std::string name = model().nodes.front().name;
  const std::string said = refusal({.names = {name + "0"}});
  EXPECT_NE(said.find("--tune_ops_file f.json: "), std::string::npos) << said;
  EXPECT_NE(said.find("'" + name + "0'"), std::string::npos) << said;
  EXPECT_NE(said.find("did you mean " + name), std::string::npos) << said;
  EXPECT_NE(refusal({.names = {"nothing_like_it"}}).find("lists the operators"), std::string::npos);
  EXPECT_NE(refusal({.types = {"Conv"}}).find("did you mean Conv2D?"), std::string::npos);
  EXPECT_NE(refusal({.types = {"SoftmaxV3"}}).find("SoftmaxV2"), std::string::npos);
}

}  // namespace
}  // namespace aoe::tuner
