// The result file: documented numbers, names, order and identities.
#include "tuner/result/aoe_result.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/json_text.h"
#include "tests/temp_dir.h"

namespace aoe::tuner {
namespace {
using nlohmann::json;

TEST(ImprovementPercent, GivesTheDocumentedExamples) {
  const struct Case {
    double before;
    double after;
    const char* printed;
  } cases[] = {
      {113.588725, 113.236731, "0.31%"},
      {134, 99, "35.35%"},
      {72.055, 72.046, "0.01%"},
      {5.600486, 3.610442, "55.11%"},
      {5.58434, 3.573203, "56.28%"},
      {4.58434, 2.573203, "78.15%"},
      {100, 100, "0.00%"},
      {100, 100.00001, "0.00%"},
      {99, 100, "-1.00%"},
      {5, 0, "0.00%"},
  };
  for (const Case& c : cases)
    EXPECT_EQ(improvement_percent(c.before, c.after), c.printed) << c.before;
}

TEST(RepoSummary, KeepsTheIdentities) {
  const RepoSummary s{.add = 19, .update = 2, .reserved = 15, .unsatisfied = 4};
  EXPECT_EQ(s.hit(), 17);
  EXPECT_EQ(s.total(), s.add + s.hit() + s.unsatisfied);
}

/// `after`: the median and its interval.
ModelVerdict model_verdict(double before_ms, const std::array<double, 3>& after_ms,
                           Verdict verdict) {
  return {.before_ms = before_ms,
          .before_interval_ms = {before_ms - 0.2, before_ms + 0.3},
          .paired = {.speedup = before_ms / after_ms[0],
                     .low = before_ms / after_ms[2],
                     .high = before_ms / after_ms[1],
                     .verdict = verdict},
          .pairs = 24};
}

AoeResult example() {
  AoeResult result;
  result.tuning_name = "resnet50";
  result.tuning_time_s = 187.4216;
  result.soc_version = "x86_64-znver5-2t";
  result.threads = 2;
  result.trials = 1234;
  result.state = TuningState::kSuccessful;
  OperatorResult& operators = result.operators.emplace();
  operators.baseline_ms = 113.5887251;
  operators.model = model_verdict(113.5887251, {113.2367308, 113.1, 113.4}, Verdict::kFaster);
  operators.modified = {{"softmax", {"SoftmaxV2"}, {{"Format", 134, 99, false}}},
                        {"Conv_125",
                         {"Conv2D", "Relu"},
                         {{"Impl", 80.5, 72.055, true}, {"Schedule", 72.055, 72.046, true}}}};
  operators.summary = {.add = 1, .update = 1, .reserved = 3, .unsatisfied = 2, .not_searched = 5};
  result.ended_by = RunEnd::kSearchLimit;
  return result;
}

/// AOE_UPDATE_GOLDEN=1 rewrites the file; review the difference.
TEST(AoeResult, LooksAsDocumented) {
  const std::filesystem::path golden =
      std::filesystem::path(AOE_TEST_DIR) / "golden/aoe_result.json";
  const std::string text = json_text(to_json(example()), 4) + "\n";
  if (std::getenv("AOE_UPDATE_GOLDEN") != nullptr) write_file_atomically(golden, text);
  EXPECT_EQ(text, read_file(golden, ExitCode::kData));
}

TEST(AoeResult, LeavesOutWhatAnInterruptedRunDoesNotKnow) {
  AoeResult result = example();
  result.state = TuningState::kIncomplete;
  result.tuning_time_s.reset();
  result.operators->model.reset();
  const json document = parse_json(json_text(to_json(result)));
  EXPECT_FALSE(document[0]["basic"].contains("tuning_time(s)"));
  const json& opat = document[1]["OPAT"];
  EXPECT_EQ(opat["opat_tuning_result"], "tuning incomplete");
  EXPECT_TRUE(opat.contains("model_baseline_performance(ms)"));
  EXPECT_FALSE(opat.contains("model_result_performance(ms)"));
  EXPECT_FALSE(opat.contains("model_performance_improvement"));
  EXPECT_FALSE(opat.contains("tuning_failed_operators"));
}

TEST(AoeResult, ClaimsNothingThatThePairsDoNotProve) {
  const struct Case {
    Verdict verdict;
    std::array<double, 3> after_ms;
    const char* improvement;
    const char* reason;
  } cases[] = {
      {Verdict::kFaster, {80, 79, 82}, "25.00%", ""},
      {Verdict::kAmbiguous,
       {80, 79, 101},
       "0.00%",
       "the interval of the paired gain decides nothing: -0.99% to 26.58%"},
      {Verdict::kSame,
       {100, 99.8, 100.2},
       "0.00%",
       "the difference is too small to matter: -0.19% to 0.20%"},
      {Verdict::kSame, {100, 100, 100}, "0.00%", "the untuned model is kept"},
  };
  for (const Case& c : cases) {
    AoeResult result = example();
    result.operators->model = model_verdict(100, c.after_ms, c.verdict);
    const json document = parse_json(json_text(to_json(result)));
    const json& opat = document[1]["OPAT"];
    EXPECT_EQ(opat["model_performance_improvement"], c.improvement);
    EXPECT_EQ(opat.value("model_improvement_reason", ""), c.reason);
    EXPECT_NEAR(opat["model_result_performance(ms)"], c.after_ms[0], 1e-6);
    const bool is_kept = std::string_view(c.reason).ends_with("is kept");
    EXPECT_EQ(opat["model_result_interval(ms)"] == opat["model_baseline_interval(ms)"], is_kept);
    EXPECT_EQ(document[0]["basic"]["verdict"], name(c.verdict));
  }
}

TEST(AoeResult, NamesFailedOperatorsOnlyWhenTuningFailed) {
  AoeResult result = example();
  result.state = TuningState::kFailed;
  result.operators->failed = {"conv_7"};
  const json document = parse_json(json_text(to_json(result)));
  EXPECT_EQ(document[1]["OPAT"]["opat_tuning_result"], "tuning failed");
  EXPECT_EQ(document[1]["OPAT"]["tuning_failed_operators"], json({"conv_7"}));
}

TEST(AoeResult, HasNoOpatSectionWithoutTunableOperators) {
  AoeResult result = example();
  result.operators.reset();
  EXPECT_EQ(to_json(result).size(), 1U);
}

TEST(AoeResult, TellsSubgraphsInTheirOwnSection) {
  AoeResult result = example();
  result.operators.reset();
  result.subgraphs.emplace();
  result.subgraphs->model = model_verdict(5.600486, {3.610442, 3.6, 3.7}, Verdict::kFaster);
  result.subgraphs->modified = {
      {.repo_key = "111", .before_ms = 5.58434, .after_ms = 3.573203, .rewrites = "a[0]"},
      {.repo_key = "222", .before_ms = 4.58434, .after_ms = 2.573203, .is_update = true}};
  result.subgraphs->summary = {.add = 1, .update = 1};
  const json document = parse_json(json_text(to_json(result)));
  ASSERT_EQ(document.size(), 2U);
  const json& sgat = document[1]["SGAT"];
  EXPECT_EQ(sgat["model_performance_improvement"], "55.11%");
  const json& added = sgat["repo_modified_subgraphs"]["add_repo_subgraphs"];
  const json& updated = sgat["repo_modified_subgraphs"]["update_repo_subgraphs"];
  ASSERT_EQ(added.size(), 1U);
  ASSERT_EQ(updated.size(), 1U);
  EXPECT_EQ(added[0]["performance_improvement"], "56.28%");
  EXPECT_EQ(added[0]["repo_key"], "111");
  EXPECT_EQ(updated[0]["performance_improvement"], "78.15%");
  const json& summary = sgat["repo_summary"];
  EXPECT_EQ(summary["repo_hit_num"], 1);
  EXPECT_EQ(summary["total_num"], 2);
  EXPECT_FALSE(sgat.contains("sgat_tuning_result"));
}

TEST(AoeResult, HasNoSubgraphListsWithoutEntries) {
  AoeResult result = example();
  result.subgraphs.emplace();
  const json document = parse_json(json_text(to_json(result)));
  const json& sgat = document[1]["SGAT"];
  EXPECT_TRUE(sgat["repo_modified_subgraphs"].empty());
  EXPECT_EQ(sgat["repo_summary"]["total_num"], 0);
  EXPECT_FALSE(sgat.contains("model_result_performance(ms)"));
  EXPECT_TRUE(document[2].contains("OPAT"));
}

TEST(AoeResult, IsValidJsonOnDiskAfterEachWrite) {
  const aoe::tests::TempDir temp;
  const auto path = temp / result_file_name("20250131235959123", 42);
  EXPECT_EQ(path.filename(), "aoe_result_opat_20250131235959123_pid42.json");
  AoeResult result = example();
  for (int i = 0; i < 3; ++i) {
    result.operators->summary.add = i;
    write_result(result, path);
    const json document = parse_json(read_file(path, ExitCode::kData));
    EXPECT_EQ(document[1]["OPAT"]["repo_summary"]["repo_add_num"], i);
  }
}

TEST(Timestamp, HasSeventeenDigitsAndMilliseconds) {
  const auto when =
      std::chrono::system_clock::from_time_t(1738368000) + std::chrono::milliseconds(7);
  const std::string stamp = timestamp17(when);
  ASSERT_EQ(stamp.size(), 17U);
  EXPECT_EQ(stamp.find_first_not_of("0123456789"), std::string::npos);
  EXPECT_EQ(stamp.substr(0, 4), "2025");
  EXPECT_EQ(stamp.substr(14), "007");
}

}  // namespace
}  // namespace aoe::tuner
