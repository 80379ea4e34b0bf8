// Plans from the subgraph's om to the measurer, which is a formula.
#include "tuner/session/plan_bench.h"

#include <gtest/gtest.h>

#include <map>

#include "tests/graph/model_text.h"
#include "tests/temp_dir.h"
#include "tests/tuner/fakes.h"

namespace aoe::tuner {
namespace {

/// Counts races; what comes second takes half the time.
class RaceCounter final : public Measurer {
 public:
  void set_weights_in(WeightsIn) override {}
  std::vector<Timing> measure(const compiler::Task&, std::span<const compiler::Candidate> list,
                              double) override {
    return failures(list.size());
  }
  std::vector<Timing> race(const compiler::Task&,
                           std::span<const compiler::Candidate> list) override {
    return failures(list.size());
  }
  std::vector<Timing> race_subgraphs(const std::filesystem::path&,
                                     std::span<const std::filesystem::path> oms) override {
    ++races;
    std::vector<Timing> timings;
    for (std::size_t i = 0; i < oms.size(); ++i)
      timings.push_back({.samples_ns = {i == 0 ? 200.0 : 100.0}});
    return timings;
  }
  Result<std::vector<ModelTiming>> run_models(std::span<const std::filesystem::path>) override {
    return Unexpected("no models here");
  }
  int races = 0;

 private:
  static std::vector<Timing> failures(std::size_t count) {
    return std::vector<Timing>(count, Timing::failure(Outcome::kCompileError, "no ops here"));
  }
};

graph::RewritePlan keep(Format format) {
  return {{{"keep_format", 1, {0, 1, 2}, {{"format", static_cast<std::int64_t>(format)}}}}};
}

TEST(PlanBench, TimesNoPlanThatChangesNothing) {
  // A row of ops that are fastest in ND, where its input and output are, too.
  const graph::Graph graph = aoe::tests::import_text(R"(
      g (float[1,16,5,5] x) => (float[1,16,5,5] y) {
    a = Relu (x)
    b = Sigmoid (a)
    y = Tanh (b)
  })");
  const aoe::tests::TempDir directory;
  TuneOptions options{.soc = tests::fake_soc(), .work_directory = directory.path()};
  const auto tasks = collect_subgraphs(
      graph, options.soc, {graph, std::vector<double>(graph.nodes.size(), 1e6), options.soc});
  ASSERT_EQ(tasks.size(), 1u);
  RaceCounter measurer;
  PlanBench bench(tasks[0], {graph, {.soc = options.soc}, "", options}, measurer, {});
  ASSERT_TRUE(bench.prepare());
  const PlanTrial same = bench.measure(keep(Format::kND));
  EXPECT_FALSE(same.ok);
  EXPECT_EQ(same.cause, "compiles to what is there already");
  EXPECT_EQ(measurer.races, 0);
  const PlanTrial other = bench.measure(keep(Format::kNHWC));
  EXPECT_TRUE(other.ok) << other.cause;
  EXPECT_EQ(other.ratio(), 0.5);
  EXPECT_EQ(measurer.races, 1);
  EXPECT_EQ(bench.measured(), 1);
  EXPECT_EQ(bench.take_records().size(), 1u);
}

TEST(PlanBench, AFullDiskIsNoPlansFault) {
  const graph::Graph graph = aoe::tests::import_text(R"(
      g (float[1,16,5,5] x) => (float[1,16,5,5] y) {
    a = Relu (x)
    b = Sigmoid (a)
    y = Tanh (b)
  })");
  const aoe::tests::TempDir directory;
  TuneOptions options{.soc = tests::fake_soc(), .work_directory = directory.path()};
  const auto tasks = collect_subgraphs(
      graph, options.soc, {graph, std::vector<double>(graph.nodes.size(), 1e6), options.soc});
  ASSERT_EQ(tasks.size(), 1u);
  RaceCounter measurer;
  PlanBench bench(tasks[0], {graph, {.soc = options.soc}, "", options}, measurer, {});
  ASSERT_TRUE(bench.prepare());
  std::filesystem::remove_all(directory.path());
  EXPECT_THROW(bench.measure(keep(Format::kNHWC)), Error);
  EXPECT_TRUE(
      bench.take_records().empty());  // a bank would say of the plan that it does not compile
  EXPECT_THROW((void)bench.prepare(), Error);
}

/// Knows every op in ND and, a little faster, in NHWC.
class TwoFormats final : public bank::StrategySource {
 public:
  TwoFormats(const graph::Graph& graph, const compiler::Soc& soc) {
    for (const graph::NodeId id : graph.topological_order()) {
      const compiler::Task task = compiler::task_of(graph, id);
      for (const compiler::Candidate& candidate : compiler::default_candidates(task, soc)) {
        const std::string& format = candidate.format.name;
        if (format != "ND" && format != "NHWC") continue;
        bank::Strategy strategy = compiler::strategy_of(candidate);
        strategy.measured.time_ns = format == "ND" ? 100 : 99;
        sets_[compiler::key_of(task, soc).description].strategies.push_back(strategy);
      }
    }
  }
  std::optional<bank::StrategySet> find(const bank::TaskKey& key) const override {
    const auto known = sets_.find(key.description);
    return known == sets_.end() ? std::nullopt : std::optional(known->second);
  }
  std::string description() const override { return "two Formats"; }

 private:
  std::map<std::string, bank::StrategySet> sets_;
};

TEST(PlanBench, ConversionsThatItDoesNotTimeDoNotDecide) {
  const graph::Graph graph = aoe::tests::import_text(R"(
      g (float[1,64,30,30] x) => (float[1,64,30,30] y) {
    i = Softmax (x)
    a = Relu (i)
    b = Sigmoid (a)
    c = Tanh (b)
    y = Softmax (c)
  })");
  const aoe::tests::TempDir directory;
  TuneOptions options{.soc = tests::fake_soc(), .work_directory = directory.path()};
  const TwoFormats bank(graph, options.soc);
  const auto tasks = collect_subgraphs(
      graph, options.soc, {graph, std::vector<double>(graph.nodes.size(), 1e6), options.soc});
  ASSERT_EQ(tasks.size(), 1u);
  ASSERT_EQ(tasks[0].instances[0].form.order, (std::vector<graph::NodeId>{1, 2, 3}));
  RaceCounter measurer;
  PlanBench bench(tasks[0], {graph, {.soc = options.soc, .strategies = &bank}, "", options},
                  measurer, {});
  ASSERT_TRUE(bench.prepare());
  // The faster ops are chosen although an om of its own has to convert its input and output.
  bench.measure(keep(Format::kNHWC));
  EXPECT_EQ(measurer.races, 0);
  bench.measure(keep(Format::kND));
  EXPECT_EQ(measurer.races, 1);
}

}  // namespace
}  // namespace aoe::tuner
