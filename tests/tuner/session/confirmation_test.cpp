// What was won is kept only if it holds in the whole model.
#include "tuner/session/confirmation.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "runtime/om/om_graph.h"
#include "tests/tuner/session/operator_session.h"
#include "tuner/tasks/subgraph_list.h"

namespace aoe::tuner {
namespace {
using nlohmann::json;
using tests::kDefaultNs;
using tests::Session;

TEST_F(Session, WhatIsSlowerInTheModelIsDemoted) {
  machine_.is_slow_in_models = [](const std::string&) { return true; };
  const TuneOutcome outcome = tune();
  EXPECT_EQ(outcome.state, TuningState::kSuccessful);
  EXPECT_TRUE(outcome.gains.empty());
  EXPECT_TRUE(winners().empty());
  ASSERT_TRUE(outcome.model);
  EXPECT_EQ(outcome.model->paired.verdict, Verdict::kSame);
  EXPECT_EQ(outcome.model->reason(), "the untuned model is kept");
  EXPECT_DOUBLE_EQ(outcome.model->after_ms(), outcome.model->before_ms);
  EXPECT_TRUE(opat().at("repo_modified_operators").empty());
  expect_counters(0, 0, 0, kTasks);
  EXPECT_TRUE(outcome.om_written);
}

/// Of two loads of the same code one may be faster; nothing was won that could be the reason.
TEST_F(Session, WithoutAWinnerNothingIsFaster) {
  options_.max_trials = 1;
  machine_.tuned_share = 0.8;
  const TuneOutcome outcome = tune();
  EXPECT_TRUE(outcome.gains.empty());
  ASSERT_TRUE(outcome.model);
  EXPECT_EQ(outcome.model->paired.verdict, Verdict::kSame);
  EXPECT_DOUBLE_EQ(outcome.model->after_ms(), outcome.model->before_ms);
}

/// Noise that is larger than what was won hits the tuned model in 7 of 15 runs.
TEST_F(Session, WhatNothingProvesWaitsForTheNextRun) {
  machine_.tuned_noise = 9;
  const TuneOutcome doubtful = tune();
  EXPECT_EQ(doubtful.state, TuningState::kSuccessful);
  ASSERT_TRUE(doubtful.model);
  EXPECT_EQ(doubtful.model->paired.verdict, Verdict::kAmbiguous);
  EXPECT_EQ(doubtful.model->reason(), "nothing proves a gain; the untuned model is kept");
  EXPECT_DOUBLE_EQ(doubtful.model->after_ms(), doubtful.model->before_ms);
  EXPECT_TRUE(winners().empty());

  machine_.tuned_noise = 0;
  const std::size_t measured = machine_.measured.size();
  const TuneOutcome calm = tune();
  EXPECT_EQ(machine_.measured.size(), measured) << "searched again";
  EXPECT_EQ(calm.model->paired.verdict, Verdict::kFaster);
  EXPECT_FALSE(winners().empty());
}

/// Nothing beats the defaults, but by what their other Formats take the model could do without conversions: if that is slower, or
/// perhaps no faster, what is compiled next must not have it either.
class OtherFormats : public Session {
 protected:
  OtherFormats() {
    graph_ = aoe::tests::import_text(R"(
      g (float[1,32,28,28] x) => (float[1,32,28,28] y) <float[64,32,3,3] w, float[32,64,3,3] v> {
        a = Conv <pads = [1,1,1,1]> (x, w)
        b = Relu (a)
        y = Conv <pads = [1,1,1,1]> (b, v)
      })");
    graph::run_passes(graph_, {});
    machine_.others_ns = 1.001 * kDefaultNs;
  }

  bool is_compiled_next_as_written() const {
    const bank::KnowledgeBank bank = open_bank();
    return runtime::run_alike(compiler::compile(graph_, {.soc = soc_, .strategies = &bank}).om,
                              runtime::Om::load(options_.tuned_om_path));
  }
};

TEST_F(OtherFormats, ThatAreSlowerInTheModelAreForgotten) {
  machine_.tuned_share = 2;
  EXPECT_TRUE(tune().gains.empty());
  EXPECT_TRUE(is_compiled_next_as_written());
}

TEST_F(OtherFormats, ThatNothingProvesWait) {
  machine_.tuned_noise = 9;
  machine_.tuned_share = 0.98;
  EXPECT_EQ(tune().model->paired.verdict, Verdict::kAmbiguous);
  EXPECT_TRUE(is_compiled_next_as_written());
}

TEST_F(OtherFormats, ThatAreFasterInTheModelAreKept) {
  machine_.tuned_share = 0.9;
  EXPECT_EQ(tune().model->paired.verdict, Verdict::kFaster);
  EXPECT_TRUE(is_compiled_next_as_written());
}

TEST_F(Session, ADemotedUpdateGivesTheBankItsStrategyBack) {
  tune();
  const auto first = winners();
  for (const std::string& winner : first) machine_.set_ns[winner] = 0.95 * kDefaultNs;
  machine_.is_slow_in_models = [&](const std::string& candidate) {
    return std::ranges::none_of(first,
                                [&](const std::string& w) { return w.ends_with(candidate); });
  };
  options_.repeat_tune = true;
  tune();
  EXPECT_EQ(winners(), first);
  expect_counters(0, 0, kTasks, 0);
}

// ---- who is slower ----

ModelTiming timing(double op_ns, double conversion_ns, double rest_ns) {
  const auto steady = [](double ns) { return std::vector<double>(15, ns); };
  return {.samples_ns = steady(op_ns + conversion_ns + rest_ns),
          .steps_ns = {steady(op_ns), steady(conversion_ns), steady(rest_ns)}};
}

/// Of six loads with three runs each, of which one is undisturbed, in one step after the other.
ModelTiming disturbed(double calm_ns, double slow_ns) {
  constexpr std::size_t kRuns = 18;
  ModelTiming timing{.samples_ns = std::vector<double>(kRuns, calm_ns + slow_ns),
                     .steps_ns = {2, std::vector<double>(kRuns, slow_ns)},
                     .load_begins = {0, 3, 6, 9, 12, 15}};
  timing.steps_ns[0][4] = timing.steps_ns[1][11] = calm_ns;
  for (std::size_t run = 0; run < kRuns; ++run)
    timing.samples_ns[run] = timing.steps_ns[0][run] + timing.steps_ns[1][run];
  return timing;
}

TEST(CompareModels, AGainIsNoMoreThanCalmMomentsShow) {
  const Comparison gain = compare_models(disturbed(100, 200), disturbed(80, 100), 0.005);
  EXPECT_TRUE(gain.is_faster());
  EXPECT_DOUBLE_EQ(gain.speedup, 1.25);
  EXPECT_DOUBLE_EQ(gain.low, 1.25);
  EXPECT_DOUBLE_EQ(gain.high, 2);
}

TEST(CompareModels, WhatOnlySlowPhasesFavourIsAmbiguous) {
  const Comparison gain = compare_models(disturbed(100, 200), disturbed(100, 100), 0.005);
  EXPECT_EQ(gain.verdict, Verdict::kAmbiguous);
  EXPECT_DOUBLE_EQ(gain.speedup, 1);
}

TEST(CompareModels, WhatIsSlowerStaysSlower) {
  const Comparison loss = compare_models(disturbed(100, 100), disturbed(80, 200), 0.005);
  EXPECT_TRUE(loss.is_slower());
  EXPECT_DOUBLE_EQ(loss.speedup, 0.5);
}

SubgraphTask named(const std::string& name) {
  SubgraphTask task;
  task.key.description = name;
  task.first = name;
  return task;
}

TEST(SlowerOnes, AreToldByAllOfTheirSteps) {
  const SubgraphTask op = named("op"), subgraph = named("subgraph");
  const ModelTiming before = timing(100, 0, 1000), after = timing(90, 20, 1000);
  EXPECT_EQ(slower_ones(before, after, {{&op, 1, {0}, {0}}, {&subgraph, 1, {0, 1}, {0, 1}}}, 0.005),
            std::set<std::string>{"subgraph"});
}

TEST(SlowerOnes, LeaveOutWhatShowsInNoFigureOfTheModelAndWhatIsGone) {
  const SubgraphTask task = named("task");
  const Placed stays{&task, 1, {0}, {0}}, gone{&task, 1, {0}, {}};
  const auto slower = [](double rest_ns, const Placed& placed) {
    return slower_ones(timing(100, 0, rest_ns), timing(110, 0, rest_ns), {placed}, 0.005);
  };
  EXPECT_TRUE(slower(1e6, stays).empty());
  EXPECT_TRUE(slower(10, gone).empty());
  EXPECT_FALSE(slower(10, stays).empty());
}

TEST(Steps, AreFoundByWhatTheyRun) {
  // A NC1HWC0 convolution reads and writes what the caller has in ND: conversions stand around it.
  const graph::Graph graph = aoe::tests::import_text(R"(
    g (float[1,16,14,14] x) => (float[1,16,14,14] y) <float[16,16,3,3] w> {
      a = Relu (x)
      y = Conv <pads = [1,1,1,1]> (a, w)
    })");
  compiler::CompileOptions options;
  options.soc = compiler::detect_soc(1);
  const graph::NodeId conv = graph.values[graph.outputs.front()].producer;
  for (const compiler::Candidate& each :
       compiler::default_candidates(compiler::task_of(graph, conv), options.soc))
    if (each.format.inputs.front() == Format::kNC1HWC0)
      options.fixed[graph.nodes[static_cast<std::size_t>(conv)].name] = each;
  ASSERT_FALSE(options.fixed.empty());
  const compiler::Compilation compiled = compiler::compile(graph, options);
  ASSERT_EQ(compiled.steps.size(), compiled.om.steps.size());
  const StepIndex steps(graph, compiled.steps);
  const graph::NodeId nodes[] = {conv};
  const std::vector<StepId> own = steps.of(nodes), all = steps.with_conversions(nodes);
  ASSERT_EQ(own.size(), 1u);
  EXPECT_EQ(compiled.om.steps[own.front()].name, graph.nodes[static_cast<std::size_t>(conv)].name);
  ASSERT_GT(all.size(), 1u);
  EXPECT_TRUE(std::ranges::is_sorted(all, std::less_equal{})) << "each once";
  for (const StepId step : all)
    EXPECT_EQ(compiled.om.steps[step].op_types.front() == "TransData", step != own.front());
}

}  // namespace
}  // namespace aoe::tuner
