// What stands in the summaries' cells, and that they agree with the timeline.
#include <cmath>

#include "base/json_text.h"
#include "profiler/export/timeline.h"
#include "tests/profiler/exported_tables.h"
#include "tests/temp_dir.h"

namespace aoe::profiler::tests {
namespace {
using aoe::tests::TempDir;
using nlohmann::json;

std::int64_t ns_of(const std::string& us) {
  return std::llround(std::stod(us) * 1000);
}

TEST(OpSummary, SaysWhenWhatAndHowLong) {
  TempDir dir;
  SyntheticProfile raw(dir.path(), Generation::kProf);
  fill_with_runs(raw, 2, 3);
  const ExportedTables tables = export_tables(raw);
  ASSERT_EQ(tables.rows("op_summary").size(), 7u);
  const auto cell = [&](const char* column) { return tables.cell("op_summary", 2, column); };
  EXPECT_EQ(cell("Device_id"), "0");
  EXPECT_EQ(cell("Model Name"), "resnet");
  EXPECT_EQ(cell("Op Name"), "conv1");
  EXPECT_EQ(cell("Infer ID"), "1");
  EXPECT_EQ(cell("Task Start Time(us)"), "1000004.001");
  EXPECT_EQ(cell("Task Duration(us)"), "3.001");
  EXPECT_EQ(cell("Task Wait Time(us)"), "0.500");
  EXPECT_EQ(cell("Block Num"), "2");
  EXPECT_EQ(cell("Input Shapes"), "1,64,56,56;64,64,3,3");
  EXPECT_EQ(cell("aicore_time(us)"), "3.001");
  EXPECT_EQ(cell("Strategy"), "bank");
  EXPECT_EQ(tables.cell("op_summary", 1, "Task Wait Time(us)"), "0.000");
}

TEST(OpSummary, ReadsNaForWhatNobodyCounted) {
  TempDir dir;
  SyntheticProfile raw(dir.path(), Generation::kProf);
  fill_with_runs(raw, 1, 1);
  const ExportedTables tables = export_tables(raw);
  for (const char* column : {"total_cycles", "aiv_time(us)", "vec_ratio", "mac_ratio",
                             "memory_bound", "cube_utilization(%)", "OP State", "Context ID"})
    EXPECT_EQ(tables.cell("op_summary", 1, column), "N/A") << column;
}

TEST(OpSummary, DerivesMetricsFromTheCountersOfEachTask) {
  TempDir dir;
  const json counters = {{{"name", "cycles"}, {"event", "a"}},
                         {{"name", "stalled_cycles_backend"}, {"event", "b"}}};
  SyntheticProfile raw(dir.path(), Generation::kProf, {{"counters", counters}},
                       {{"aic_metrics", "ResourceConflictRatio"}});
  raw.model(synthetic_model({synthetic_op("a", "Relu", {{1}}, {{1}})}));
  raw.task(0, run_and_model(1, 1), 1000, 2000);
  raw.task(0, run_and_model(2, 1), 3000, 4000);
  raw.task(0, run_and_model(3, 1), 5000, 6000);
  raw.counters(0, run_and_model(1, 1), 1000, {4000, 1000});
  raw.counters(0, run_and_model(3, 1), 5000, {0, 7});
  const ExportedTables tables = export_tables(raw);
  EXPECT_EQ(tables.cell("op_summary", 1, "vec_resc_cflt_ratio"), "0.250");
  EXPECT_EQ(tables.cell("op_summary", 1, "total_cycles"), "4000");
  EXPECT_EQ(tables.cell("op_summary", 2, "vec_resc_cflt_ratio"), "N/A");
  EXPECT_EQ(tables.cell("op_summary", 2, "total_cycles"), "N/A");
  EXPECT_EQ(tables.cell("op_summary", 3, "vec_resc_cflt_ratio"), "N/A");
}

TEST(OpSummary, AgreesWithTheTimelineToTheNanosecond) {
  TempDir dir;
  SyntheticProfile raw(dir.path(), Generation::kProf);
  json ops = json::array();
  for (int i = 0; i < 5; ++i)
    ops.push_back(synthetic_op("op" + std::to_string(i), "Relu", {{1}}, {{1}}));
  raw.model(synthetic_model(ops));
  std::uint64_t random = 12345;  // any durations, none a whole microsecond
  std::int64_t now_ns = 987'654'321'012'345;
  std::map<std::string, std::int64_t> wanted_ns;
  for (std::uint32_t run = 1; run <= 200; ++run)
    for (std::uint32_t op = 0; op < 5; ++op) {
      random = random * 6364136223846793005u + 1442695040888963407u;
      const auto duration_ns = static_cast<std::int64_t>(random >> 40 | 1);
      raw.task(op, run_and_model(run, 1), now_ns, now_ns + duration_ns);
      wanted_ns["op" + std::to_string(op)] += duration_ns;
      now_ns += duration_ns + static_cast<std::int64_t>(random >> 50);
    }
  const ExportedTables tables = export_tables(raw);
  std::map<std::string, std::int64_t> summary_ns, timeline_ns;
  const auto rows = tables.rows("op_summary");
  for (std::size_t i = 1; i < rows.size(); ++i) summary_ns[rows[i][6]] += ns_of(rows[i][11]);
  const Database profile(import_raw(raw.directory()).database);
  const auto files = export_timelines(profile, raw.directory() / "out", "t", {});
  for (const json& event : parse_json(read_file(files.front(), ExitCode::kFailure)))
    if (event["ph"] == "X" && event.contains("args") && event["args"].contains("Task Id"))
      timeline_ns[event["name"]] += std::llround(event["dur"].get<double>() * 1000);
  EXPECT_EQ(summary_ns, wanted_ns);
  EXPECT_EQ(timeline_ns, wanted_ns);
}

TEST(OpStatistic, SumsByType) {
  TempDir dir;
  SyntheticProfile raw(dir.path(), Generation::kProf);
  raw.model(synthetic_model({synthetic_op("a", "Conv2D", {{1}}, {{1}}),
                             synthetic_op("b", "Relu", {{1}}, {{1}}),
                             synthetic_op("c", "Conv2D", {{1}}, {{1}})}));
  raw.task(0, run_and_model(1, 1), 0, 4000);
  raw.task(1, run_and_model(1, 1), 4000, 6000);
  raw.task(2, run_and_model(1, 1), 6000, 8000);
  const ExportedTables tables = export_tables(raw);
  EXPECT_EQ(tables.rows("op_statistic")[1],
            (std::vector<std::string>{"0", "Conv2D", "AI_CORE", "2", "6.000", "2.000", "3.000",
                                      "4.000", "75.000"}));
  EXPECT_EQ(tables.rows("op_statistic")[2],
            (std::vector<std::string>{"0", "Relu", "AI_CORE", "1", "2.000", "2.000", "2.000",
                                      "2.000", "25.000"}));
}

TEST(ApiStatistic, HasTheVarianceOfThePopulation) {
  TempDir dir;
  SyntheticProfile raw(dir.path(), Generation::kProf);
  raw.api("aclrtMalloc", 0, 2000, 0, 5000);
  raw.api("aclrtMalloc", 3000, 7000, 0, 5000);  // 2 and 4 us: mean 3, variance 1
  const ExportedTables tables = export_tables(raw);
  EXPECT_EQ(tables.rows("api_statistic")[1],
            (std::vector<std::string>{"host", "runtime", "aclrtMalloc", "6.000", "2", "3.000",
                                      "2.000", "4.000", "1.000"}));
}

TEST(OperatorMemory, FollowsABlockToItsRelease) {
  TempDir dir;
  SyntheticProfile raw(dir.path(), Generation::kProf);
  raw.memory("arena resnet", 2048, 1000, 1000);
  raw.memory("arena bert", 1024, 2000, 2000);
  raw.memory("arena resnet", 2048, 1000, 5000);
  const ExportedTables tables = export_tables(raw);
  EXPECT_EQ(tables.rows("operator_memory")[1],
            (std::vector<std::string>{"0", "arena resnet", "2.000", "1.000", "4.000", "2.000",
                                      "2.000", "1.000", "1.000", "NPU:0"}));
  EXPECT_EQ(tables.rows("operator_memory")[2],
            (std::vector<std::string>{"0", "arena bert", "1.000", "2.000", "N/A", "3.000", "3.000",
                                      "N/A", "N/A", "NPU:0"}));
}

TEST(JobOpSummary, JoinsFusedLayersAndCountsPicturesAndMisses) {
  TempDir dir;
  const nlohmann::json counters = {{{"name", "l1i_misses"}, {"event", "e"}},
                                   {{"name", "instructions"}, {"event", "e"}}};
  SyntheticProfile raw(dir.path(), Generation::kJob, {{"counters", counters}});
  nlohmann::json fused = synthetic_op("conv", "Conv2D+Relu", {{4, 8}}, {{4, 8}});
  fused["original_ops"] = {"conv", "relu"};
  raw.model(synthetic_model(nlohmann::json::array({fused})));
  for (const std::uint32_t run : {2u, 4u}) {  // every second one is sampled
    raw.step(run_and_model(run, 1), run * 1000, run * 1000 + 900);
    raw.task(0, run_and_model(run, 1), run * 1000 + 100, run * 1000 + 800);
    raw.counters(0, run_and_model(run, 1), run * 1000 + 100, {3, 1000});
  }
  const ExportedTables tables = export_tables(raw);
  // Four pictures a run: 16 went in, 8 were sampled; 6 misses in 2000 instructions.
  std::string names;
  for (const auto& [name, text] : tables.texts) names += name + " ";
  ASSERT_TRUE(tables.has("op_summary_0.resnet.1.4.16.8.0.003000.NA.csv")) << names;
  EXPECT_EQ(tables.cell("op_summary", 1, "Layer Name"), "conv+relu");
}

TEST(JobOpSummary, AveragesLayersAndAddsATotal) {
  TempDir dir;
  SyntheticProfile raw(dir.path(), Generation::kJob);
  fill_with_runs(raw, 10, 2);
  const ExportedTables tables = export_tables(raw);
  const auto rows = tables.rows("op_summary");
  ASSERT_EQ(rows.size(), 4u);
  EXPECT_EQ(tables.cell("op_summary", 1, "Time(us)"), "3.001");
  EXPECT_EQ(tables.cell("op_summary", 1, "Time Ratio"), "0.500000");
  EXPECT_EQ(rows[3][0], "-");
  EXPECT_EQ(rows[3][3], "-");
  EXPECT_EQ(tables.cell("op_summary", 3, "Time(us)"), "6.002");
}

TEST(Summaries, AreCutIntoSlices) {
  TempDir dir;
  SyntheticProfile raw(dir.path(), Generation::kProf);
  fill_with_runs(raw, 5, 5);
  const ExportedTables tables = export_tables(raw, {.rows_per_file = 10});
  EXPECT_EQ(tables.rows("task_time_slice_0_20261121101112.csv").size(), 11u);
  EXPECT_EQ(tables.rows("task_time_slice_1_20261121101112.csv").size(), 11u);
  EXPECT_EQ(tables.rows("task_time_slice_2_20261121101112.csv").size(), 6u);
  EXPECT_FALSE(tables.has("task_time_2026"));
  EXPECT_TRUE(tables.has("op_statistic_20261121101112.csv"));
}

TEST(Summaries, ThatHoldExactlyOneSliceAreNotCut) {
  TempDir dir;
  SyntheticProfile raw(dir.path(), Generation::kProf);
  fill_with_runs(raw, 5, 2);
  EXPECT_EQ(export_tables(raw, {.rows_per_file = 10}).rows("task_time_2026").size(), 11u);
}

TEST(Summaries, AsJsonHoldTheSame) {
  TempDir dir;
  SyntheticProfile raw(dir.path(), Generation::kProf);
  fill_with_runs(raw, 2, 2);
  const ExportedTables tables = export_tables(raw, {.format = SummaryFormat::kJson});
  const json rows = parse_json(tables.texts.at("op_summary_20261121101112.json"));
  ASSERT_EQ(rows.size(), 4u);
  EXPECT_EQ(rows[0]["Op Name"], "conv0");
  EXPECT_EQ(rows[0]["Task Duration(us)"], 3.001);
  EXPECT_EQ(rows[0]["total_cycles"], "N/A");
}

TEST(Summaries, OfAnIterationHoldNoOther) {
  TempDir dir;
  SyntheticProfile raw(dir.path(), Generation::kProf);
  fill_with_runs(raw, 4, 3);
  raw.flush();
  const Database profile(import_raw(raw.directory()).database);
  const ExportedTables tables =
      export_tables(raw, {.selection = {.iteration = profile.iteration(1, 2)}});
  EXPECT_EQ(tables.rows("op_summary").size(), 4u);
  EXPECT_EQ(tables.cell("op_summary", 1, "Infer ID"), "2");
  EXPECT_EQ(tables.rows("step_trace").size(), 2u);
}

}  // namespace
}  // namespace aoe::profiler::tests
