// PROFILING_MODE and PROFILING_OPTIONS, and the SS928 spelling of the life cycle.

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "acl/svp_acl.h"
#include "base/file.h"
#include "base/json_text.h"
#include "profiler/collect/options.h"
#include "profiler/database/importer.h"
#include "profiler/raw/raw_reader.h"
#include "tests/runtime/loaded_model.h"
#include "tests/runtime/run_program.h"
#include "tests/temp_dir.h"

namespace aoe::runtime {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

class ProfilingOptions : public ::testing::Test {
 protected:
  void TearDown() override {
    aclFinalize();
    for (const char* name :
         {"PROFILING_MODE", "PROFILING_OPTIONS", "ASCEND_WORK_PATH", profiler::kOptionsVariable})
      ::unsetenv(name);
  }
  static void set(const char* name, const std::string& value) { ::setenv(name, value.c_str(), 1); }
  json with_output(json options) const {
    options["output"] = output_.string();
    return options;
  }
  /// What the one collection in `output` was asked for; the program has ended.
  static json sample_in(const fs::path& output) {
    std::vector<fs::path> found;
    std::error_code none;
    for (const auto& entry : fs::directory_iterator(output, none)) found.push_back(entry.path());
    EXPECT_EQ(found.size(), 1u) << output;
    std::vector<profiler::RawLoss> losses;
    return found.empty() ? json() : profiler::read_info(found.front(), losses).sample;
  }
  /// aclInit(), aclFinalize() with these options, and what they came to.
  json collected(const json& options) {
    set("PROFILING_MODE", "true");
    set("PROFILING_OPTIONS", json_text(with_output(options)));
    EXPECT_EQ(aclInit(nullptr), ACL_SUCCESS) << aclGetRecentErrMsg();
    EXPECT_EQ(aclFinalize(), ACL_SUCCESS);
    const json sample = sample_in(output_);
    fs::remove_all(output_);
    return sample;
  }

  const aoe::tests::TempDir temp_;
  const fs::path output_ = temp_ / "prof";
};

TEST_F(ProfilingOptions, DefaultsWithoutOptions) {
  set("PROFILING_MODE", "true");
  set("ASCEND_WORK_PATH", output_.string());
  for (const char* none : {"", "{}"}) {
    set("PROFILING_OPTIONS", none);
    ASSERT_EQ(aclInit(nullptr), ACL_SUCCESS) << aclGetRecentErrMsg();
    ASSERT_EQ(aclFinalize(), ACL_SUCCESS);
    const json sample = sample_in(output_);
    EXPECT_EQ(sample["training_trace"], true);
    EXPECT_EQ(sample["task_time"], "l1");
    EXPECT_EQ(sample["aicpu"], true);
    EXPECT_EQ(sample["aic_metrics"], "PipeUtilization");
    EXPECT_EQ(sample["msproftx"], false);
    EXPECT_EQ(sample["runtime_api"], false);
    fs::remove_all(output_);
  }
}

TEST_F(ProfilingOptions, DefaultsWithAnyOption) {
  const json sample = collected(json::object());
  EXPECT_EQ(sample["training_trace"], false);
  EXPECT_EQ(sample["task_time"], "l1");
  EXPECT_EQ(sample["aicpu"], false);
  EXPECT_EQ(sample["task_memory"], false);
  EXPECT_EQ(sample["aic_metrics"], "PipeUtilization");
  EXPECT_EQ(sample["fp_point"], "");
}

TEST_F(ProfilingOptions, EveryKeyTakesEffect) {
  const json sample = collected({{"storage_limit", "500MB"},
                                 {"training_trace", "on"},
                                 {"task_trace", "l0"},
                                 {"aicpu", "on"},
                                 {"msproftx", "on"},
                                 {"runtime_api", "on"},
                                 {"task_memory", "on"},
                                 {"fp_point", "conv1"},
                                 {"bp_point", "conv1_grad"},
                                 {"aic_metrics", "Memory"},
                                 {"host_sys", "cpu,mem"},
                                 {"host_sys_usage_freq", 10}});
  EXPECT_EQ(sample["storage_limit_bytes"], 500 << 20);
  for (const char* on : {"training_trace", "aicpu", "msproftx", "runtime_api", "task_memory"})
    EXPECT_EQ(sample[on], true) << on;
  EXPECT_EQ(sample["task_time"], "l0");
  EXPECT_EQ(sample["fp_point"], "conv1");
  EXPECT_EQ(sample["bp_point"], "conv1_grad");
  EXPECT_EQ(sample["aic_metrics"], "Memory");
  EXPECT_EQ(sample["system"]["process_cpu"], true);
  EXPECT_EQ(sample["system"]["frequency_hz"], 10);
  EXPECT_EQ(collected({{"task_time", "off"}})["task_time"], "off");
}

TEST_F(ProfilingOptions, WhatDoesNothingHereIsCheckedAndSaidOnce) {
  ::testing::internal::CaptureStderr();
  const json options = {{"l2", "on"},
                        {"hccl", "on"},
                        {"ge_api", "l1"},
                        {"llc_profiling", "read"},
                        {"sys_hardware_mem_freq", 50},
                        {"sys_io_sampling_freq", "100"},
                        {"sys_interconnection_freq", 50},
                        {"dvpp_freq", 1},
                        {"instr_profiling_freq", 300},
                        {"task_block", "on"},
                        {"host_sys", "disk,osrt"}};
  collected(options);
  collected(options);
  const std::string said = ::testing::internal::GetCapturedStderr();
  for (const auto& [key, value] : options.items()) {
    const std::string words = "PROFILING_OPTIONS." + key;
    const std::size_t at = said.find(words);
    EXPECT_NE(at, std::string::npos) << key << "\n" << said;
    EXPECT_EQ(said.find(words + " ", at + 1), std::string::npos) << key << "\n" << said;
  }
}

TEST_F(ProfilingOptions, FlawsAreNamed) {
  set("PROFILING_MODE", "true");
  const std::pair<const char*, json> flawed[] = {
      {"task_tarce", {{"task_tarce", "on"}}},  {"training_trace", {{"training_trace", "yes"}}},
      {"task_time", {{"task_time", "l9"}}},    {"storage_limit", {{"storage_limit", "200"}}},
      {"aic_metrics", {{"aic_metrics", "x"}}}, {"aicpu", {{"aicpu", true}}},
      {"dvpp_freq", {{"dvpp_freq", 101}}},     {"fp_point", {{"fp_point", {1}}}},
      {"ge_api", {{"ge_api", "l2"}}},          {"switch", {{"switch", "on"}}},
      {"ascendcl", {{"ascendcl", "on"}}},
  };
  for (const auto& [name, options] : flawed) {
    set("PROFILING_OPTIONS", json_text(with_output(options)));
    EXPECT_EQ(aclInit(nullptr), ACL_ERROR_INVALID_PROFILING_CONFIG) << name;
    const std::string message = aclGetRecentErrMsg();
    EXPECT_NE(message.find(std::string("PROFILING_OPTIONS.") + name), std::string::npos) << message;
  }
  for (const char* text : {"{\"output\":\"x\" \"task_trace\":\"on\"}", "[]", "on", "{"}) {
    set("PROFILING_OPTIONS", text);
    EXPECT_EQ(aclInit(nullptr), ACL_ERROR_INVALID_PROFILING_CONFIG) << text;
  }
  for (const char* nowhere : {"", "{\"task_trace\":\"on\"}"}) {
    set("PROFILING_OPTIONS", nowhere);
    EXPECT_EQ(aclInit(nullptr), ACL_ERROR_INVALID_PROFILING_CONFIG);
    EXPECT_NE(std::string(aclGetRecentErrMsg()).find("ASCEND_WORK_PATH"), std::string::npos);
  }
  std::ofstream(output_) << "a file";
  set("PROFILING_OPTIONS", json_text(with_output({})));
  EXPECT_EQ(aclInit(nullptr), ACL_ERROR_INVALID_FILE);
  for (const char* mode : {"on", "True", "1", "static"}) {
    set("PROFILING_MODE", mode);
    EXPECT_EQ(aclInit(nullptr), ACL_ERROR_INVALID_PROFILING_CONFIG) << mode;
    EXPECT_NE(std::string(aclGetRecentErrMsg()).find("PROFILING_MODE"), std::string::npos);
  }
  set("PROFILING_MODE", "false");
  EXPECT_EQ(aclInit(nullptr), ACL_SUCCESS);  // the options are not looked at, and a warning says so
}

TEST_F(ProfilingOptions, OneCollectorAtATime) {
  set("PROFILING_MODE", "true");
  set("PROFILING_OPTIONS", json_text(with_output({})));
  ASSERT_EQ(aclInit(nullptr), ACL_SUCCESS);
  EXPECT_EQ(aclprofInit(".", 1), ACL_ERROR_PROF_ALREADY_RUN);
  ASSERT_EQ(aclFinalize(), ACL_SUCCESS);
  fs::remove_all(output_);
  // acl.json is the program's own word.
  const std::string acl_json = (temp_ / "acl.json").string();
  std::ofstream(acl_json) << json_text(
      json{{"profiler", {{"switch", "on"}, {"output", (temp_ / "of_acl_json").string()}}}});
  ASSERT_EQ(aclInit(acl_json.c_str()), ACL_SUCCESS);
  ASSERT_EQ(aclFinalize(), ACL_SUCCESS);
  EXPECT_FALSE(fs::exists(output_));
  EXPECT_EQ(sample_in(temp_ / "of_acl_json")["generation"], "PROF");
}

TEST_F(ProfilingOptions, PointsOfTheOptionsReachTheStepTrace) {
  const auto fp_starts = [&](const json& options) {
    set("PROFILING_MODE", "true");
    set("PROFILING_OPTIONS", json_text(with_output(options)));
    EXPECT_EQ(aclInit(nullptr), ACL_SUCCESS) << aclGetRecentErrMsg();
    EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    {
      tests::LoadedModel model;
      EXPECT_EQ(model.execute(), ACL_SUCCESS);
    }
    EXPECT_EQ(aclFinalize(), ACL_SUCCESS);
    const auto database = profiler::import_raw(fs::directory_iterator(output_)->path()).database;
    auto row = profiler::Connection::open_read_only(database).prepare(
        "SELECT count(fpStartNs), count(*) FROM STEP_TRACE");
    EXPECT_TRUE(row.step());
    EXPECT_EQ(row.integer(1), 1);
    const std::int64_t starts = row.integer(0);
    EXPECT_FALSE(row.step());
    fs::remove_all(output_);
    return starts;
  };
  EXPECT_EQ(fp_starts({{"training_trace", "on"}, {"fp_point", "step0_Add"}}), 1);
  EXPECT_EQ(fp_starts({{"training_trace", "on"}}), 0);  // nothing in it is of training
  EXPECT_EQ(fp_starts({{"training_trace", "off"}, {"fp_point", "step0_Add"}}), 0);
}

TEST_F(ProfilingOptions, AoeRunSaysWhatIsWrong) {
  const fs::path om = temp_ / "m.om";
  Om small = tests::small_om();
  small.code.clear();
  std::ofstream(om, std::ios::binary) << small.serialize();
  const std::string run = std::string(AOE_RUN) + " --model=" + om.string() + " 2>&1";
  const auto bad = tests::run_program(
      "PROFILING_MODE=true PROFILING_OPTIONS='{\"output\":\"x\",\"aicpu\":\"maybe\"}' " + run);
  EXPECT_EQ(bad.exit_code, 1) << bad.output;
  EXPECT_NE(bad.output.find("PROFILING_OPTIONS.aicpu"), std::string::npos) << bad.output;
  const auto good = tests::run_program("PROFILING_MODE=true PROFILING_OPTIONS='{\"output\":\"" +
                                       output_.string() + "\"}' " + run);
  EXPECT_EQ(good.exit_code, 0) << good.output;
  EXPECT_EQ(sample_in(output_)["task_time"], "l1");
  const auto both = tests::run_program("PROFILING_MODE=true " + std::string(AOE_RUN) +
                                       " --profile --model=" + om.string() + " 2>&1");
  EXPECT_EQ(both.exit_code, 2) << both.output;
}

TEST(SvpAcl, WithoutTheFileADefaultOneIsMade) {
  const aoe::tests::TempDir temp;
  const fs::path path = temp / "acl.json";
  ASSERT_EQ(svp_acl_init(path.c_str()), ACL_SUCCESS);
  EXPECT_EQ(svp_acl_init(path.c_str()), ACL_ERROR_REPEAT_INITIALIZE);
  ASSERT_EQ(svp_acl_finalize(), ACL_SUCCESS);
  json config = parse_json(read_file(path, ExitCode::kFailure));
  EXPECT_EQ(config["profiler"]["switch"], "off");
  config["profiler"]["switch"] = "on";
  config["profiler"]["output"] = (temp / "missing").string();  // beside the executable then
  std::ofstream(path) << config;
  const fs::path here = fs::read_symlink("/proc/self/exe").parent_path();
  const auto jobs = [&] {
    std::set<fs::path> found;
    for (const auto& entry : fs::directory_iterator(here))
      if (entry.path().filename().string().starts_with("JOB")) found.insert(entry.path());
    return found;
  };
  const std::set<fs::path> before = jobs();
  ASSERT_EQ(svp_acl_init(path.c_str()), ACL_SUCCESS);
  ASSERT_EQ(svp_acl_finalize(), ACL_SUCCESS);
  std::size_t made = 0;
  for (const fs::path& job : jobs()) {
    if (before.contains(job)) continue;
    ++made;
    EXPECT_TRUE(fs::exists(job / "end_info.0"));
    fs::remove_all(job);
  }
  EXPECT_EQ(made, 1u);
  EXPECT_EQ(svp_acl_init((temp / "no/such/directory.json").c_str()), ACL_SUCCESS);
  EXPECT_EQ(svp_acl_finalize(), ACL_SUCCESS);
}

}  // namespace
}  // namespace aoe::runtime
