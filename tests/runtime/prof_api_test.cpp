// aclprof*: collecting to files. Order rules, codes, what each bit collects.

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <set>

#include "acl/acl.h"
#include "runtime/acl/process.h"
#include "runtime/acl/prof_mode.h"
#include "tests/profiler/raw_memory.h"
#include "tests/runtime/loaded_model.h"
#include "tests/runtime/run_program.h"
#include "tests/temp_dir.h"

namespace aoe::runtime {
namespace {

namespace fs = std::filesystem;
using acl::ProfMode;
using profiler::EventKind;
using profiler::tests::RawMemory;
using tests::LoadedModel;

std::vector<fs::path> directories_in(const fs::path& output) {
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(output)) found.push_back(entry.path());
  std::sort(found.begin(), found.end());
  return found;
}

RawMemory read(const fs::path& directory) {
  RawMemory memory;
  EXPECT_TRUE(profiler::read_raw(directory, memory).empty());
  return memory;
}

std::size_t count(const RawMemory& memory, EventKind kind) {
  return std::count_if(memory.events.begin(), memory.events.end(),
                       [&](const auto& event) { return event.kind == kind; });
}

aclError init(const fs::path& output) {
  return aclprofInit(output.c_str(), output.native().size());
}
aclError set(aclprofConfigType type, const std::string& value) {
  return aclprofSetConfig(type, value.c_str(), value.size());
}

class ProfApi : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(aclInit(nullptr), ACL_SUCCESS);
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    config_ = config(ACL_PROF_ACL_API | ACL_PROF_TASK_TIME);
  }
  void TearDown() override {
    for (const aclprofConfig* made : made_) aclprofDestroyConfig(made);
    aclFinalize();
  }
  const aclprofConfig* config(std::uint64_t bits, std::vector<std::uint32_t> devices = {0},
                              int metrics = ACL_AICORE_NONE) {
    const aclprofConfig* const made =
        aclprofCreateConfig(devices.data(), static_cast<std::uint32_t>(devices.size()),
                            static_cast<aclprofAicoreMetrics>(metrics), nullptr, bits);
    EXPECT_NE(made, nullptr);
    made_.push_back(made);
    return made;
  }

  const aoe::tests::TempDir temp_;
  const fs::path output_ = temp_ / "prof";
  const aclprofConfig* config_ = nullptr;
  std::vector<const aclprofConfig*> made_;
};

TEST_F(ProfApi, EveryCallInEveryMode) {
  // From each mode the call must give this code; modes are entered anew for each.
  struct Case {
    const char* name;
    std::function<aclError()> call;
    aclError off, api, command, subscription;
  };
  const Case cases[] = {
      {"init", [&] { return init(output_); }, ACL_SUCCESS, 100002, 100042, 148047},
      {"start", [&] { return aclprofStart(config_); }, 100043, ACL_SUCCESS, 100042, 148047},
      {"stop", [&] { return aclprofStop(config_); }, 100043, ACL_SUCCESS, 100042, 148047},
      {"finalize", [&] { return aclprofFinalize(); }, 100043, ACL_SUCCESS, 100042, 148047},
      {"set", [&] { return set(ACL_PROF_HOST_SYS_USAGE_FREQ, "50"); }, ACL_SUCCESS, ACL_SUCCESS,
       ACL_SUCCESS, ACL_SUCCESS},
  };
  const std::string acl_json = (temp_ / "acl.json").string();
  std::ofstream(acl_json) << R"({"profiler":{"switch":"on","output":")" << output_.string()
                          << "\"}}";
  const auto enter = [&](ProfMode mode, bool running) {
    ASSERT_EQ(aclFinalize(), ACL_SUCCESS);
    ASSERT_EQ(aclInit(mode == ProfMode::kCommand ? acl_json.c_str() : nullptr), ACL_SUCCESS);
    if (mode == ProfMode::kApi) {
      ASSERT_EQ(init(output_), ACL_SUCCESS);
    }
    if (running) {
      ASSERT_EQ(aclprofStart(config_), ACL_SUCCESS);
    }
    if (mode == ProfMode::kSubscribe) {  // without the pipe that belongs to it
      const std::lock_guard lock(acl::process_mutex());
      acl::prof_modes().set(mode);
    }
  };
  for (const Case& c : cases) {
    const std::pair<ProfMode, aclError> expected[] = {{ProfMode::kOff, c.off},
                                                      {ProfMode::kApi, c.api},
                                                      {ProfMode::kCommand, c.command},
                                                      {ProfMode::kSubscribe, c.subscription}};
    for (const auto& [mode, code] : expected) {
      enter(mode, mode == ProfMode::kApi && std::string_view(c.name) == "stop");
      EXPECT_EQ(c.call(), code) << c.name << " in mode " << static_cast<int>(mode);
    }
  }
}

TEST_F(ProfApi, OrderWithinTheApi) {
  ASSERT_EQ(init(output_), ACL_SUCCESS);
  EXPECT_EQ(aclprofStop(config_), ACL_ERROR_PROF_NOT_RUN);
  ASSERT_EQ(aclprofStart(config_), ACL_SUCCESS);
  EXPECT_EQ(aclprofStart(config_), ACL_ERROR_PROF_ALREADY_RUN);
  EXPECT_EQ(aclprofStart(config(ACL_PROF_AICPU)), ACL_ERROR_PROF_ALREADY_RUN);
  EXPECT_EQ(aclprofStop(config(ACL_PROF_ACL_API)), ACL_ERROR_INVALID_PROFILING_CONFIG);
  EXPECT_EQ(aclprofStop(config(ACL_PROF_ACL_API | ACL_PROF_TASK_TIME)), ACL_SUCCESS);  // as said
  EXPECT_EQ(aclprofStop(config_), ACL_ERROR_PROF_NOT_RUN);
  ASSERT_EQ(aclprofFinalize(), ACL_SUCCESS);
  EXPECT_EQ(aclprofFinalize(), ACL_ERROR_PROF_NOT_RUN);
  ASSERT_EQ(init(output_), ACL_SUCCESS);
  ASSERT_EQ(aclprofStart(config_), ACL_SUCCESS);
  ASSERT_EQ(aclFinalize(), ACL_SUCCESS);  // ends the collection as well
  EXPECT_EQ(aclprofStop(config_), ACL_ERROR_UNINITIALIZE);
  EXPECT_EQ(init(output_), ACL_ERROR_UNINITIALIZE);
  ASSERT_EQ(aclInit(nullptr), ACL_SUCCESS);
  EXPECT_EQ(aclprofStop(config_), ACL_ERROR_PROF_NOT_RUN);
  for (const fs::path& directory : directories_in(output_))
    EXPECT_TRUE(fs::exists(directory / "host/end_info")) << directory;
}

TEST_F(ProfApi, BadArgumentsGetTheDocumentedCodes) {
  EXPECT_EQ(aclprofInit(nullptr, 3), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclprofInit("abc", 0), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclprofInit("abc", 2), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclprofInit("abc", 4), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(init(std::string(4096, 'x')), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(init(std::string(4000, 'x')), ACL_ERROR_INVALID_FILE);
  EXPECT_EQ(init("a;b"), ACL_ERROR_INVALID_FILE);
  std::ofstream(temp_ / "file") << "no directory";
  EXPECT_EQ(init(temp_ / "file"), ACL_ERROR_INVALID_FILE);
  EXPECT_EQ(init(temp_ / "file/x"), ACL_ERROR_INVALID_FILE);
  EXPECT_EQ(init("/proc/self/x"), ACL_ERROR_INVALID_FILE);

  ASSERT_EQ(init(output_), ACL_SUCCESS);
  EXPECT_EQ(aclprofStart(nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclprofStop(nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclprofStart(config(0)), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclprofStart(config(ACL_PROF_ACL_API, {0, 1})), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclprofStart(config(ACL_PROF_ACL_API, {1})), ACL_ERROR_INVALID_DEVICE);
  EXPECT_EQ(aclprofStart(config(ACL_PROF_ACL_API, {})), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclprofStart(config(ACL_PROF_ACL_API | 0x10000)), ACL_ERROR_PROF_MODULES_UNSUPPORTED);
  EXPECT_EQ(aclprofStart(config(~0ull)), ACL_ERROR_PROF_MODULES_UNSUPPORTED);
  EXPECT_EQ(aclprofStart(config(ACL_PROF_AICORE_METRICS, {0}, 9)), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclprofStart(config(ACL_PROF_MSPROFTX, {})), ACL_SUCCESS);
  EXPECT_EQ(aclprofCreateConfig(nullptr, 1, ACL_AICORE_NONE, nullptr, 1), nullptr);
  EXPECT_NE(aclGetRecentErrMsg(), nullptr);
  EXPECT_EQ(aclprofDestroyConfig(nullptr), ACL_ERROR_INVALID_PARAM);
  const aclprofConfig* const once =
      aclprofCreateConfig(nullptr, 0, ACL_AICORE_NONE, nullptr, ACL_PROF_MSPROFTX);
  EXPECT_EQ(aclprofDestroyConfig(once), ACL_SUCCESS);
  EXPECT_EQ(aclprofDestroyConfig(once), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclprofStop(once), ACL_ERROR_INVALID_PARAM);
}

TEST_F(ProfApi, DirectoryThatVanishesIsMadeAnewOrSaid) {
  ASSERT_EQ(init(output_), ACL_SUCCESS);
  fs::remove_all(output_);
  EXPECT_EQ(aclprofStart(config_), ACL_SUCCESS);
  EXPECT_EQ(aclprofStop(config_), ACL_SUCCESS);
  fs::remove_all(output_);
  std::ofstream(output_) << "in the way";
  EXPECT_EQ(aclprofStart(config_), ACL_ERROR_INVALID_FILE);
  EXPECT_EQ(aclprofStop(config_), ACL_ERROR_PROF_NOT_RUN);
}

TEST_F(ProfApi, CollectsBetweenStartAndStopAndKnowsModelsThatAreLoaded) {
  LoadedModel model;
  ASSERT_EQ(init(output_), ACL_SUCCESS);
  ASSERT_EQ(model.execute(), ACL_SUCCESS);
  for (int runs = 1; runs <= 2; ++runs) {
    ASSERT_EQ(aclprofStart(config_), ACL_SUCCESS);
    for (int i = 0; i < runs; ++i) ASSERT_EQ(model.execute(), ACL_SUCCESS);
    ASSERT_EQ(aclprofStop(config_), ACL_SUCCESS);
    ASSERT_EQ(model.execute(), ACL_SUCCESS);
  }
  ASSERT_EQ(aclprofFinalize(), ACL_SUCCESS);
  const std::vector<fs::path> directories = directories_in(output_);
  ASSERT_EQ(directories.size(), 2u);
  for (std::size_t i = 0; i < 2; ++i) {
    const RawMemory memory = read(directories[i]);
    EXPECT_EQ(memory.models.size(), 1u);
    EXPECT_EQ(count(memory, EventKind::kStep), i + 1);
    EXPECT_EQ(count(memory, EventKind::kTask), 2 * (i + 1));
    EXPECT_EQ(count(memory, EventKind::kMemory), 0u);
  }
}

TEST_F(ProfApi, BitsChooseWhatIsCollected) {
  struct Case {
    std::uint64_t bits;
    bool calls, tasks, steps, launches, memory;
  };
  const Case cases[] = {{ACL_PROF_ACL_API, true, false, false, false, false},
                        {ACL_PROF_TASK_TIME_L0, false, true, true, false, false},
                        {ACL_PROF_TASK_TIME_L3, false, true, true, false, false},
                        {ACL_PROF_AICORE_METRICS, false, true, true, false, false},
                        {ACL_PROF_TRAINING_TRACE, false, false, true, false, false},
                        {ACL_PROF_RUNTIME_API, false, false, false, true, false},
                        {ACL_PROF_TASK_MEMORY, false, false, false, false, true},
                        {ACL_PROF_L2CACHE | ACL_PROF_HCCL | ACL_PROF_GE_API_L1 |
                             ACL_PROF_API_STATS | ACL_PROF_OP_ATTR | ACL_PROF_AICORE_SHAPE,
                         false, false, false, false, false}};
  LoadedModel model;
  for (const Case& c : cases) {
    SCOPED_TRACE(c.bits);
    fs::remove_all(output_);
    ASSERT_EQ(init(output_), ACL_SUCCESS);
    const aclprofConfig* const wanted = config(c.bits, {0}, ACL_AICORE_PIPE_UTILIZATION);
    ASSERT_EQ(aclprofStart(wanted), ACL_SUCCESS);
    ASSERT_EQ(model.execute(), ACL_SUCCESS);
    void* block = nullptr;
    ASSERT_EQ(aclrtMalloc(&block, 64, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
    ASSERT_EQ(aclrtFree(block), ACL_SUCCESS);
    ASSERT_EQ(aclprofStop(wanted), ACL_SUCCESS);
    ASSERT_EQ(aclprofFinalize(), ACL_SUCCESS);
    const RawMemory memory = read(directories_in(output_).at(0));
    std::set<std::uint64_t> levels;
    for (const auto& event : memory.events)
      if (event.kind == EventKind::kApi) levels.insert(event.value & 0xffff);
    EXPECT_EQ(levels.contains(20000), c.calls);
    EXPECT_EQ(levels.contains(5000), c.launches);
    EXPECT_EQ(count(memory, EventKind::kTask) > 0, c.tasks);
    EXPECT_EQ(count(memory, EventKind::kStep) > 0, c.steps);
    EXPECT_EQ(count(memory, EventKind::kMemory) > 0, c.memory);
  }
}

TEST_F(ProfApi, SettingsAreCheckedAndTakeEffect) {
  EXPECT_EQ(set(ACL_PROF_ARGS_MIN, "1"), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(set(ACL_PROF_ARGS_MAX, "1"), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(set(static_cast<aclprofConfigType>(2), "1"), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(set(ACL_PROF_STORAGE_LIMIT, "100MB"), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(set(ACL_PROF_STORAGE_LIMIT, ""), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(set(ACL_PROF_LLC_MODE, "both"), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(set(ACL_PROF_DVPP_FREQ, "101"), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(set(ACL_PROF_OPTYPE, std::string(257, 'x')), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclprofSetConfig(ACL_PROF_HOST_SYS, "cpu", 2), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclprofSetConfig(ACL_PROF_HOST_SYS, nullptr, 0), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(set(ACL_PROF_DVPP_FREQ, "100"), ACL_SUCCESS);  // of hardware that is not here

  ASSERT_EQ(init(temp_ / "first"), ACL_SUCCESS);
  EXPECT_EQ(set(ACL_PROF_STORAGE_LIMIT, "300MB"), ACL_SUCCESS);
  EXPECT_EQ(set(ACL_PROF_PATH, (temp_ / "file/x").string()), ACL_SUCCESS);
  EXPECT_EQ(set(ACL_PROF_PATH, output_.string()), ACL_SUCCESS);
  ASSERT_EQ(aclprofStart(config_), ACL_SUCCESS);
  ASSERT_EQ(aclprofStop(config_), ACL_SUCCESS);
  std::vector<profiler::RawLoss> losses;
  const auto info = profiler::read_info(directories_in(output_).at(0), losses);
  EXPECT_EQ(info.sample.at("storage_limit_bytes"), 300 << 20);
  EXPECT_TRUE(fs::is_empty(temp_ / "first"));
}

TEST_F(ProfApi, SettingsEndWithTheInitThatTheyWereMadeIn) {
  for (const bool by_finalize : {true, false}) {
    fs::remove_all(output_);
    ASSERT_EQ(init(output_), ACL_SUCCESS);
    ASSERT_EQ(set(ACL_PROF_STORAGE_LIMIT, "300MB"), ACL_SUCCESS);
    if (by_finalize) {
      ASSERT_EQ(aclprofFinalize(), ACL_SUCCESS);
    } else {
      ASSERT_EQ(aclFinalize(), ACL_SUCCESS);
      ASSERT_EQ(aclInit(nullptr), ACL_SUCCESS);
    }
    ASSERT_EQ(init(output_), ACL_SUCCESS);
    ASSERT_EQ(aclprofStart(config_), ACL_SUCCESS);
    ASSERT_EQ(aclprofStop(config_), ACL_SUCCESS);
    ASSERT_EQ(aclprofFinalize(), ACL_SUCCESS);
    std::vector<profiler::RawLoss> losses;
    const auto info = profiler::read_info(directories_in(output_).at(0), losses);
    EXPECT_TRUE(info.sample.at("storage_limit_bytes").is_null());
  }
}

TEST_F(ProfApi, ClientOfTheSharedLibrary) {
  const fs::path om = temp_ / "m.om";
  Om small = tests::small_om();
  small.code.clear();
  std::ofstream(om, std::ios::binary) << small.serialize();
  const auto finished = tests::run_program(std::string(AOE_PROF_CLIENT) + " " + om.string() + " " +
                                           output_.string() + " 2>&1");
  ASSERT_EQ(finished.exit_code, 0) << finished.output;
  const std::vector<fs::path> directories = directories_in(output_);
  ASSERT_EQ(directories.size(), 2u);
  EXPECT_EQ(count(read(directories[0]), EventKind::kStep), 3u);
  EXPECT_EQ(count(read(directories[1]), EventKind::kStep), 1u);
}

}  // namespace
}  // namespace aoe::runtime
