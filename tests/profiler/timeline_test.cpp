// Timelines: valid JSON, exact times, arrows from calls to ops.
#include "profiler/export/timeline.h"

#include <gtest/gtest.h>

#include <climits>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/file.h"
#include "base/json_text.h"
#include "profiler/database/importer.h"
#include "profiler/export/text_file.h"
#include "tests/profiler/synthetic_profile.h"
#include "tests/temp_dir.h"

namespace aoe::profiler::tests {
namespace {
using aoe::tests::TempDir;
using nlohmann::json;

json only(const json& events, const std::string& phase, const std::string& name = {}) {
  json kept = json::array();
  for (const json& event : events)
    if (event["ph"] == phase && (name.empty() || event["name"] == name)) kept.push_back(event);
  return kept;
}

struct Exported {
  std::map<std::string, std::string> texts;  ///< by file name
  json events(const std::string& prefix) const {
    for (const auto& [name, text] : texts)
      if (name.starts_with(prefix)) return parse_json(text);
    ADD_FAILURE() << "no file " << prefix;
    return json::array();
  }
};

Exported timelines(SyntheticProfile& raw, const ExportSelection& selection = {}) {
  raw.flush();
  const Database profile(import_raw(raw.directory()).database);
  Exported exported;
  for (const auto& path :
       export_timelines(profile, raw.directory() / "out", "20261121101112", selection))
    exported.texts[path.filename().string()] = read_file(path, ExitCode::kFailure);
  return exported;
}

TEST(AppendUs, IsExactToTheNanosecond) {
  const auto us = [](std::int64_t ns) {
    std::string text;
    append_us(text, ns);
    return text;
  };
  EXPECT_EQ(us(0), "0.000");
  EXPECT_EQ(us(7), "0.007");
  EXPECT_EQ(us(-1), "-0.001");
  EXPECT_EQ(us(1'234'567), "1234.567");
  EXPECT_EQ(us(1'763'720'000'123'456'789), "1763720000123456.789");
  EXPECT_EQ(us(INT64_MIN), "-9223372036854775.808");
}

TEST(AppendJsonString, EscapesAndRepairs) {
  const auto quoted = [](std::string_view value) {
    std::string text;
    append_json_string(text, value);
    return parse_json(text).get<std::string>();
  };
  EXPECT_EQ(quoted("conv1"), "conv1");
  EXPECT_EQ(quoted("a\"b\\c\n\x01"), "a\"b\\c\n\x01");
  EXPECT_EQ(quoted("Schr\xc3\xb6"
                   "dinger"),
            "Schr\xc3\xb6"
            "dinger");
  EXPECT_EQ(quoted("\xff"), "\xef\xbf\xbd");
}

TEST(Timeline, HasEveryTaskAndCallWithExactTimes) {
  TempDir dir;
  SyntheticProfile raw(dir.path(), Generation::kProf);
  fill_with_runs(raw, 20, 5);
  const Exported exported = timelines(raw);
  const std::string& text = exported.texts.at("msprof_20261121101112.json");
  // The first op begins 500 ns after the first call, at 1 s; numbers, not strings.
  EXPECT_NE(text.find("\"ts\":1000000.500,\"dur\":3.001"), std::string::npos);
  const json events = parse_json(text);
  // One of each call and execution, and each op twice: as its launch and on the device.
  EXPECT_EQ(only(events, "X").size() - only(events, "X", "Computing").size() -
                only(events, "X", "Free").size(),
            20u * (1 + 1 + 2 * 5));
  EXPECT_EQ(only(events, "X", "Model@ModelExecute").size(), 20u);
  EXPECT_EQ(only(events, "X", "Node@launch").size(), 20u * 5);
  EXPECT_EQ(only(events, "X", "AscendCL@aclmdlExecute").size(), 20u);
  EXPECT_EQ(only(events, "X", "conv3").size(), 20u);
  const json args = only(events, "X", "conv3")[1]["args"];
  EXPECT_EQ(args["Task Type"], "AI_CORE");
  EXPECT_EQ(args["Task Id"], 3);
  EXPECT_EQ(args["Model Id"], 1);
  EXPECT_EQ(args["connection_id"], run_and_model(2, 1));
}

TEST(Timeline, NamesProcessesAndThreads) {
  TempDir dir;
  SyntheticProfile raw(dir.path(), Generation::kProf);
  fill_with_runs(raw, 1, 1);
  raw.memory("arena resnet", 4096, 5, 5);
  raw.sample("process cpu(%)", 6, 50);
  const json events = timelines(raw).events("msprof_2026");
  std::map<std::string, std::int64_t> pids;
  for (const json& event : only(events, "M", "process_name"))
    pids[event["args"]["name"]] = event["pid"];
  EXPECT_EQ(pids.at("CANN"), kProcessId << 10 | 7 << 5 | 31);
  EXPECT_EQ(pids.at("Ascend Hardware"), kProcessId << 10 | 14 << 5 | 0);
  EXPECT_EQ(only(events, "M", "thread_name")[0]["args"]["name"], "Thread 4243");
  EXPECT_EQ(only(events, "M", "thread_name")[1]["args"]["name"], "Stream 0");
  EXPECT_EQ(only(events, "C", "arena")[0]["args"]["KB"], 4.0);
  EXPECT_EQ(only(events, "C", "process cpu(%)")[0]["args"]["value"], 50.0);
}

TEST(Timeline, DrawsAnArrowFromTheLaunchInsideTheCallToEachOp) {
  TempDir dir;
  SyntheticProfile raw(dir.path(), Generation::kProf);
  fill_with_runs(raw, 4, 3);
  const json events = timelines(raw).events("msprof_2026");
  const json starts = only(events, "s");
  const json ends = only(events, "f");
  ASSERT_EQ(starts.size(), 12u);
  ASSERT_EQ(ends.size(), 12u);
  std::map<std::int64_t, json> launches, ops;
  for (const json& event : only(events, "X")) {
    const auto start = static_cast<std::int64_t>(event["ts"].get<double>() * 1000 + 0.5);
    if (event["name"] == "Node@launch") launches[start] = event;
    if (event.contains("args") && event["args"].contains("Task Id")) ops[start] = event;
  }
  for (std::size_t i = 0; i < ends.size(); ++i) {
    EXPECT_EQ(starts[i]["id"], ends[i]["id"]);
    EXPECT_EQ(ends[i]["bp"], "e");
    const auto at = [](const json& e) {
      return static_cast<std::int64_t>(e["ts"].get<double>() * 1000 + 0.5);
    };
    ASSERT_TRUE(launches.contains(at(starts[i])));
    ASSERT_TRUE(ops.contains(at(ends[i])));
    EXPECT_EQ(launches[at(starts[i])]["args"]["item_id"], ops[at(ends[i])]["name"]);
    EXPECT_EQ(launches[at(starts[i])]["tid"], kThreadId);
    EXPECT_EQ(launches[at(starts[i])]["args"]["connection_id"],
              ops[at(ends[i])]["args"]["connection_id"]);
    EXPECT_EQ(
        starts[i]["name"],
        "HostToDevice" + std::to_string(ops[at(ends[i])]["args"]["connection_id"].get<int>()));
  }
}

TEST(Timeline, LeavesOutTheLayersThatNobodyWants) {
  TempDir dir;
  SyntheticProfile raw(dir.path(), Generation::kProf);
  fill_with_runs(raw, 4, 3);
  raw.memory("arena resnet", 4096, 5, 5);
  raw.sample("process cpu(%)", 6, 50);
  raw.flush();
  const Database profile(import_raw(raw.directory()).database);
  const auto processes = [&](const std::vector<std::string>& left_out) {
    const auto files = export_timelines(profile, raw.directory() / "out", "t", {}, left_out);
    return only(parse_json(read_file(files.front(), ExitCode::kFailure)), "M", "process_name")
        .size();
  };
  const std::vector<std::string> layers = timeline_layers();
  EXPECT_EQ(processes({}), layers.size());
  for (const std::string& layer : layers) EXPECT_EQ(processes({layer}), layers.size() - 1) << layer;
}

TEST(Timeline, OfOneIterationHoldsNoOther) {
  TempDir dir;
  SyntheticProfile raw(dir.path(), Generation::kProf);
  fill_with_runs(raw, 10, 3);
  raw.flush();
  const Database profile(import_raw(raw.directory()).database);
  // Its name tells, so that it does not replace the timeline of all.
  const json events =
      timelines(raw, {.iteration = profile.iteration(1, 4)}).events("msprof_0_1_4.");
  ASSERT_EQ(only(events, "X", "conv0").size(), 1u);
  EXPECT_EQ(only(events, "X", "conv0")[0]["args"]["Batch Id"], 4);
}

std::size_t slices(const Exported& exported, const std::string& prefix) {
  return only(exported.events(prefix), "X").size();
}

TEST(Timeline, HasTheFilesOfOlderReleases) {
  TempDir dir;
  SyntheticProfile raw(dir.path(), Generation::kProf);
  fill_with_runs(raw, 4, 3);
  raw.api("LaunchKernels", 2'000'000'000, 2'000'000'100, run_and_model(1, 1), 5000);
  const Exported exported = timelines(raw);
  EXPECT_EQ(slices(exported, "task_time_"), 4u * 3);
  EXPECT_EQ(slices(exported, "ge_op_execute_"), 4u * 3);
  EXPECT_EQ(slices(exported, "ge_2026"), 4u);
  EXPECT_EQ(slices(exported, "runtime_api_"), 1u);
  EXPECT_EQ(slices(exported, "thread_group_"), 1u + 4u * (1 + 1 + 3));
  EXPECT_EQ(slices(exported, "ai_stack_time_"), 1u + 4u * (1 + 1 + 3 + 3));
  std::set<std::string> components;
  for (const json& process : only(exported.events("ai_stack_time_"), "M", "process_name"))
    components.insert(process["args"]["name"]);
  EXPECT_EQ(components, (std::set<std::string>{"AscendCL", "GE", "Runtime", "Task Scheduler"}));
  // Arrows have both their ends in one file, or none.
  for (const auto& [name, text] : exported.texts)
    EXPECT_EQ(only(parse_json(text), "s").size(), only(parse_json(text), "f").size()) << name;
}

TEST(Timeline, OfAJobIsOneFilePerModelAndKind) {
  TempDir dir;
  SyntheticProfile raw(dir.path(), Generation::kJob);
  fill_with_runs(raw, 10, 3);
  const Exported exported = timelines(raw);
  const json tasks = exported.events("task_time_0.resnet.1.1.json");
  ASSERT_EQ(tasks.size(), 30u);
  EXPECT_EQ(tasks[1]["args"]["Task Type"], "AA CORE");
  EXPECT_EQ(tasks[1]["args"]["Task Id"], 1);
  EXPECT_EQ(tasks[1]["args"]["Stream Id"], 0);
  const json calls = exported.events("acl_0.resnet.1.1.json");
  ASSERT_EQ(calls.size(), 10u);
  EXPECT_EQ(calls[0]["args"]["Mode"], "ACL_MODEL");
}

}  // namespace
}  // namespace aoe::profiler::tests
