// Each rule on a profile that has the fault, and on one that has not.
#include "profiler/advice/advice.h"

#include <nlohmann/json.hpp>

#include "base/json_text.h"
#include "tests/profiler/exported_tables.h"
#include "tests/temp_dir.h"

namespace aoe::profiler::tests {
namespace {
using nlohmann::json;

struct Op {
  json description;
  std::int64_t duration_ns;
};

/// Runs of these ops, one after the other, `gap_ns` apart.
struct Scene {
  std::vector<Op> ops;
  std::int64_t gap_ns = 10;
  int runs = 1;
  std::int64_t outlier_ns = 0;      ///< > 0: what the last op takes in the first run
  std::int64_t first_gap_ns = 0;    ///< more between the ops of the first run
  json model;                       ///< fields that differ from synthetic_model()'s
  std::vector<double> process_cpu;  ///< samples during the execution
};

std::vector<Finding> findings_of(const Scene& scene) {
  const aoe::tests::TempDir dir;
  SyntheticProfile raw(dir.path(), Generation::kProf);
  json table = json::array();
  for (const Op& op : scene.ops) table.push_back(op.description);
  json model = synthetic_model(table);
  if (scene.model.is_object()) model.update(scene.model);
  raw.model(model);
  std::int64_t now_ns = 1000;
  for (int run = 1; run <= scene.runs; ++run) {
    const std::int64_t begin_ns = now_ns;
    for (std::uint32_t op = 0; op < scene.ops.size(); ++op) {
      const bool is_outlier = scene.outlier_ns > 0 && run == 1 && op + 1 == scene.ops.size();
      const std::int64_t ns = is_outlier ? scene.outlier_ns : scene.ops[op].duration_ns;
      raw.task(op, run_and_model(static_cast<std::uint32_t>(run), 1), now_ns, now_ns + ns);
      now_ns += ns + scene.gap_ns + (run == 1 ? scene.first_gap_ns : 0);
    }
    raw.step(run_and_model(static_cast<std::uint32_t>(run), 1), begin_ns, now_ns);
  }
  for (const double value : scene.process_cpu) raw.sample("process cpu (%)", 1001, value);
  raw.flush();
  return advise(Database(import_raw(raw.directory()).database));
}

std::optional<Finding> finding(const Scene& scene, const std::string& rule) {
  for (const Finding& finding : findings_of(scene))
    if (finding.rule == rule) return finding;
  return std::nullopt;
}

json op(const std::string& name, const std::string& type, const json& changes = {}) {
  json description = synthetic_op(name, type, {{1, 8}}, {{1, 8}});
  if (changes.is_object()) description.update(changes);
  return description;
}

/// Nothing to be said about it.
Scene healthy() {
  return {.ops = {{op("a", "Conv2D"), 1000}, {op("b", "MatMulV2"), 1000}, {op("c", "Relu"), 10}}};
}

std::string column(const Finding& finding, std::size_t row, const std::string& name) {
  const Evidence& evidence = finding.diagnosis.evidence;
  for (std::size_t i = 0; i < evidence.columns.size(); ++i)
    if (evidence.columns[i] == name) return evidence.rows.at(row).at(i);
  return "no column " + name;
}

TEST(Advice, IsSilentAboutAHealthyProfile) {
  for (const Finding& found : findings_of(healthy()))
    ADD_FAILURE() << found.rule << ": " << found.diagnosis.description;
}

TEST(Advice, OneOutlierSaysNothingAboutAnOp) {
  Scene scene = healthy();
  scene.runs = 5;
  scene.outlier_ns = 24'000'000;
  EXPECT_FALSE(finding(scene, "dominating_type"));
  scene.ops.back().duration_ns = 24'000'000;
  EXPECT_TRUE(finding(scene, "dominating_type")) << "it always takes so long";
}

TEST(Advice, HasTheRulesOfTheManual) {
  std::vector<std::string> names;
  const RuleRegistry registry;
  for (const Rule& rule : registry.rules()) names.push_back(rule.name);
  EXPECT_EQ(names, (std::vector<std::string>{"dominating_type", "idle_threads",
                                             "layout_conversions", "memory_bound_neighbour",
                                             "no_strategy", "reference_path", "time_not_in_ops"}));
}

TEST(Advice, SeesTimeThatIsNotInOps) {
  Scene scene = healthy();
  scene.gap_ns = 400;
  const auto found = finding(scene, "time_not_in_ops");
  ASSERT_TRUE(found);
  // 2010 ns of ops in 3210 ns.
  EXPECT_EQ(column(*found, 0, "Not In Ops"), "37.4%");
  EXPECT_EQ(column(*found, 0, "In Ops(us)"), "2.010");
}

TEST(Advice, TheFirstExecutionFindsItsMemoryAndIsNoRule) {
  Scene scene = healthy();
  scene.runs = 5;
  scene.first_gap_ns = 24'000'000;
  EXPECT_FALSE(finding(scene, "time_not_in_ops"));
}

TEST(Advice, SeesADominatingType) {
  Scene scene = healthy();
  scene.ops[0].duration_ns = 3000;
  const auto found = finding(scene, "dominating_type");
  ASSERT_TRUE(found);
  EXPECT_EQ(column(*found, 0, "Op Name"), "a");
  EXPECT_NE(found->diagnosis.description.find("Conv2D takes 74.8%"), std::string::npos)
      << found->diagnosis.description;
}

TEST(Advice, SeesLayoutConversions) {
  Scene scene = healthy();
  scene.ops.push_back({op("t", "TransData"), 200});
  const auto found = finding(scene, "layout_conversions");
  ASSERT_TRUE(found);
  EXPECT_EQ(column(*found, 0, "Ratio"), "9.0%");
  EXPECT_NE(found->diagnosis.suggestion.find("aoe --framework=5 --model=resnet.onnx --job_type=2"),
            std::string::npos);
}

TEST(Advice, SeesAMemoryBoundOpWithAFusableNeighbour) {
  Scene scene = healthy();
  // 8 KB at 20 GB/s take 410 ns, 1000 operations at 100 GFLOPS 10 ns.
  const json reads_a = json::array({{{"name", "a_out0"}, {"shape", {1, 8}}, {"dtype", "FLOAT"}}});
  scene.ops[2] = {
      op("c", "Relu+Sin",
         {{"inputs", reads_a}, {"flops", 1000}, {"read_bytes", 4096}, {"write_bytes", 4096}}),
      500};
  const auto found = finding(scene, "memory_bound_neighbour");
  ASSERT_TRUE(found);
  EXPECT_EQ(column(*found, 0, "Op Name"), "c");
  EXPECT_EQ(column(*found, 0, "Fusable With"), "a");
  // A second reader of the tensor would still need it.
  scene.ops.push_back({op("d", "Conv2D", {{"inputs", reads_a}}), 10});
  EXPECT_FALSE(finding(scene, "memory_bound_neighbour"));
}

TEST(Advice, SeesOpsOnTheReferencePath) {
  Scene scene = healthy();
  scene.ops.push_back({op("topk", "TopK", {{"task_type", "AI_CPU"}}), 100});
  const auto found = finding(scene, "reference_path");
  ASSERT_TRUE(found);
  EXPECT_EQ(column(*found, 0, "OP Type"), "TopK");
}

TEST(Advice, SeesThreadsThatAreIdle) {
  Scene busy = healthy();
  busy.process_cpu = {190, 200};
  EXPECT_FALSE(finding(busy, "idle_threads"));
  Scene idle = healthy();
  idle.process_cpu = {100, 80};  // 0.9 of 2 threads
  const auto found = finding(idle, "idle_threads");
  ASSERT_TRUE(found);
  EXPECT_EQ(column(*found, 0, "Cores Busy"), "0.9");
  EXPECT_EQ(found->view, AdviceView::kOpParallel);
}

TEST(Advice, SeesCoresThatAModelDoesNotUse) {
  Scene scene = healthy();
  scene.model = {{"threads", 1}};
  const auto found = finding(scene, "idle_threads");
  ASSERT_TRUE(found);
  EXPECT_NE(found->diagnosis.description.find("1 of 2 cores"), std::string::npos);
}

TEST(Advice, SeesOpsWithoutAStrategyAndNamesTheCommand) {
  Scene scene = healthy();
  scene.ops[1].description["strategy"] = "default";
  const auto found = finding(scene, "no_strategy");
  ASSERT_TRUE(found);
  EXPECT_EQ(column(*found, 0, "Repo Key"), "12345678901234567890");
  EXPECT_NE(found->diagnosis.suggestion.find("aoe --framework=5 --model=resnet.onnx --job_type=2"),
            std::string::npos);
}

TEST(Advice, OpsInPartsAreTunedWithTheirSizes) {
  Scene scene = healthy();
  scene.ops[1].description["strategy"] = "default";
  scene.ops.push_back(
      {op("parts", "MapSlices", {{"impl", "control"}, {"strategy", "default"}}), 1000});
  const auto found = finding(scene, "no_strategy");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->diagnosis.evidence.rows.size(), 1U) << "parts are tuned, not what runs them";
  EXPECT_NE(found->diagnosis.suggestion.find("--job_type=2 --input_shape="), std::string::npos)
      << found->diagnosis.suggestion;
}

TEST(Advice, IsWrittenByView) {
  Scene scene = healthy();
  scene.gap_ns = 400;
  scene.ops.push_back({op("topk", "TopK", {{"task_type", "AI_CPU"}}), 100});
  const aoe::tests::TempDir dir;
  const std::filesystem::path path = dir.path() / "prof_rule_0.json";
  write_advice(findings_of(scene), path);
  const json file = parse_json(read_file(path, ExitCode::kFailure));
  ASSERT_EQ(file["data"]["Op Summary"].size(), 1u);
  const json& entry = file["data"]["Op Summary"][0];
  EXPECT_EQ(entry["Rule Type"], "Operator Schedule");
  EXPECT_EQ(entry["Rule Subtype"], "AI CPU Ops");
  EXPECT_EQ(entry["Tuning Data"][0]["Op Name"], "topk");
  EXPECT_EQ(file["data"]["Model Summary"].size(), 1u);
  EXPECT_TRUE(file["data"]["Op Parallel"].empty());
}

}  // namespace
}  // namespace aoe::profiler::tests
