// Schedules of nodes that rewrites make: which nodes are searched, and whole runs of subgraph tuning on a machine that is a
// formula, with real graphs, oms and banks.
#include "tuner/session/rewritten_nodes.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/json_text.h"
#include "runtime/om/om.h"
#include "runtime/om/om_bodies.h"
#include "tests/graph/model_text.h"
#include "tests/temp_dir.h"
#include "tests/tuner/fakes.h"
#include "tuner/tuner.h"

namespace aoe::tuner {
namespace {
using compiler::Candidate;
using compiler::Task;
using nlohmann::json;
namespace fs = std::filesystem;

constexpr double kOpNs = 100;
constexpr std::size_t kSamples = 15;
constexpr const char* kBetterAxis = "strips";
constexpr std::int64_t kBetterValue = 4;  ///< the heuristic has one for each of the two threads

Timing steady(double ns) {
  return {.samples_ns = std::vector<double>(kSamples, ns)};
}

/// An operator takes 100 ns. A chain takes a little longer than its parts with its heuristic Schedule, and much less with
/// four strips.
class ChainMachine final : public Measurer {
 public:
  double ns(std::size_t ops, const bank::Schedule& schedule, double better) const {
    const auto axis = schedule.find(kBetterAxis);
    const bool is_better = axis != schedule.end() && axis->second == kBetterValue;
    const double each = ops == 1 ? 1 : is_better ? better : heuristic;
    return kOpNs * static_cast<double>(ops) * each;
  }

  void set_weights_in(WeightsIn) override {}

  std::vector<Timing> measure(const Task& task, std::span<const Candidate> candidates,
                              double) override {
    std::vector<Timing> timings;
    for (const Candidate& candidate : candidates) {
      if (stop.stop_requested()) {
        timings.push_back(Timing::failure(Outcome::kStopped, "tuning was stopped"));
        continue;
      }
      timings.push_back(steady(ns(count(task), candidate.schedule, better_alone)));
      formats.insert(candidate.format.name);
      names.insert(to_text(candidate));
      if (++measured == stop_after) stop.request_stop();
    }
    return timings;
  }

  std::vector<Timing> race(const Task& task, std::span<const Candidate> candidates) override {
    std::vector<Timing> timings;
    for (const Candidate& candidate : candidates)
      timings.push_back(steady(ns(count(task), candidate.schedule, better_alone)));
    return timings;
  }

  /// An om of another subgraph computes something else.
  std::vector<Timing> race_subgraphs(const fs::path& reference,
                                     std::span<const fs::path> oms) override {
    const Shape wanted = output_shape(runtime::Om::load(reference));
    std::vector<Timing> timings;
    for (const fs::path& path : oms) {
      const runtime::Om om = runtime::Om::load(path);
      timings.push_back(output_shape(om) == wanted
                            ? steady(model_timing(om).samples_ns.front())
                            : Timing::failure(Outcome::kWrongResult, "another subgraph's om"));
    }
    return timings;
  }

  Result<std::vector<ModelTiming>> run_models(std::span<const fs::path> oms) override {
    std::vector<ModelTiming> timings;
    for (const fs::path& path : oms) timings.push_back(model_timing(runtime::Om::load(path)));
    return timings;
  }

  double heuristic = 1.05, better_alone = 0.7, better_inside = 0.7;
  int measured = 0, stop_after = 0;  ///< candidates in searches
  std::stop_source stop;
  std::set<std::string> formats, names;  ///< of these candidates

 private:
  static Shape output_shape(const runtime::Om& om) {
    return om.tensors[static_cast<std::size_t>(om.outputs.front())].desc.shape;
  }

  static std::size_t count(const Task& task) {
    return static_cast<std::size_t>(
        std::ranges::count(reference::op_types(task.op), std::string("Conv2D")));
  }

  /// A loop makes so many trips.
  static constexpr double kTrips = 5;

  std::map<std::string, double> node_ns_of(const runtime::Om& om) const {
    std::map<std::string, double> node_ns;
    for (const json& node : om.tuning.at("nodes")) {
      const auto types = node.at("op_types").get<std::vector<std::string>>();
      const auto ops = static_cast<std::size_t>(std::ranges::count(types, "Conv2D"));
      const double step_ns = ns(ops, node.at("schedule").get<bank::Schedule>(), better_inside);
      node_ns[node.at("node")] = step_ns;
    }
    for (const runtime::OmStep& step : om.steps)
      for (const runtime::Om& body : runtime::bodies_of(om, step))
        for (const auto& [node, ns] : node_ns_of(body)) node_ns[step.name] += kTrips * ns;
    return node_ns;
  }

  ModelTiming model_timing(const runtime::Om& om) const {
    return tests::model_timing(om, node_ns_of(om), kSamples);
  }
};

class RewrittenNodes : public testing::Test {
 protected:
  RewrittenNodes() {
    fs::create_directories(options_.work_directory);
    options_.policy.confirm.rounds = 1;
    options_.policy.search.schedule_trials = 24;
    options_.policy.search.schedule_share = 100;
  }

  bank::KnowledgeBank bank(const std::string& kind) const {
    return {directory_ / kind, {.soc_version = options_.soc.version}};
  }

  /// As operator tuning leaves the bank: a strategy for each operator of the model.
  void tune_operators_before() const {
    bank::Commit commit;
    graph::for_each_graph(graph_, [&](const graph::Graph& graph, const graph::BodyPath&) {
      for (const graph::NodeId id : graph.topological_order()) {
        if (!graph.nodes[id].bodies.empty()) continue;
        const Task task = compiler::task_of(graph, id);
        bank::Strategy strategy =
            compiler::strategy_of(compiler::default_candidates(task, options_.soc).front());
        strategy.measured.time_ns = kOpNs;
        commit.strategies.push_back({compiler::key_of(task, options_.soc), strategy, true});
      }
    });
    bank("op").commit(commit);
  }

  TuneOutcome tune() {
    bank::KnowledgeBank op = bank("op"), graph_bank = bank("graph");
    machine_.measured = 0;
    options_.stop = machine_.stop.get_token();
    return tune_subgraphs(
        {.graph = graph_, .graph_bank = graph_bank, .op_strategies = &op, .op_bank = &op}, machine_,
        options_);
  }

  /// What the op bank has of fused chains.
  std::vector<bank::BankEntry> chains() const {
    std::vector<bank::BankEntry> list = bank("op").entries();
    std::erase_if(list, [](const bank::BankEntry& entry) {
      return entry.key.description.find("FusedChain") == std::string::npos;
    });
    return list;
  }

  /// Without the list of subgraphs, which is in the order of their plans or in that of the model.
  static std::string comparable(runtime::Om om) {
    om.tuning.erase("subgraphs");
    return om.serialize();
  }

  std::string tuned_om() const { return comparable(runtime::Om::load(options_.tuned_om_path)); }

  /// As atc makes it with both banks.
  std::string compiled_om() const {
    const bank::KnowledgeBank op = bank("op"), graph_bank = bank("graph");
    graph::Graph graph = graph_;
    compiler::CompileOptions compile{.soc = options_.soc, .strategies = &op};
    compile.subgraphs = compiler::apply_graph_strategies(graph, graph_bank, options_.soc);
    return comparable(compiler::compile(graph, compile).om);
  }

  /// Depthwise and pointwise; then the same two and another pointwise one.
  static graph::Graph two_subgraphs_with_one_pair() {
    return aoe::tests::import_text(R"(
      g (float[1,32,80,80] x) => (float[1,16,80,80] y)
        <float[32,1,3,3] w, float[32,32,1,1] v, float[32,1,3,3] w2, float[32,32,1,1] v2, float[16,32,1,1] u> {
        a = Conv <group = 32, pads = [1,1,1,1]> (x, w)
        b = Conv (a, v)
        s = Softmax <axis = 1> (b)
        t = Softmax <axis = 2> (s)
        c = Conv <group = 32, pads = [1,1,1,1]> (t, w2)
        d = Conv (c, v2)
        y = Conv (d, u)
      })");
  }

  // ---- nodes without a run ----

  std::vector<RewrittenNode> find(std::vector<Finalist> finalists) {
    const bank::KnowledgeBank op = bank("op");
    const PlanBenchContext context{
        graph_, {.soc = options_.soc, .strategies = &op}, "test", options_};
    return find_rewritten_nodes({.finalists = finalists, .context = context, .times = times_});
  }

  /// A trial of each choice of the chain, slower than the subgraph as it is by these factors.
  std::vector<Finalist> finalists(const std::vector<double>& ratios) {
    times_ = NodeTimes(graph_, std::vector<double>(graph_.nodes.size(), kOpNs), options_.soc);
    tasks_ = collect_subgraphs(graph_, options_.soc, times_);
    std::vector<Finalist> list;
    for (const SubgraphTask& task : tasks_) {
      list.push_back({.task = &task});
      for (const SubgraphPlace& place : task.rewrites)
        for (std::size_t i = 0; place.kind == "fuse_chain" && i < ratios.size(); ++i)
          list.back().trials.push_back(
              {.plan = {{{place.kind, place.version, place.nodes, place.choices.at(i)}}},
               .ok = true,
               .time_ns = 100 * ratios[i],
               .before_ns = 100});
    }
    return list;
  }

  const aoe::tests::TempDir directory_;
  graph::Graph graph_ = aoe::tests::import_text(R"(
    g (float[1,32,80,80] x) => (float[1,16,80,80] y) <float[32,1,3,3] w, float[16,32,1,1] v> {
      a = Conv <group = 32, pads = [1,1,1,1]> (x, w)
      y = Conv (a, v)
    })");
  std::vector<SubgraphTask> tasks_;
  NodeTimes times_;  ///< of graph_
  ChainMachine machine_;
  TuneOptions options_{.soc = compiler::detect_soc(2),
                       .tuning_name = "g",
                       .result_path = directory_ / "result.json",
                       .work_directory = directory_ / "scratch",
                       .tuned_om_path = directory_ / "tuned.om"};
};

// ---- which nodes ----

TEST_F(RewrittenNodes, AreThoseThatCouldWinInTheFormatsThatCameNear) {
  tune_operators_before();
  const auto near = find(finalists({1.02, 1.02, 1.5}));
  ASSERT_EQ(near.size(), 1u);
  EXPECT_TRUE(reference::is_chain(near[0].task.task.op));
  EXPECT_EQ(near[0].uses.size(), 2u);
  for (const Candidate& each : near[0].task.heuristics)
    EXPECT_TRUE(near[0].formats.contains(each.format.name)) << each.format.name;
  EXPECT_TRUE(near[0].formats.contains("NHWC"));
  EXPECT_TRUE(find(finalists({1.5, 1.5, 1.5})).empty()) << "no Schedule makes up for a half";
  options_.policy.search.schedule_share = 0;
  EXPECT_TRUE(find(finalists({1.02, 1.02, 1.02})).empty());
}

TEST_F(RewrittenNodes, RaceUntunedOperatorsUntuned) {
  EXPECT_TRUE(find(finalists({0.9, 0.9, 0.9})).empty());
}

TEST_F(RewrittenNodes, AreSearchedOnceUnlessTuningIsRepeated) {
  tune_operators_before();
  const auto first = find(finalists({1.02}));
  ASSERT_EQ(first.size(), 1u);
  const OperatorTask& task = first[0].task;
  bank::Strategy strategy = compiler::strategy_of(task.default_candidate);
  strategy.schedule[kBetterAxis] = kBetterValue;
  bank("op").commit({.strategies = {{task.key, strategy, true}}});
  EXPECT_TRUE(find(finalists({1.02})).empty());
  options_.repeat_tune = true;
  const auto again = find(finalists({1.02}));
  ASSERT_EQ(again.size(), 1u);
  EXPECT_EQ(to_text(again[0].task.default_candidate), to_text(task.default_candidate))
      << "the default is what the bank knows nothing of";
}

TEST_F(RewrittenNodes, GetTheTrialsInTurn) {
  graph_ = two_subgraphs_with_one_pair();
  tune_operators_before();
  const auto all = find(finalists({1.02}));
  ASSERT_EQ(all.size(), 3u) << "the pair of both, the other pair and all three";
  for (const RewrittenNode& node : all) EXPECT_EQ(node.trials, 24);
  ASSERT_EQ(finalists({1.02})[0].trials.size() + finalists({1.02})[1].trials.size(), 4u);
  options_.policy.search.schedule_share = 7.5;
  const auto few = find(finalists({1.02}));
  ASSERT_EQ(few.size(), 2u);
  EXPECT_EQ(few[0].trials, 24);
  EXPECT_EQ(few[1].trials, 6);
  const auto shared =
      std::ranges::find(all, 2u, [](const RewrittenNode& node) { return node.uses.size(); });
  ASSERT_NE(shared, all.end());
  EXPECT_NE(shared->uses[0].finalist, shared->uses[1].finalist);
}

// ---- whole runs ----

TEST_F(RewrittenNodes, WinInTheirSubgraphAndInTheOpBank) {
  tune_operators_before();
  const TuneOutcome outcome = tune();
  EXPECT_EQ(outcome.state, TuningState::kSuccessful);
  EXPECT_EQ(outcome.model.value().paired.verdict, Verdict::kFaster);
  EXPECT_DOUBLE_EQ(outcome.model->after_ms(), 2 * kOpNs * machine_.better_inside / 1e6);
  ASSERT_EQ(chains().size(), 1u);
  const bank::StrategySet set = chains()[0].set;
  EXPECT_TRUE(set.has_winner());
  EXPECT_EQ(set.strategies.front().schedule.at(kBetterAxis), kBetterValue);
  EXPECT_FALSE(bank("op").records(chains()[0].key).empty());
  EXPECT_LE(machine_.measured,
            options_.policy.search.schedule_trials * static_cast<int>(machine_.formats.size()));
  EXPECT_GT(machine_.measured, 0);
  // No speed that exists in the search only.
  EXPECT_EQ(tuned_om(), compiled_om());
  const auto sections = parse_json(read_file(options_.result_path, ExitCode::kOutput));
  EXPECT_TRUE(sections.at(1).contains("SGAT"));
  EXPECT_EQ(sections.size(), 2u) << "the operators' section is operator tuning's";

  const TuneOutcome again = tune();
  EXPECT_EQ(machine_.measured, 0);
  EXPECT_EQ(again.trials, 0);
  EXPECT_EQ(again.model.value().paired.verdict, Verdict::kFaster);
}

TEST_F(RewrittenNodes, OfTwoSubgraphsRaceInBoth) {
  graph_ = two_subgraphs_with_one_pair();
  tune_operators_before();
  const TuneOutcome outcome = tune();
  EXPECT_EQ(outcome.state, TuningState::kSuccessful);
  EXPECT_EQ(outcome.tasks, 2);
  EXPECT_EQ(chains().size(), 3u);
  for (const bank::BankEntry& chain : chains()) EXPECT_TRUE(chain.set.has_winner());
  EXPECT_EQ(tuned_om(), compiled_om());
}

/// The block that the others have, and nothing else that could be tuned, in the body of a loop.
TEST_F(RewrittenNodes, WinInTheBodyOfALoop) {
  graph_ = aoe::tests::import_text(R"(
    g (int64 n, bool c, float[1,32,80,80] x) => (float[1,32,80,80] y)
      <float[32,1,3,3] w, float[32,32,1,1] v> {
        y = Loop (n, c, x) <body = b (int64 i, bool go, float[1,32,80,80] s)
            => (bool on, float[1,32,80,80] u) {
          on = Identity (go)
          a = Conv <group = 32, pads = [1,1,1,1]> (s, w)
          u = Conv (a, v) }>
      })");
  tune_operators_before();
  const TuneOutcome outcome = tune();
  EXPECT_EQ(outcome.state, TuningState::kSuccessful);
  EXPECT_EQ(outcome.tasks, 1);
  ASSERT_EQ(outcome.gains.size(), 1u);
  EXPECT_TRUE(outcome.gains[0].op_name.find('/') != std::string::npos) << outcome.gains[0].op_name;
  EXPECT_EQ(outcome.model.value().paired.verdict, Verdict::kFaster);
  ASSERT_EQ(chains().size(), 1u);
  EXPECT_TRUE(chains()[0].set.has_winner());
  const auto plans = bank("graph").entries();
  ASSERT_EQ(plans.size(), 1u);
  EXPECT_TRUE(plans[0].set.has_winner());
  EXPECT_NE(plans[0].set.strategies.front().rewrite.find("fuse_chain"), std::string::npos);
  EXPECT_EQ(tuned_om(), compiled_om()) << "atc finds in bodies what was learned there";
  const runtime::Om om = runtime::Om::load(options_.tuned_om_path);
  bool has_chain = false;
  runtime::for_each_om(om, [&](const runtime::Om& body, const std::string& path) {
    for (const runtime::OmStep& step : body.steps)
      has_chain |= !path.empty() && std::ranges::count(step.op_types, "Conv2D") == 2;
  });
  EXPECT_TRUE(has_chain);
  EXPECT_EQ(tune().trials, 0) << "it is known now";
}

TEST_F(RewrittenNodes, AreLeftAloneWithoutTrials) {
  tune_operators_before();
  options_.policy.search.schedule_trials = 0;
  const TuneOutcome outcome = tune();
  EXPECT_EQ(outcome.state, TuningState::kSuccessful);
  EXPECT_EQ(machine_.measured, 0);
  EXPECT_TRUE(chains().empty());
}

TEST_F(RewrittenNodes, ThatAreSlowerInTheirSubgraphKeepTheirSchedule) {
  tune_operators_before();
  machine_.heuristic = 0.95;
  machine_.better_inside = 1.2;
  const TuneOutcome outcome = tune();
  EXPECT_GT(machine_.measured, 0);
  EXPECT_TRUE(chains().empty());
  EXPECT_DOUBLE_EQ(outcome.model->after_ms(), 2 * kOpNs * machine_.heuristic / 1e6)
      << "the chain itself wins";
  EXPECT_EQ(tuned_om(), compiled_om());
}

TEST_F(RewrittenNodes, AreNotSearchedBeyondTheTrialsOfTheRun) {
  tune_operators_before();
  const std::int64_t all = tune().trials;
  ASSERT_GT(all, machine_.measured);
  const std::int64_t plans = all - machine_.measured;
  for (const char* kind : {"graph", "op"}) fs::remove_all(directory_ / kind);
  tune_operators_before();
  options_.max_trials = plans + 5;
  EXPECT_EQ(tune().trials, options_.max_trials);
  EXPECT_EQ(machine_.measured, 5);
}

TEST_F(RewrittenNodes, AStoppedSearchKeepsItsMeasurementsAndIsResumed) {
  tune_operators_before();
  machine_.stop_after = 5;
  EXPECT_EQ(tune().state, TuningState::kIncomplete);
  EXPECT_EQ(machine_.measured, 5);
  EXPECT_TRUE(chains().empty());
  EXPECT_TRUE(bank("graph").entries().empty());
  const std::set<std::string> before = std::exchange(machine_.names, {});
  ASSERT_EQ(before.size(), 5u);
  machine_.stop = {};
  machine_.stop_after = 0;
  options_.reload = true;
  EXPECT_EQ(tune().state, TuningState::kSuccessful);
  ASSERT_EQ(chains().size(), 1u);
  EXPECT_TRUE(chains()[0].set.has_winner());
  EXPECT_FALSE(machine_.names.empty());
  for (const std::string& name : machine_.names) EXPECT_FALSE(before.contains(name)) << name;
}

}  // namespace
}  // namespace aoe::tuner
