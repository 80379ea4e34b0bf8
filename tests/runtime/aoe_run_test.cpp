// aoe_run as a user calls it: what it prints, what it writes, and how it refuses.
#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <regex>
#include <utility>

#include "base/file.h"
#include "base/json_text.h"
#include "runtime/npy.h"
#include "tests/runtime/om_builder.h"
#include "tests/runtime/run_program.h"
#include "tests/temp_dir.h"

namespace aoe::runtime {
namespace {

using nlohmann::json;
using tests::Finished;
using tests::floats;
using tests::OmBuilder;
using tests::run_program;

class AoeRun : public ::testing::Test {
 protected:
  AoeRun() {
    OmBuilder b("two_inputs");
    const int x = b.input("x:0", floats({2}));
    const int ids = b.input("ids", {.dtype = DataType::kInt64, .shape = {2}});
    const int cast = b.arena("cast", floats({2}));
    const int sum = b.output("scope/sum:0", floats({2}));
    reference::Attrs to_float;
    to_float.set("to", std::int64_t{1});
    b.reference("Cast", {ids}, {cast}, to_float);
    b.reference("Add", {x, cast}, {sum});
    write_file_atomically(dir_ / "m.om", b.om.serialize());
    float x_values[] = {0.5, 0.25};
    std::int64_t id_values[] = {10, 20};
    write_npy(dir_ / "x.npy", {floats({2}), x_values});
    write_npy(dir_ / "ids.npy", {{.dtype = DataType::kInt64, .shape = {2}}, id_values});
  }

  /// In the test's directory, stdout and stderr together.
  Finished run(const std::string& flags) const {
    return run_program("cd " + dir_.path().string() + " && " + AOE_RUN + " " + flags + " 2>&1");
  }
  void expect_refused(const std::string& flags, ExitCode code, const std::string& cause) const {
    const Finished finished = run(flags);
    EXPECT_EQ(finished.exit_code, static_cast<int>(code)) << flags;
    EXPECT_NE(finished.output.find(cause), std::string::npos) << finished.output;
    EXPECT_EQ(finished.output.rfind("aoe_run: error: ", 0), 0u) << finished.output;
    EXPECT_EQ(std::count(finished.output.begin(), finished.output.end(), '\n'), 1)
        << finished.output;
  }
  std::vector<float> output() const {
    const Constant sum = read_npy(dir_ / "out" / "scope_sum_0.npy");
    const auto* values = static_cast<const float*>(sum.data());
    return {values, values + 2};
  }

  aoe::tests::TempDir dir_;
};

TEST_F(AoeRun, RunsOnGivenInputsAndWritesOutputs) {
  const Finished finished = run(
      "--model=m.om --input=x:0=x.npy --input ids=ids.npy --output-dir=out --repeat=3 --threads=1");
  EXPECT_EQ(finished.exit_code, 0) << finished.output;
  EXPECT_TRUE(std::regex_match(
      finished.output,
      std::regex(
          R"(percentiles_ms p50=\d+\.\d{3,9} p90=\d+\.\d{3,9} p95=\d+\.\d{3,9} p99=\d+\.\d{3,9}\n)"
          R"(throughput runs_per_s=\d+\.\d\d streams=1\n)"
          R"(latency_ms median=\d+\.\d{3,9} min=\d+\.\d{3,9} max=\d+\.\d{3,9} repeat=3\n)")))
      << finished.output;
  EXPECT_EQ(output(), (std::vector<float>{10.5, 20.25}));
}

TEST_F(AoeRun, RandomInputsAreTheSameEveryTime) {
  EXPECT_EQ(run("--model=m.om --output-dir=out --repeat=1").exit_code, 0);
  const std::vector<float> first = output();
  EXPECT_EQ(run("--model=m.om --output-dir=out --repeat=1").exit_code, 0);
  EXPECT_EQ(output(), first);
  EXPECT_NE(first[0], first[1]);
  for (const float value : first) {
    EXPECT_GE(value, 0);
    EXPECT_LT(value, 2);
  }
}

TEST_F(AoeRun, SharedWeightsChangeNoOutput) {
  EXPECT_EQ(run("--model=m.om --output-dir=out --repeat=1").exit_code, 0);
  const std::vector<float> own = output();
  std::filesystem::remove_all(dir_ / "out");
  EXPECT_EQ(run("--model=m.om --output-dir=out --repeat=1 --share_weights --streams=2").exit_code,
            0);
  EXPECT_EQ(output(), own);
}

TEST_F(AoeRun, ProfilesEveryStep) {
  const Finished finished = run("--model=m.om --repeat=2 --profile");
  EXPECT_EQ(finished.exit_code, 0);
  for (const char* expected : {"step0_Cast", "step1_Add", "AI_CPU", "reference", "all ops",
                               "median_us", "roofline_%", "100.00"})
    EXPECT_NE(finished.output.find(expected), std::string::npos) << expected << "\n"
                                                                 << finished.output;
  const std::string last_line =
      finished.output.substr(finished.output.rfind('\n', finished.output.size() - 2) + 1);
  EXPECT_EQ(last_line.rfind("latency_ms median=", 0), 0u) << last_line;
}

TEST_F(AoeRun, StreamsRunAtOnceAndAllCount) {
  const Finished finished =
      run("--model=m.om --streams=3 --repeat=4 --warmup=2 --threads=1 --json");
  ASSERT_EQ(finished.exit_code, 0) << finished.output;
  const json report = parse_json(finished.output);
  EXPECT_EQ(report.at("schema"), "aoe.run");
  EXPECT_EQ(report.at("version"), 1);
  EXPECT_EQ(report.at("streams"), 3);
  EXPECT_EQ(report.at("warmup"), 2);
  EXPECT_EQ(report.at("runs"), 12);
  const json& latency = report.at("latency_ms");
  EXPECT_GT(latency.at("min"), 0);
  for (const auto& [low, high] :
       {std::pair("min", "p50"), std::pair("p50", "p90"), std::pair("p90", "p95"),
        std::pair("p95", "p99"), std::pair("p99", "max")})
    EXPECT_LE(latency.at(low), latency.at(high)) << low << " " << high;
  const double wall_s = report.at("wall_s");
  EXPECT_NEAR(report.at("throughput").at("runs_per_s"), 12 / wall_s, 1e-6 * 12 / wall_s);
  EXPECT_TRUE(report.at("throughput").at("samples_per_s").is_null());
  EXPECT_FALSE(report.contains("ops"));
}

TEST_F(AoeRun, TheBatchIsThatOfTheModelAndIsCounted) {
  const Finished finished = run("--model=m.om --batch=2 --json");
  ASSERT_EQ(finished.exit_code, 0) << finished.output;
  const json throughput = parse_json(finished.output).at("throughput");
  EXPECT_DOUBLE_EQ(throughput.at("samples_per_s"), 2 * throughput.at("runs_per_s").get<double>());
  expect_refused("--model=m.om --batch=3", ExitCode::kUsage, "3 as its first dimension");
  expect_refused("--model=m.om --batch=2 --gear=2", ExitCode::kUsage, "exclude each other");
}

TEST_F(AoeRun, ComparesOutputsWithAReference) {
  constexpr int kDiffers = 8;
  const std::string inputs = "--model=m.om --input=x:0=x.npy --input=ids=ids.npy --repeat=1";
  EXPECT_EQ(run(inputs + " --output-dir=ref").exit_code, 0);
  EXPECT_EQ(run(inputs + " --reference=ref --tolerance=0").exit_code, 0);

  // The range is 9.75: 0.0975 more in one place is an error of 1%.
  float wrong[] = {10.5, 20.25F + 0.0975F};
  write_npy(dir_ / "ref" / "scope_sum_0.npy", {floats({2}), wrong});
  const Finished off = run(inputs + " --reference=ref");
  EXPECT_EQ(off.exit_code, kDiffers);
  EXPECT_NE(off.output.find("output scope/sum:0: DIFFERS"), std::string::npos) << off.output;
  EXPECT_EQ(run(inputs + " --reference=ref --tolerance=0.02").exit_code, 0);
  const Finished as_json = run(inputs + " --reference=ref --json");
  EXPECT_EQ(as_json.exit_code, kDiffers);
  const json output = parse_json(as_json.output).at("outputs").at(0);
  EXPECT_NEAR(output.at("error"), 0.01, 2e-4);
  EXPECT_EQ(output.at("within"), false);

  float nothing[] = {10.5, std::numeric_limits<float>::quiet_NaN()};
  write_npy(dir_ / "ref" / "scope_sum_0.npy", {floats({2}), nothing});
  EXPECT_EQ(run(inputs + " --reference=ref --tolerance=1e9").exit_code, kDiffers);
  float longer[] = {1, 2, 3};
  write_npy(dir_ / "ref" / "scope_sum_0.npy", {floats({3}), longer});
  expect_refused(inputs + " --reference=ref", ExitCode::kData, "scope_sum_0.npy");
  expect_refused(inputs + " --reference=elsewhere", ExitCode::kData, "elsewhere");
}

TEST_F(AoeRun, TellsOpsAsJsonToo) {
  const Finished finished = run("--model=m.om --repeat=3 --profile --json");
  ASSERT_EQ(finished.exit_code, 0) << finished.output;
  const json ops = parse_json(finished.output).at("ops");
  ASSERT_EQ(ops.size(), 2U);
  double shares = 0;
  for (const json& op : ops) shares += op.at("share").get<double>();
  EXPECT_NEAR(shares, 1, 1e-9);
  EXPECT_GE(ops[0].at("median_us"), ops[1].at("median_us"));
}

TEST_F(AoeRun, RefusesInOneLineWithTheDocumentedCode) {
  write_file_atomically(dir_ / "text.om", "not an om");
  write_file_atomically(dir_ / "text.npy", "not a tensor");
  expect_refused("", ExitCode::kUsage, "--model");
  expect_refused("--model=m.om --speed=11", ExitCode::kUsage, "unknown flag '--speed'");
  expect_refused("--model=m.om --repeats=11", ExitCode::kUsage, "did you mean --repeat?");
  expect_refused("--model=m.om --repeat=0", ExitCode::kUsage, "--repeat");
  expect_refused("--model=m.om --seconds=-1", ExitCode::kUsage, "--seconds");
  expect_refused("--model=m.om --threads=0", ExitCode::kUsage, "--threads");
  expect_refused("--model=m.om --repeat=1 --seconds=1", ExitCode::kUsage, "exclude each other");
  expect_refused("--model=m.om --input=y=x.npy", ExitCode::kUsage, "the model has: x:0, ids");
  expect_refused("--model=m.om --input=ids=ids.npy --input=ids=x.npy", ExitCode::kUsage,
                 "given twice");
  expect_refused("--model=m.om --streams=0", ExitCode::kUsage, "--streams");
  expect_refused("--model=m.om --streams=2 --profile", ExitCode::kUsage, "--profile");
  expect_refused("--model=m.om --warmup=-1", ExitCode::kUsage, "--warmup");
  expect_refused("--model=m.om --tolerance=-1", ExitCode::kUsage, "--tolerance");
  expect_refused("--model=m.om --log=loud", ExitCode::kUsage, "--log");
  expect_refused("--model=absent.om", ExitCode::kOm, "absent.om");
  expect_refused("--model=text.om", ExitCode::kOm, "is not an om file");
  expect_refused("--model=m.om --input=ids=absent.npy", ExitCode::kData, "absent.npy");
  expect_refused("--model=m.om --input=ids=text.npy", ExitCode::kData, "is not a .npy file");
  expect_refused("--model=m.om --input=ids=x.npy", ExitCode::kData,
                 "float32 2 ND, the model wants int64 2");
  expect_refused("--model=m.om --output-dir=m.om", ExitCode::kOutput, "m.om");
}

TEST_F(AoeRun, HelpExplainsItself) {
  const Finished finished = run("--help");
  EXPECT_EQ(finished.exit_code, 0);
  for (const char* flag : {"--model", "--input", "--output-dir", "--repeat", "--seconds",
                           "--threads", "--log", "--profile", "Examples:"})
    EXPECT_NE(finished.output.find(flag), std::string::npos) << flag;
}

}  // namespace
}  // namespace aoe::runtime
