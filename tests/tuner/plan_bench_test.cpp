// Plans from the subgraph's om to the measurer, which is a formula.
#include "tuner/plan_bench.h"

#include <gtest/gtest.h>

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
  const auto tasks = collect_subgraphs(graph, options.soc, [](const graph::Node&) { return 1e6; });
  ASSERT_EQ(tasks.size(), 1u);
  RaceCounter measurer;
  PlanBench bench(tasks[0], {graph, {.soc = options.soc}, "", options}, measurer, {});
  ASSERT_TRUE(bench.prepare());
  const auto keep = [&](Format format) {
    return bench.measure(
        {{{"keep_format", 1, {0, 1, 2}, {{"format", static_cast<std::int64_t>(format)}}}}});
  };
  const PlanTrial same = keep(Format::kND);
  EXPECT_FALSE(same.ok);
  EXPECT_EQ(same.cause, "compiles to what is there already");
  EXPECT_EQ(measurer.races, 0);
  const PlanTrial other = keep(Format::kNHWC);
  EXPECT_TRUE(other.ok) << other.cause;
  EXPECT_EQ(other.ratio(), 0.5);
  EXPECT_EQ(measurer.races, 1);
  EXPECT_EQ(bench.measured(), 1);
  EXPECT_EQ(bench.take_records().size(), 1u);
}

}  // namespace
}  // namespace aoe::tuner
