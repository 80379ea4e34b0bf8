// Which ops of a model are tuned, and what is known of their time.
#include "tuner/tasks/operator_list.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "graph/passes.h"
#include "tests/graph/model_text.h"

namespace aoe::tuner {
namespace {

constexpr const char* kLoop =
    "g (int64 n, bool c, float[32,48] x, float[48,48] y) => (float[32,48] z) {"
    "  t = MatMul (x, y)"
    "  z = Loop (n, c, t) <body = b (int64 i, bool go, float[32,48] s)"
    "      => (bool on, float[32,48] u) {"
    "        on = Identity (go)  m = MatMul (s, y)  u = Softmax (m) }> }";

std::vector<OperatorTask> tasks_of(const std::string& text, const OpFilter& filter = {}) {
  graph::Graph graph = aoe::tests::import_text(text);
  graph::run_passes(graph, {});
  const compiler::Soc soc = compiler::detect_soc(1);
  return collect_operators(graph, compiler::compile(graph, {.soc = soc}), soc, filter);
}

TEST(OperatorList, HasTheOpsOfBodies) {
  const std::vector<OperatorTask> tasks = tasks_of(kLoop);
  const auto product =
      std::ranges::find_if(tasks, [](const auto& t) { return t.type_text() == "MatMulV2"; });
  const auto softmax =
      std::ranges::find_if(tasks, [](const auto& t) { return t.type_text() == "SoftmaxV2"; });
  ASSERT_NE(product, tasks.end());
  ASSERT_NE(softmax, tasks.end());
  EXPECT_EQ(product->places(), 2) << "one before the loop, one in it";
  EXPECT_EQ(product->ids.size(), 1U);
  ASSERT_EQ(product->in_bodies.size(), 1U);
  EXPECT_EQ(softmax->ids.size(), 0U);
  const std::string& name = softmax->nodes.front();
  EXPECT_TRUE(name.find('/') < name.size() - 1) << "as profiles have it: " << name;
  const std::vector<OperatorTask> one = tasks_of(kLoop, {.names = {name}});
  ASSERT_EQ(one.size(), 1U);
  EXPECT_EQ(one[0].nodes, std::vector{name});
  ASSERT_EQ(softmax->in_bodies.size(), 1U);
  EXPECT_EQ(softmax->timed_nodes(), std::vector{product->in_bodies[0].control});
  double shares = 0;
  for (const OperatorTask& task : tasks)
    for (const BodyPlace& place : task.in_bodies) shares += place.share;
  EXPECT_NEAR(shares, 1, 1e-9);
}

}  // namespace
}  // namespace aoe::tuner
