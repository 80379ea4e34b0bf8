// Stamps, ranges and steps: through the C API, raw data and import to the tables and timelines that users read.

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <nlohmann/json.hpp>
#include <thread>

#include "acl/acl.h"
#include "base/file.h"
#include "base/json_text.h"
#include "profiler/collect/options.h"
#include "profiler/database/importer.h"
#include "profiler/export/summary.h"
#include "profiler/export/timeline.h"
#include "runtime/acl/stamp_names.h"
#include "tests/profiler/exported_tables.h"
#include "tests/runtime/loaded_model.h"
#include "tests/temp_dir.h"

namespace aoe::runtime {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using profiler::tests::ExportedTables;

class ProfStamp : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(aclInit(nullptr), ACL_SUCCESS);
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    ASSERT_EQ(aclprofInit(output_.c_str(), output_.native().size()), ACL_SUCCESS);
  }
  void TearDown() override { aclFinalize(); }

  void start(std::uint64_t bits = ACL_PROF_MSPROFTX) {
    std::uint32_t device = 0;
    config_ = aclprofCreateConfig(&device, 1, ACL_AICORE_NONE, nullptr, bits);
    ASSERT_EQ(aclprofStart(config_), ACL_SUCCESS);
  }
  void stop() {
    ASSERT_EQ(aclprofStop(config_), ACL_SUCCESS);
    ASSERT_EQ(aclprofDestroyConfig(config_), ACL_SUCCESS);
  }
  /// Ends the collection, imports and exports it.
  ExportedTables exported() {
    stop();
    const fs::path directory = fs::directory_iterator(output_)->path();
    profile_.emplace(profiler::import_raw(directory).database);
    ExportedTables tables;
    for (const auto& path : profiler::export_summaries(*profile_, temp_ / "out", "1", {}))
      tables.texts[path.filename().string()] = read_file(path, ExitCode::kFailure);
    for (const auto& path : profiler::export_timelines(*profile_, temp_ / "out", "1", {}))
      timelines_[path.filename().string()] = parse_json(read_file(path, ExitCode::kFailure));
    return tables;
  }
  static void* stamp(const std::string& message) {
    void* const made = aclprofCreateStamp();
    EXPECT_NE(made, nullptr);
    EXPECT_EQ(aclprofSetStampTraceMessage(made, message.data(),
                                          static_cast<std::uint32_t>(message.size())),
              ACL_SUCCESS);
    return made;
  }

  const aoe::tests::TempDir temp_;
  const fs::path output_ = temp_ / "prof";
  aclprofConfig* config_ = nullptr;
  std::optional<profiler::Database> profile_;
  std::map<std::string, json> timelines_;
};

TEST_F(ProfStamp, MarksAndRangesComeOutAsTheyWereSaid) {
  start();
  void* const mark = stamp("loaded \"it\"");
  ASSERT_EQ(aclprofSetCategoryName(7, "phases"), ACL_SUCCESS);
  ASSERT_EQ(aclprofSetStampCategory(mark, 7), ACL_SUCCESS);
  ASSERT_EQ(aclprofSetStampTagName(mark, "io", 2), ACL_SUCCESS);
  double payload = 0.5;
  ASSERT_EQ(aclprofSetStampPayload(mark, 2, &payload), ACL_SUCCESS);
  ASSERT_EQ(aclprofMark(mark), ACL_SUCCESS);
  void* const outer = stamp("outer");
  ASSERT_EQ(aclprofSetStampCategory(outer, 9), ACL_SUCCESS);
  void* const inner = stamp("inner");
  ASSERT_EQ(aclprofPush(outer), ACL_SUCCESS);
  ASSERT_EQ(aclprofPush(inner), ACL_SUCCESS);
  ASSERT_EQ(aclprofPop(), ACL_SUCCESS);
  ASSERT_EQ(aclprofPop(), ACL_SUCCESS);
  aclrtStream stream = nullptr;
  ASSERT_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
  ASSERT_EQ(aclprofMarkEx("reached", 7, stream), ACL_SUCCESS);
  for (void* made : {mark, outer, inner}) aclprofDestroyStamp(made);

  const ExportedTables tables = exported();
  const auto row_of = [&](const std::string& message) {
    for (std::size_t row = 1; row < tables.rows("msprof_tx").size(); ++row)
      if (tables.cell("msprof_tx", row, "message") == message) return row;
    ADD_FAILURE() << "no " << message;
    return std::size_t{1};
  };
  const auto cell = [&](const char* message, const char* column) {
    return tables.cell("msprof_tx", row_of(message), column);
  };
  ASSERT_EQ(tables.rows("msprof_tx").size(), 5u);
  EXPECT_EQ(cell("loaded \"it\"", "event_type"), "marker");
  EXPECT_EQ(cell("loaded \"it\"", "category"), "phases");
  EXPECT_EQ(cell("loaded \"it\"", "domain"), "io");
  EXPECT_EQ(cell("loaded \"it\"", "payload_type"), "2");
  EXPECT_EQ(cell("loaded \"it\"", "payload_value"), "0.5");
  EXPECT_EQ(cell("loaded \"it\"", "Start_time(us)"), cell("loaded \"it\"", "End_time(us)"));
  EXPECT_EQ(cell("outer", "event_type"), "push/pop");
  EXPECT_EQ(cell("outer", "category"), "9");
  EXPECT_EQ(cell("outer", "payload_value"), "N/A");
  EXPECT_EQ(cell("inner", "category"), "N/A");
  EXPECT_EQ(cell("reached", "event_type"), "marker_ex");
  EXPECT_EQ(cell("reached", "Device Start_time(us)"), cell("reached", "Start_time(us)"));
  EXPECT_LE(std::stod(cell("outer", "Start_time(us)")), std::stod(cell("inner", "Start_time(us)")));
  EXPECT_GE(std::stod(cell("outer", "End_time(us)")), std::stod(cell("inner", "End_time(us)")));

  std::size_t slices = 0;
  for (const json& event : timelines_.at("msprof_tx_1.json")) {
    if (event["ph"] != "X") continue;
    ++slices;
    if (event["name"] == "loaded \"it\"") {
      EXPECT_EQ(event["args"]["payload"], "0.5");
    }
  }
  EXPECT_EQ(slices, 4u);
}

TEST_F(ProfStamp, RangesEndOnAnotherThread) {
  start();
  void* const made = stamp("request");
  std::uint32_t first = 0;
  std::uint32_t second = 0;
  ASSERT_EQ(aclprofRangeStart(made, &first), ACL_SUCCESS);
  ASSERT_EQ(aclprofRangeStart(made, &second), ACL_SUCCESS);
  EXPECT_NE(first, second);
  std::thread([&] { EXPECT_EQ(aclprofRangeStop(first), ACL_SUCCESS); }).join();
  EXPECT_EQ(aclprofRangeStop(first), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclprofRangeStop(second), ACL_SUCCESS);
  exported();
  auto row = profile_->connection().prepare(
      "SELECT rangeId, globalTid = endGlobalTid, e.name FROM MSTX_EVENTS "
      "JOIN ENUM_MSTX_EVENT_TYPE e ON e.id = eventType ORDER BY rangeId");
  ASSERT_TRUE(row.step());
  EXPECT_EQ(row.integer(0), first);
  EXPECT_EQ(row.integer(1), 0);
  EXPECT_EQ(row.text(2), "start/end");
  ASSERT_TRUE(row.step());
  EXPECT_EQ(row.integer(0), second);
  EXPECT_EQ(row.integer(1), 1);
  EXPECT_FALSE(row.step());
}

TEST_F(ProfStamp, OpsOfTheProgramCarryTheirTensors) {
  start();
  aclprofTensor tensors[2] = {{0, ACL_FORMAT_ND, ACL_FLOAT16, 2, {3, 4}},
                              {1, ACL_FORMAT_NCHW, ACL_FLOAT, 4, {1, 2, 3, 4}}};
  aclprofTensorInfo info = {};
  info.opNameId = aclprofStr2Id("my_op");
  info.opTypeId = aclprofStr2Id("MyType");
  EXPECT_EQ(aclprofStr2Id("my_op"), info.opNameId);
  info.tensorNum = 2;
  info.tensors = tensors;
  aclprofEventAttributes attributes = {};
  attributes.size = sizeof attributes;
  attributes.message.tensorInfo = &info;
  ASSERT_EQ(aclprofRangePushEx(&attributes), ACL_SUCCESS);
  EXPECT_EQ(aclprofPop(), ACL_ERROR_INVALID_PARAM);  // of the other kind
  ASSERT_EQ(aclprofRangePop(), ACL_SUCCESS);
  EXPECT_EQ(aclprofRangePop(), ACL_ERROR_INVALID_PARAM);

  EXPECT_EQ(aclprofRangePushEx(nullptr), ACL_ERROR_INVALID_PARAM);
  const auto refused = [&](auto&& change) {
    aclprofTensorInfo bad_info = info;
    aclprofTensor bad_tensors[2] = {tensors[0], tensors[1]};
    bad_info.tensors = bad_tensors;
    aclprofEventAttributes bad = attributes;
    bad.message.tensorInfo = &bad_info;
    change(bad, bad_info, bad_tensors[0]);
    return aclprofRangePushEx(&bad) == ACL_ERROR_INVALID_PARAM;
  };
  EXPECT_TRUE(refused([](auto& bad, auto&, auto&) { bad.size = 4; }));
  EXPECT_TRUE(refused([](auto& bad, auto&, auto&) { bad.messageType = 1; }));
  EXPECT_TRUE(refused([](auto& bad, auto&, auto&) { bad.message.tensorInfo = nullptr; }));
  EXPECT_TRUE(refused([](auto&, auto& bad, auto&) { bad.tensorNum = 6; }));
  EXPECT_TRUE(refused([](auto&, auto& bad, auto&) { bad.tensors = nullptr; }));
  EXPECT_TRUE(refused([](auto&, auto& bad, auto&) { bad.opNameId = UINT64_MAX; }));
  EXPECT_TRUE(refused([](auto&, auto&, auto& bad) { bad.shapeDim = 9; }));
  EXPECT_TRUE(refused([](auto&, auto&, auto& bad) { bad.type = 2; }));
  EXPECT_EQ(exported().cell("msprof_tx", 1, "message"),
            "my_op MyType in FLOAT16 ND 3x4 out FLOAT NCHW 1x2x3x4");
}

TEST_F(ProfStamp, StepsOfTheProgramAreInTheStepTrace) {
  start(ACL_PROF_TRAINING_TRACE);
  tests::LoadedModel model;
  aclprofStepInfo* const step = aclprofCreateStepInfo();
  EXPECT_EQ(aclprofGetStepTimestamp(step, ACL_STEP_END, nullptr), ACL_ERROR_INVALID_PARAM);
  for (int i = 0; i < 2; ++i) {
    ASSERT_EQ(aclprofGetStepTimestamp(step, ACL_STEP_START, nullptr), ACL_SUCCESS);
    ASSERT_EQ(model.execute(), ACL_SUCCESS);
    ASSERT_EQ(aclprofGetStepTimestamp(step, ACL_STEP_END, nullptr), ACL_SUCCESS);
  }
  EXPECT_EQ(aclprofGetStepTimestamp(nullptr, ACL_STEP_START, nullptr), ACL_ERROR_INVALID_PARAM);
  aclprofDestroyStepInfo(step);
  EXPECT_EQ(aclprofGetStepTimestamp(step, ACL_STEP_START, nullptr), ACL_ERROR_INVALID_PARAM);
  const ExportedTables tables = exported();
  std::vector<std::string> models;
  for (std::size_t row = 1; row < tables.rows("step_trace").size(); ++row)
    models.push_back(tables.cell("step_trace", row, "Model ID"));
  const std::string id = std::to_string(model.id());
  EXPECT_EQ(models, (std::vector<std::string>{id, "N/A", id, "N/A"}));
  EXPECT_GE(std::stod(tables.cell("step_trace", 2, "Iteration Time(us)")),
            std::stod(tables.cell("step_trace", 1, "Iteration Time(us)")));
  EXPECT_NE(json_text(timelines_.at("step_trace_1.json")).find("Step Trace(program)"),
            std::string::npos);
}

TEST_F(ProfStamp, OutsideOfACollectionWithStampsNothingIsRecorded) {
  start();
  void* const made = stamp("kept");
  std::uint32_t range = 0;
  ASSERT_EQ(aclprofPush(made), ACL_SUCCESS);
  ASSERT_EQ(aclprofRangeStart(made, &range), ACL_SUCCESS);
  stop();
  for (const bool collects_others : {false, true}) {
    if (collects_others) start(ACL_PROF_ACL_API);
    EXPECT_EQ(aclprofCreateStamp(), nullptr);
    EXPECT_EQ(aclprofMark(made), ACL_ERROR_PROF_NOT_RUN);
    EXPECT_EQ(aclprofMark(nullptr), ACL_ERROR_PROF_NOT_RUN);
    EXPECT_EQ(aclprofMarkEx("x", 1, nullptr), ACL_ERROR_PROF_NOT_RUN);
    EXPECT_EQ(aclprofPush(made), ACL_ERROR_PROF_NOT_RUN);
    EXPECT_EQ(aclprofPop(), ACL_ERROR_PROF_NOT_RUN);
    EXPECT_EQ(aclprofRangeStart(made, &range), ACL_ERROR_PROF_NOT_RUN);
    EXPECT_EQ(aclprofRangeStop(range), ACL_ERROR_PROF_NOT_RUN);
    EXPECT_EQ(aclprofRangePop(), ACL_ERROR_PROF_NOT_RUN);
    EXPECT_EQ(aclprofRangePushEx(nullptr), ACL_ERROR_PROF_NOT_RUN);
    EXPECT_EQ(aclprofSetStampCategory(made, 1), ACL_SUCCESS);
    if (collects_others) stop();
  }
  fs::remove_all(output_);
  start();  // what was open belongs to the first collection
  EXPECT_EQ(aclprofPop(), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclprofRangeStop(range), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclprofMark(made), ACL_SUCCESS);
  aclprofDestroyStamp(made);
  EXPECT_EQ(aclprofMark(made), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(exported().rows("msprof_tx").size(), 2u);
}

TEST_F(ProfStamp, CollectionsOfOthersHaveThemToo) {
  const std::string acl_json = (temp_ / "acl.json").string();
  const json object = {{"switch", "on"}, {"msproftx", "on"}, {"output", output_.string()}};
  write_file_atomically(acl_json, json_text(json{{"profiler", object}}));
  const profiler::CollectOptions of_msprof{.output = output_, .msproftx = true};
  const auto marked_in_a_run_of = [&](const char* config) {
    aclFinalize();
    EXPECT_EQ(aclInit(config), ACL_SUCCESS);
    EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    EXPECT_EQ(aclprofMarkEx("mark", 4, nullptr), ACL_SUCCESS);
    EXPECT_EQ(aclFinalize(), ACL_SUCCESS);
    const fs::path directory = fs::directory_iterator(output_)->path();
    std::int64_t marks = 0;
    {
      const auto profile =
          profiler::Connection::open_read_only(profiler::import_raw(directory).database);
      auto row = profile.prepare("SELECT count(*) FROM MSTX_EVENTS");
      if (row.step()) marks = row.integer(0);
    }
    fs::remove_all(output_);
    return marks;
  };
  EXPECT_EQ(marked_in_a_run_of(acl_json.c_str()), 1);
  ::setenv(profiler::kOptionsVariable, json_text(profiler::to_json(of_msprof)).c_str(), 1);
  EXPECT_EQ(marked_in_a_run_of(nullptr), 1);
  ::unsetenv(profiler::kOptionsVariable);
}

TEST_F(ProfStamp, BadArgumentsAreRefused) {
  start();
  void* const made = stamp("s");
  EXPECT_EQ(aclprofSetStampTraceMessage(made, nullptr, 1), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclprofSetStampTraceMessage(made, "x", 0), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclprofSetStampTraceMessage(made, "x", 5000), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclprofSetStampTraceMessage(nullptr, "x", 1), ACL_ERROR_INVALID_PARAM);
  std::uint64_t value = 1;
  EXPECT_EQ(aclprofSetStampPayload(made, 6, &value), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclprofSetStampPayload(made, -1, &value), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclprofSetStampPayload(made, 0, nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclprofSetCategoryName(1, nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclprofMarkEx(std::string(128, 'x').c_str(), 128, nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclprofMarkEx("x", 1, &value), ACL_ERROR_RT_STREAM_CONTEXT);
  EXPECT_EQ(aclprofRangeStart(made, nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclprofStr2Id(nullptr), UINT64_MAX);
  aclprofDestroyStamp(made);
  aclprofDestroyStamp(made);
  aclprofDestroyStamp(nullptr);
  int deep = 0;
  void* const nest = stamp("nest");
  while (aclprofPush(nest) == ACL_SUCCESS) ++deep;
  EXPECT_EQ(deep, 4096);
  stop();
}

TEST(StampNames, HasABoundAndCountsWhatItDrops) {
  acl::StampNames names;
  std::uint32_t last = 0;
  for (std::size_t i = 0; i < acl::kMostStampNames + 10; ++i)
    last = names.id_of("stamp " + std::to_string(i));
  EXPECT_EQ(last, names.dropped_id());
  EXPECT_EQ(names.take_dropped(), 10u);
  EXPECT_EQ(names.take_dropped(), 0u);
  EXPECT_EQ(names.text_of(names.id_of("stamp 5")), "stamp 5");
  acl::StampNames long_names;
  std::size_t kept = 0;
  for (int i = 0; i < 5000; ++i) {
    std::string text(4000, 'x');
    text += std::to_string(i);
    kept += long_names.id_of(text) != long_names.dropped_id();
  }
  EXPECT_LT(kept * 4000, acl::kMostStampNameBytes);
  EXPECT_GT(kept * 4100, acl::kMostStampNameBytes);
}

}  // namespace
}  // namespace aoe::runtime
