// Races of plans in the model and the finals: real oms of a small model, whose times come from a formula.
#include "tuner/session/plan_finals.h"

#include <gtest/gtest.h>

#include <map>

#include "base/file.h"
#include "compiler/compiler.h"
#include "runtime/om/om.h"
#include "runtime/om/om_bodies.h"
#include "tests/graph/model_text.h"
#include "tests/temp_dir.h"
#include "tests/tuner/fakes.h"
#include "tuner/session/plan_proposals.h"

namespace aoe::tuner {
namespace {

/// A step takes what the table says of the number of its convolutions.
class ModelMeasurer final : public tests::ModelsOnlyMeasurer {
 public:
  explicit ModelMeasurer(std::map<int, double> ns) : ns_(std::move(ns)) {}

  Result<std::vector<ModelTiming>> run_models(std::span<const std::filesystem::path> oms) override {
    if (fails) return Unexpected("no");
    std::vector<ModelTiming> timings;
    for (const auto& path : oms) timings.push_back(timing_of(runtime::Om::load(path)));
    return timings;
  }

  bool fails = false;

 private:
  ModelTiming timing_of(const runtime::Om& om) const {
    constexpr std::size_t kRuns = 15;
    ModelTiming timing{.samples_ns = std::vector<double>(kRuns, 0)};
    for (const runtime::OmStep& step : om.steps)
      timing.steps_ns.emplace_back(kRuns, ns_of(om, step));
    return timing;
  }

  /// What runs a body takes what that does.
  double ns_of(const runtime::Om& om, const runtime::OmStep& step) const {
    const auto known = ns_.find(static_cast<int>(std::ranges::count(step.op_types, "Conv2D")));
    double ns = known == ns_.end() ? 0 : known->second;
    for (const runtime::Om& body : runtime::bodies_of(om, step))
      for (const runtime::OmStep& inner : body.steps) ns += ns_of(body, inner);
    return ns;
  }

  std::map<int, double> ns_;
};

class PlanFinals : public testing::Test {
 protected:
  PlanFinals() {
    options_.soc = compiler::detect_soc(2);
    auto tasks = prepare();
    EXPECT_EQ(tasks.size(), 1u);
    task_ = std::move(tasks.front());
    EXPECT_EQ(chains(2).size(), 3u);
  }

  /// Compiles the graph; its tasks.
  std::vector<SubgraphTask> prepare() {
    const compiler::Compilation compiled = compiler::compile(graph_, options_);
    write_file_atomically(untuned(), compiled.om.serialize());
    steps_.emplace(graph_, compiled.steps);
    return collect_subgraphs(graph_, options_.soc,
                             {graph_, std::vector<double>(graph_.nodes.size(), 1e5), options_.soc});
  }

  std::filesystem::path untuned() const { return directory_ / "untuned.om"; }

  PlanModel model() const {
    return {.graph = graph_,
            .compile = options_,
            .steps = *steps_,
            .setting = {.untuned_om = untuned(),
                        .scratch_directory = directory_.path(),
                        .policy = policy_,
                        .is_stopped = [] { return false; }}};
  }

  std::vector<graph::RewritePlan> chains(std::size_t members) const {
    return chains(task_, members);
  }

  /// The places that fuse so many convolutions, as plans, in the order of the nodes.
  static std::vector<graph::RewritePlan> chains(const SubgraphTask& task, std::size_t members) {
    std::vector<graph::RewritePlan> plans;
    for (const SubgraphPlace& place : task.rewrites)
      if (place.kind == "fuse_chain" && place.nodes.size() == members)
        plans.push_back({{{place.kind, place.version, place.nodes, place.choices.front()}}});
    std::ranges::sort(plans, {}, [](const auto& plan) { return plan.steps.front().nodes; });
    return plans;
  }

  static PlanTrial trial(graph::RewritePlan plan, double time_ns, bool ok = true) {
    return {.plan = std::move(plan), .ok = ok, .time_ns = time_ns, .before_ns = 100};
  }

  Result<std::vector<std::optional<PlanFinal>>> run(Finalist finalist, std::map<int, double> ns) {
    ModelMeasurer measurer(std::move(ns));
    const VerifyPlan verify = [&](const SubgraphTask&, const graph::RewritePlan& plan) {
      verified_.push_back(plan);
      return is_right_;
    };
    return run_finals({std::move(finalist)}, verify, model(), measurer);
  }

  aoe::tests::TempDir directory_;
  graph::Graph graph_ = aoe::tests::import_text(R"(
    g (float[1,16,96,96] x) => (float[1,16,96,96] y)
      <float[64,16,1,1] w1, float[64,1,3,3] w2, float[16,64,1,1] w3, float[16,1,3,3] w4> {
        a = Conv (x, w1)
        b = Conv <group = 64, pads = [1,1,1,1]> (a, w2)
        c = Conv (b, w3)
        y = Conv <group = 16, pads = [1,1,1,1]> (c, w4)
      })");
  compiler::CompileOptions options_;
  ConfirmPolicy policy_;
  std::optional<StepIndex> steps_;
  SubgraphTask task_;
  std::vector<graph::RewritePlan> verified_;
  bool is_right_ = true;
};

TEST_F(PlanFinals, RacesTellWhatEachPlanIsWorth) {
  ModelMeasurer measurer({{1, 100}, {2, 170}, {4, 250}});
  const auto results = race_in_model({{&task_, {chains(2)[1], chains(4)[0]}}}, model(), measurer);
  ASSERT_TRUE(results) << results.error();
  ASSERT_EQ(results->front().size(), 2u);
  const PlanInModel &pair = results->front()[0], &whole = results->front()[1];
  EXPECT_EQ(pair.plan, chains(2)[1]);
  EXPECT_EQ(median(pair.before_ns), 400);
  EXPECT_EQ(median(pair.after_ns), 370);
  EXPECT_EQ(whole.gain_ns(), 150);
  measurer.fails = true;
  EXPECT_FALSE(race_in_model({{&task_, chains(2)}}, model(), measurer));
}

/// Two blocks that are different tasks, in one body: the time of the loop does not say which of them it was.
TEST_F(PlanFinals, RacesTellApartWhatOneLoopRuns) {
  graph_ = aoe::tests::import_text(R"(
    g (int64 n, bool c, float[1,32,80,80] x) => (float[1,32,80,80] y)
      <float[32,1,3,3] w, float[32,32,1,1] v, float[32,32,1,1] u> {
        y = Loop (n, c, x) <body = b (int64 i, bool go, float[1,32,80,80] s)
            => (bool on, float[1,32,80,80] z) {
          on = Identity (go)
          a = Conv <group = 32, pads = [1,1,1,1]> (s, w)
          d = Conv (a, v)
          e = Softmax <axis = 1> (d)
          f = Softmax <axis = 2> (e)
          h = Conv <group = 32, pads = [1,1,1,1]> (f, w)
          j = Conv (h, v)
          z = Conv (j, u) }>
      })");
  const std::vector<SubgraphTask> tasks = prepare();
  const auto of_size = [&](std::size_t nodes) {
    return std::ranges::find(tasks, nodes, [](const auto& task) { return task.part.nodes.size(); });
  };
  const auto pair = of_size(2), row = of_size(3);
  ASSERT_TRUE(pair != tasks.end() && row != tasks.end());
  ModelMeasurer measurer({{1, 100}, {2, 150}, {3, 400}});
  const auto results =
      race_in_model({{&*pair, chains(*pair, 2)}, {&*row, chains(*row, 3)}}, model(), measurer);
  ASSERT_TRUE(results) << results.error();
  ASSERT_EQ((*results)[0].size(), 1u);
  ASSERT_EQ((*results)[1].size(), 1u);
  EXPECT_EQ((*results)[0][0].gain_ns(), 50);
  EXPECT_EQ((*results)[1][0].gain_ns(), -100);
}

TEST_F(PlanFinals, CombineWhatGainsInTheModel) {
  // Alone only the first pair looks good; in the model every pair gains, and two of them fit together.
  Finalist finalist{.task = &task_};
  double time_ns = 95;
  for (const auto& plan : chains(2)) finalist.trials.push_back(trial(plan, time_ns += 5));
  const auto finals = run(finalist, {{1, 100}, {2, 150}});
  ASSERT_TRUE(finals) << finals.error();
  ASSERT_TRUE(finals->front());
  const PlanFinal& final = *finals->front();
  const auto pairs = chains(2);
  EXPECT_EQ(final.plan, (graph::RewritePlan{{pairs[0].steps[0], pairs[2].steps[0]}}));
  EXPECT_EQ(final.before_ns, 400);
  EXPECT_EQ(final.time_ns, 300);
  EXPECT_EQ(final.against_before.verdict, Verdict::kFaster);
  EXPECT_FALSE(final.against_known);
  ASSERT_FALSE(verified_.empty());
  EXPECT_EQ(verified_.front(), final.plan);
  EXPECT_EQ(verified_.size(), 3u);  // with both Formats, too

  is_right_ = false;  // a combination that computes something else has no place in a model
  const auto single = run(finalist, {{1, 100}, {2, 150}});
  ASSERT_TRUE(single && single->front());
  EXPECT_EQ(single->front()->plan.steps.size(), 1u);
}

TEST_F(PlanFinals, SayWhenNothingIsFaster) {
  Finalist finalist{.task = &task_, .trials = {trial(chains(4)[0], 90)}};
  const auto finals = run(finalist, {{1, 100}, {4, 440}});
  ASSERT_TRUE(finals && finals->front());
  EXPECT_EQ(finals->front()->against_before.verdict, Verdict::kSlower);
  const auto nobody = run({.task = &task_}, {{1, 100}});
  ASSERT_TRUE(nobody);
  EXPECT_FALSE(nobody->front());
}

TEST_F(PlanFinals, RaceAgainstTheStoredPlan) {
  const std::map<int, double> ns = {{1, 100}, {2, 150}, {4, 240}};
  const auto finals =
      run({.task = &task_, .trials = {trial(chains(4)[0], 90)}, .known = chains(2)[0]}, ns);
  ASSERT_TRUE(finals && finals->front() && finals->front()->against_known);
  EXPECT_EQ(finals->front()->plan, chains(4)[0]);
  EXPECT_EQ(finals->front()->against_known->verdict, Verdict::kFaster);
  // The stored plan may be the fastest: then nothing has beaten it.
  const auto stays =
      run({.task = &task_, .trials = {trial(chains(2)[0], 90)}, .known = chains(4)[0]}, ns);
  ASSERT_TRUE(stays && stays->front());
  EXPECT_EQ(stays->front()->plan, chains(4)[0]);
  EXPECT_FALSE(stays->front()->against_known);
}

TEST(PlansForTheModel, AreSingleRewritesThatComeNear) {
  const auto trial = [](std::vector<int> nodes, double time_ns, bool ok = true) {
    PlanTrial made{.ok = ok, .time_ns = time_ns, .before_ns = 100};
    for (const int node : nodes) made.plan.steps.push_back({"k", 1, {node}, {}});
    return made;
  };
  std::vector<PlanTrial> trials = {trial({0}, 120),       trial({1}, 90),     trial({2}, 126),
                                   trial({3}, 50, false), trial({0, 1}, 104), trial({1, 2}, 106)};
  const auto plans = plans_for_the_model(trials, 10);
  ASSERT_EQ(plans.size(), 3u);
  EXPECT_EQ(plans[0], trials[1].plan);
  EXPECT_EQ(plans[1], trials[0].plan);
  EXPECT_EQ(plans[2], trials[4].plan);
  EXPECT_EQ(plans_for_the_model(trials, 1).size(), 2u);
}

TEST(BestCombination, IsExact) {
  const auto step = [](std::vector<int> nodes, double gain_ns) {
    return WeighedStep{{"k", 1, std::move(nodes), {}}, gain_ns};
  };
  EXPECT_TRUE(best_combination({}).steps.empty());
  // The largest alone is worth less than its two neighbours together.
  const auto plan = best_combination({step({1, 2}, 10), step({0, 1}, 7), step({2, 3}, 6)});
  ASSERT_EQ(plan.steps.size(), 2u);
  EXPECT_EQ(plan.steps[0].nodes, (std::vector<int>{0, 1}));
  EXPECT_EQ(plan.steps[1].nodes, (std::vector<int>{2, 3}));
  EXPECT_EQ(best_combination({step({1, 2}, 14), step({0, 1}, 7), step({2, 3}, 6)}).steps.size(),
            1u);
}

}  // namespace
}  // namespace aoe::tuner
