// The finals of a subgraph's search: real oms of a small model, whose times come from a formula.
#include "tuner/plan_finals.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/file.h"
#include "compiler/compiler.h"
#include "runtime/om.h"
#include "tests/graph/model_text.h"
#include "tests/temp_dir.h"
#include "tests/tuner/fakes.h"

namespace aoe::tuner {
namespace {

/// A step takes what the formula says of the types of its ops ("Conv2D+Relu").
class ModelMeasurer final : public Measurer {
 public:
  explicit ModelMeasurer(std::function<double(const std::string&)> ns) : ns_(std::move(ns)) {}

  void set_weights_in(WeightsIn) override {}
  std::vector<Timing> measure(const compiler::Task&, std::span<const compiler::Candidate>,
                              double) override {
    return {};
  }
  std::vector<Timing> race(const compiler::Task&, std::span<const compiler::Candidate>) override {
    return {};
  }
  std::vector<Timing> race_subgraphs(const std::filesystem::path&,
                                     std::span<const std::filesystem::path>) override {
    return {};
  }
  Result<std::vector<ModelTiming>> run_models(std::span<const std::filesystem::path> oms) override {
    std::vector<ModelTiming> timings;
    for (const auto& path : oms) {
      ModelTiming timing{.samples_ns = std::vector<double>(kRuns, 0)};
      const runtime::Om om = runtime::Om::load(path);
      for (const runtime::OmStep& step : om.steps) {
        const bool is_conversion = step.op_types.front() == "TransData";
        std::string types;
        for (const std::string& type : step.op_types) types += (types.empty() ? "" : "+") + type;
        const double ns = is_conversion ? 0 : ns_(types);
        timing.steps.push_back({step.name, is_conversion, std::vector<double>(kRuns, ns)});
        for (double& sum : timing.samples_ns) sum += ns;
      }
      timings.push_back(std::move(timing));
    }
    return timings;
  }

 private:
  static constexpr std::size_t kRuns = 15;
  std::function<double(const std::string&)> ns_;
};

class PlanFinals : public testing::Test {
 protected:
  PlanFinals() {
    graph_.name = "m";
    options_.soc = compiler::detect_soc(2);
    write_file_atomically(untuned(), compiler::compile(graph_, options_).om.serialize());
    auto tasks = collect_subgraphs(graph_, options_.soc, [](const graph::Node&) { return 1e5; });
    EXPECT_EQ(tasks.size(), 1u);
    task_ = std::move(tasks.front());
  }

  std::filesystem::path untuned() const { return directory_.path() / "untuned.om"; }

  /// The places that fuse `members` ops, as plans.
  std::vector<graph::RewritePlan> chains(std::size_t members) const {
    std::vector<graph::RewritePlan> plans;
    for (const SubgraphPlace& place : task_.places)
      if (place.kind == "fuse_chain" && place.nodes.size() == members)
        plans.push_back({{{place.kind, place.version, place.nodes, place.choices.front()}}});
    return plans;
  }

  std::optional<PlanFinal> run(const std::vector<graph::RewritePlan>& finalists,
                               const std::optional<graph::RewritePlan>& known,
                               std::function<double(const std::string&)> ns) {
    ModelMeasurer measurer(std::move(ns));
    const std::vector<PlannedSubgraph> none;
    return run_finals(task_, finalists, known,
                      {.graph = graph_,
                       .compile = options_,
                       .plans = none,
                       .setting = {.untuned_om = untuned(),
                                   .scratch_directory = directory_.path(),
                                   .policy = policy_,
                                   .is_stopped = [] { return false; }}},
                      measurer);
  }

  aoe::tests::TempDir directory_;
  graph::Graph graph_ = aoe::tests::import_text(R"(
    g (float[1,16,96,96] x) => (float[1,16,96,96] y)
      <float[64,16,1,1] w1, float[64,1,3,3] w2, float[16,64,1,1] w3> {
        a = Conv (x, w1)
        b = Conv <group = 64, pads = [1,1,1,1]> (a, w2)
        y = Conv (b, w3)
      })");
  compiler::CompileOptions options_;
  ConfirmPolicy policy_;
  SubgraphTask task_;
};

TEST_F(PlanFinals, ChooseByTheTimeInTheModel) {
  const auto pairs = chains(2), whole = chains(3);
  ASSERT_EQ(pairs.size(), 2u);
  ASSERT_EQ(whole.size(), 1u);
  const auto final = run({pairs[0], whole[0]}, std::nullopt, [](const std::string& types) {
    return types == "Conv2D" ? 100 : types == "Conv2D+Conv2D" ? 150 : 240;
  });
  ASSERT_TRUE(final);
  EXPECT_EQ(final->plan, whole[0]);
  EXPECT_EQ(final->before_ns, 300);
  EXPECT_EQ(final->time_ns, 240);
  EXPECT_EQ(final->against_before.verdict, "faster");
  EXPECT_FALSE(final->against_known);
}

TEST_F(PlanFinals, SayWhenNothingIsFaster) {
  const auto final = run(chains(3), std::nullopt,
                         [](const std::string& types) { return types == "Conv2D" ? 100 : 330; });
  ASSERT_TRUE(final);
  EXPECT_EQ(final->against_before.verdict, "slower");
  EXPECT_FALSE(run({}, std::nullopt, [](const std::string&) { return 1; }));
}

TEST_F(PlanFinals, RaceAgainstTheStoredPlan) {
  const auto pairs = chains(2), whole = chains(3);
  const auto ns = [](const std::string& types) {
    return types == "Conv2D" ? 100 : types == "Conv2D+Conv2D" ? 150 : 240;
  };
  const auto final = run({whole[0]}, pairs[0], ns);
  ASSERT_TRUE(final && final->against_known);
  EXPECT_EQ(final->against_known->verdict, "faster");
  // The stored plan may be the fastest itself: there is nothing to replace it with.
  const auto stays = run({pairs[0]}, whole[0], ns);
  ASSERT_TRUE(stays);
  EXPECT_EQ(stays->plan, whole[0]);
  EXPECT_FALSE(stays->against_known);
}

TEST(FinalistsOf, AreTheFastestAloneAndWhatIsClose) {
  const auto trial = [](int node, double time_ns, bool ok = true) {
    return PlanTrial{
        .plan = {{{"k", 1, {node}, {}}}}, .ok = ok, .time_ns = time_ns, .before_ns = 100};
  };
  PlanSearchResult found{
      .trials = {trial(0, 104), trial(1, 90), trial(2, 106), trial(3, 50, false)}};
  const auto close = finalists_of(found);
  ASSERT_EQ(close.size(), 2u);
  EXPECT_EQ(close[0], found.trials[1].plan);
  EXPECT_EQ(close[1], found.trials[0].plan);
  for (int node = 4; node < 12; ++node) found.trials.push_back(trial(node, 80 + node));
  EXPECT_EQ(finalists_of(found).size(), 4u);
}

}  // namespace
}  // namespace aoe::tuner
