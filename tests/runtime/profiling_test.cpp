// Collecting through the C API: acl.json in both vocabularies, what a collection holds, sampling, memory, misuse.

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <functional>
#include <future>
#include <set>

#include "acl/acl.h"
#include "base/error.h"
#include "base/json_text.h"
#include "profiler/collect/control_socket.h"
#include "profiler/collect/options.h"
#include "runtime/om/op_table.h"
#include "tests/profiler/raw_memory.h"
#include "tests/runtime/om_builder.h"
#include "tests/temp_dir.h"

#ifdef __SANITIZE_ADDRESS__
/// A child of fork() has one thread: what the others held when it began counts as leaked there.
static bool is_child_of_fork = false;
extern "C" int __lsan_is_turned_off() {
  return is_child_of_fork ? 1 : 0;
}
#endif

namespace aoe::runtime {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using profiler::EventKind;
using profiler::RawEvent;
using profiler::tests::RawMemory;

constexpr int kRuns = 4;

/// The directory of a collection that `output` must hold alone.
fs::path only_directory(const fs::path& output) {
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(output)) found.push_back(entry.path());
  EXPECT_EQ(found.size(), 1u);
  return found.empty() ? fs::path() : found.front();
}

/// An ordinary program: loads a model, executes it, ends. It calls `after_each` execution.
void run_program(
    const char* config, int runs = kRuns, const std::function<void()>& after_each = [] {}) {
  ASSERT_EQ(aclInit(config), ACL_SUCCESS) << aclGetRecentErrMsg();
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  Om om = tests::small_om();
  om.code.clear();
  om.tuning = {
      {"nodes",
       {{{"node", "step0_Add"}, {"impl", "loops"}, {"source", "bank"}, {"repo_key", 77}}}}};
  const std::string bytes = om.serialize();
  std::uint32_t model = 0;
  ASSERT_EQ(aclmdlLoadFromMem(bytes.data(), bytes.size(), &model), ACL_SUCCESS);
  void* memory = nullptr;
  ASSERT_EQ(aclrtMalloc(&memory, 4096, ACL_MEM_MALLOC_NORMAL_ONLY), ACL_SUCCESS);
  std::vector<float> x(6);
  std::vector<float> y(6);
  aclmdlDataset* const input = aclmdlCreateDataset();
  aclmdlDataset* const output = aclmdlCreateDataset();
  aclDataBuffer* const x_buffer = aclCreateDataBuffer(x.data(), x.size() * 4);
  aclDataBuffer* const y_buffer = aclCreateDataBuffer(y.data(), y.size() * 4);
  ASSERT_EQ(aclmdlAddDatasetBuffer(input, x_buffer), ACL_SUCCESS);
  ASSERT_EQ(aclmdlAddDatasetBuffer(output, y_buffer), ACL_SUCCESS);
  for (int i = 0; i < runs; ++i) {
    ASSERT_EQ(aclmdlExecute(model, input, output), ACL_SUCCESS);
    after_each();
  }
  aclDestroyDataBuffer(x_buffer);
  aclDestroyDataBuffer(y_buffer);
  aclmdlDestroyDataset(input);
  aclmdlDestroyDataset(output);
  ASSERT_EQ(aclrtFree(memory), ACL_SUCCESS);
  ASSERT_EQ(aclFinalize(), ACL_SUCCESS);
}

class AclProfiling : public ::testing::Test {
 protected:
  void SetUp() override { fs::create_directory(output_); }
  void TearDown() override {
    aclFinalize();
    ::unsetenv(profiler::kOptionsVariable);
    ::unsetenv("PROFILING_MODE");
  }

  /// Writes acl.json with this profiler object and the output directory.
  const char* config(json profiler) {
    profiler["output"] = output_.string();
    std::ofstream(config_path_) << json_text(json{{"profiler", profiler}});
    return config_path_.c_str();
  }
  RawMemory read() const {
    RawMemory memory;
    EXPECT_TRUE(profiler::read_raw(only_directory(output_), memory).empty());
    return memory;
  }
  static std::vector<RawEvent> events_of(const RawMemory& memory, EventKind kind) {
    std::vector<RawEvent> events;
    for (const RawEvent& event : memory.events)
      if (event.kind == kind) events.push_back(event);
    return events;
  }

  const aoe::tests::TempDir temp_;
  const fs::path output_ = temp_ / "prof";
  const std::string config_path_ = (temp_ / "acl.json").string();
};

TEST_F(AclProfiling, CurrentGenerationHoldsCallsTasksStepsAndTheModel) {
  run_program(config({{"switch", "on"}}));
  const fs::path directory = only_directory(output_);
  EXPECT_TRUE(directory.filename().string().starts_with("PROF_000001_"));
  for (const char* file : {"host/info.json", "host/sample.json", "host/start_info", "host/end_info",
                           "host/host_start.log", "device_0/info.json.0", "device_0/end_info.0"})
    EXPECT_TRUE(fs::exists(directory / file)) << file;

  const RawMemory memory = read();
  ASSERT_EQ(memory.models.size(), 1u);
  const json& model = memory.models[0];
  ASSERT_EQ(model.at("ops").size(), 2u);
  EXPECT_EQ(model["ops"][0]["impl"], "loops");
  EXPECT_EQ(model["ops"][0]["strategy"], "bank");
  EXPECT_EQ(model["ops"][0]["repo_key"], "77");
  EXPECT_EQ(model["ops"][0]["task_type"], "AI_CPU");
  EXPECT_EQ(model["ops"][0]["flops"], 6);
  EXPECT_EQ(model["ops"][0]["read_bytes"], 48);
  EXPECT_EQ(model["ops"][0]["weight_bytes"], 24);
  EXPECT_EQ(model["ops"][1]["write_bytes"], 24);
  EXPECT_TRUE(model.at("peak_gflops").is_null());  // as in an om of an older compiler
  EXPECT_TRUE(model.at("memory_gb_s").is_null());
  EXPECT_EQ(model["memory"]["static_ops"], parse_json(R"([{"op":"step0_Add","bytes":24}])"));

  const std::vector<RawEvent> tasks = events_of(memory, EventKind::kTask);
  const std::vector<RawEvent> steps = events_of(memory, EventKind::kStep);
  ASSERT_EQ(tasks.size(), 2u * kRuns);
  ASSERT_EQ(steps.size(), static_cast<std::size_t>(kRuns));
  const auto model_id = model.at("model_id").get<std::uint32_t>();
  for (std::uint32_t run = 0; run < kRuns; ++run) {
    const std::uint32_t run_and_model = (run + 1) << profiler::kModelBits | model_id;
    EXPECT_EQ(steps[run].value, profiler::task_value(profiler::kWholeModel, run_and_model));
    EXPECT_EQ(memory.strings.at(steps[run].name_id), "small");
    for (std::uint32_t op = 0; op < 2; ++op) {
      const RawEvent& task = tasks[2 * run + op];
      EXPECT_EQ(task.value, profiler::task_value(op, run_and_model));
      EXPECT_EQ(memory.strings.at(task.name_id), model["ops"][op]["name"].get<std::string>());
      EXPECT_GE(task.begin_ns, steps[run].begin_ns);
      EXPECT_LE(task.end_ns, steps[run].end_ns);
    }
  }

  std::set<std::string> calls;
  std::vector<std::uint64_t> connections;
  std::size_t launches = 0;
  for (const RawEvent& event : events_of(memory, EventKind::kApi)) {
    const std::string& name = memory.strings.at(event.name_id);
    const std::uint64_t level = event.value & 0xffff;
    EXPECT_EQ(level, name.starts_with("acl")     ? 20000u
                     : name.starts_with("Model") ? 15000u
                                                 : 5000u)
        << name;
    calls.insert(name);
    if (name == "aclmdlExecute") connections.push_back(event.value >> 16);
    if (name == "LaunchReference") ++launches;
  }
  for (const char* call :
       {"aclrtSetDevice", "aclmdlLoadFromMem", "ModelLoad", "aclrtMalloc", "aclrtFree"})
    EXPECT_TRUE(calls.contains(call)) << call;
  EXPECT_EQ(launches, 2u * kRuns);  // runtime_api is on by default here
  ASSERT_EQ(connections.size(), static_cast<std::size_t>(kRuns));
  EXPECT_EQ(connections[2], 3u << profiler::kModelBits | model_id);
  EXPECT_EQ(memory.threads.size(), 1u);
}

TEST(OpTable, StatesThePeaksThatTheOmCarries) {
  Om om = tests::small_om();
  om.peak_gflops = 512;
  om.memory_gb_s = 32;
  const Om* const gears[] = {&om};
  const json table = op_table(gears, {});
  EXPECT_EQ(table.at("peak_gflops"), 512);
  EXPECT_EQ(table.at("memory_gb_s"), 32);
}

TEST_F(AclProfiling, MemoryBlocksComeAndGo) {
  run_program(config({{"switch", "on"}, {"task_memory", "on"}}));
  const RawMemory memory = read();
  std::map<std::string, std::vector<RawEvent>> blocks;
  for (const RawEvent& event : events_of(memory, EventKind::kMemory))
    blocks[memory.strings.at(event.name_id)].push_back(event);
  for (const auto& [name, bytes] :
       {std::pair("arena small", 64u), {"weights small", 24u}, {"aclrtMalloc", 4096u}}) {
    SCOPED_TRACE(name);
    ASSERT_EQ(blocks[name].size(), 2u);
    EXPECT_EQ(blocks[name][0].value, bytes);
    EXPECT_EQ(blocks[name][0].begin_ns, blocks[name][0].end_ns);
    EXPECT_EQ(blocks[name][1].value, bytes);
    EXPECT_EQ(blocks[name][1].begin_ns, blocks[name][0].begin_ns);
    EXPECT_GT(blocks[name][1].end_ns, blocks[name][1].begin_ns);
  }
}

TEST_F(AclProfiling, Ss928SamplesEveryNthExecution) {
  run_program(config({{"switch", "on"}, {"interval", "2"}, {"acl_api", "off"}}), 10);
  const fs::path directory = only_directory(output_);
  EXPECT_TRUE(directory.filename().string().starts_with("JOB"));
  EXPECT_TRUE(fs::exists(directory / "info.json.0"));
  for (const auto& entry : fs::directory_iterator(directory / "data")) {
    const std::string name = entry.path().filename().string();
    EXPECT_TRUE(name.starts_with("AclModule.") || name.starts_with("AAcore.")) << name;
  }
  const RawMemory memory = read();
  EXPECT_TRUE(events_of(memory, EventKind::kApi).empty());
  EXPECT_EQ(events_of(memory, EventKind::kTask).size(), 2u * 5);
  const std::vector<RawEvent> steps = events_of(memory, EventKind::kStep);
  ASSERT_EQ(steps.size(), 5u);
  for (std::size_t i = 0; i < steps.size(); ++i)
    EXPECT_EQ(profiler::run_and_model_of(steps[i].value) >> profiler::kModelBits, 2 * i + 1);
}

TEST_F(AclProfiling, SwitchesAreKept) {
  run_program(config(
      {{"switch", "on"}, {"task_time", "off"}, {"runtime_api", "off"}, {"task_memory", "off"}}));
  const RawMemory memory = read();
  for (const RawEvent& event : memory.events) {
    EXPECT_EQ(event.kind, EventKind::kApi);
    EXPECT_GE(event.value & 0xffff, 15000u);  // calls and loads of models, no launches
  }
  EXPECT_FALSE(memory.events.empty());
}

TEST_F(AclProfiling, NobodyAnswersInThePlaceOfAnotherProcess) {
  const pid_t victim = ::fork();  // lives, and has no server
  if (victim == 0) {
    ::pause();
    ::_exit(0);
  }
  const std::string name = "aoe_profiler_" + std::to_string(victim);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  name.copy(address.sun_path + 1, name.size());
  const int impostor = ::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  ASSERT_EQ(::bind(impostor, reinterpret_cast<const sockaddr*>(&address),
                   static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size())),
            0);
  ASSERT_EQ(::listen(impostor, 1), 0);
  EXPECT_THROW(profiler::control_request(victim, {{"command", "status"}}), Error);
  ::close(impostor);
  EXPECT_FALSE(profiler::control_request(victim, {{"command", "status"}}));
  ::kill(victim, SIGKILL);
  ::waitpid(victim, nullptr, 0);
}

TEST_F(AclProfiling, WhoDoesNotAnswerIsWaitedForWithABound) {
  std::promise<void> asked;
  const profiler::ControlServer server([&](const json&) {
    asked.get_future().wait();
    return json::object();
  });
  EXPECT_THROW(
      profiler::control_request(::getpid(), {{"command", "status"}}, std::chrono::milliseconds(50)),
      Error);
  asked.set_value();
}

TEST_F(AclProfiling, BeginsAndEndsAtCommandsFromOutside) {
  ::setenv("PROFILING_MODE", "dynamic", 1);
  const profiler::CollectOptions options{.output = output_};
  const auto command = [&](const char* word) {
    return profiler::control_request(::getpid(),
                                     {{"command", word}, {"options", profiler::to_json(options)}})
        .value_or(json{{"error", "no reply"}});
  };
  int executions = 0;
  std::vector<json> replies;
  run_program(nullptr, 6, [&] {
    ++executions;
    if (executions == 2 || executions == 3) replies.push_back(command("start"));
    if (executions == 5) replies.push_back(command("stop"));
  });
  ASSERT_EQ(replies.size(), 3u);
  EXPECT_EQ(replies[0], json({{"directory", only_directory(output_).string()}}));
  EXPECT_EQ(replies[1], json({{"error", "a collection runs already"}}));
  EXPECT_EQ(replies[2], replies[0]);
  EXPECT_TRUE(command("start").contains("error"));  // aclFinalize was called
  const RawMemory memory = read();
  EXPECT_EQ(memory.models.size(), 1u);  // loaded before
  EXPECT_EQ(events_of(memory, EventKind::kTask).size(), 2u * 3);
}

TEST_F(AclProfiling, WithoutTheSwitchNothingIsCollected) {
  run_program(config({{"switch", "off"}, {"task_time", "nonsense"}}));
  EXPECT_TRUE(fs::is_empty(output_));
}

TEST_F(AclProfiling, UnknownKeysAndValuesAreRefused) {
  const json flawed[] = {
      {{"switch", "on"}, {"task_tiem", "on"}},
      {{"switch", "on"}, {"task_time", "l9"}},
      {{"switch", "on"}, {"aic_metrics", "Everything"}},
      {{"switch", "on"}, {"aic_metrics", "Custom:0x49,zz"}},
      {{"switch", "on"}, {"storage_limit", "100MB"}},
      {{"switch", "on"}, {"storage_limit", "200"}},
      {{"switch", "on"}, {"host_sys_usage_freq", 51}},
      {{"switch", "on"}, {"host_sys", "cpu,tape"}},
      {{"switch", "on"}, {"aicpu", "perhaps"}},
      {{"switch", "on"}, {"interval", "-1"}},
      {{"switch", "on"}, {"interval", "2"}, {"task_time", "on"}},  // both vocabularies
      {{"switch", "on"}, {"l2", {1, 2}}},
      {{"switch", 1}},
      {{"switch", true}},
      {{"switch", "yes"}},
  };
  for (const json& profiler : flawed) {
    EXPECT_EQ(aclInit(config(profiler)), ACL_ERROR_INVALID_PROFILING_CONFIG) << profiler;
    EXPECT_NE(aclGetRecentErrMsg(), nullptr);
  }
  std::ofstream(config_path_) << json_text(
      json{{"profiler", {{"switch", "on"}, {"output", "a$b"}}}});
  EXPECT_EQ(aclInit(config_path_.c_str()), ACL_ERROR_INVALID_PROFILING_CONFIG);
  std::ofstream(config_path_) << json_text(json{{"profiler", "on"}});
  EXPECT_EQ(aclInit(config_path_.c_str()), ACL_ERROR_INVALID_PROFILING_CONFIG);
  EXPECT_TRUE(fs::is_empty(output_));
}

TEST_F(AclProfiling, DirectoryThatCannotBeMadeIsRefused) {
  std::ofstream(temp_ / "file") << "not a directory";
  std::ofstream(config_path_) << json_text(
      json{{"profiler", {{"switch", "on"}, {"output", (temp_ / "file").string() + "/x"}}}});
  EXPECT_EQ(aclInit(config_path_.c_str()), ACL_ERROR_INVALID_FILE);
}

TEST_F(AclProfiling, MsprofGoesBeforeAclJson) {
  const profiler::CollectOptions options{.output = temp_ / "of_msprof", .session = "abc"};
  ::setenv(profiler::kOptionsVariable, json_text(profiler::to_json(options)).c_str(), 1);
  run_program(config({{"switch", "on"}}));
  EXPECT_TRUE(fs::is_empty(output_));
  std::vector<profiler::RawLoss> losses;
  const profiler::RawInfo info = profiler::read_info(only_directory(temp_ / "of_msprof"), losses);
  EXPECT_TRUE(losses.empty());
  EXPECT_EQ(info.sample.at("session"), "abc");
  EXPECT_EQ(info.info.at("pid"), ::getpid());
}

TEST_F(AclProfiling, BrokenOptionsOfMsprofDoNotHarmTheProgram) {
  ::setenv(profiler::kOptionsVariable, "{\"output\": 3}", 1);
  run_program(nullptr);
  EXPECT_TRUE(fs::is_empty(output_));
}

TEST_F(AclProfiling, TwoCollectionsOfOneProcessAreTwoDirectories) {
  run_program(config({{"switch", "on"}}));
  run_program(config({{"switch", "on"}}));
  EXPECT_EQ(std::distance(fs::directory_iterator(output_), fs::directory_iterator{}), 2);
}

// ---- programs that end badly, in a child process ----

/// What a child process prints to stderr, and how it ends.
struct ChildReport {
  int status = 0;
  std::string text;
};
template <typename Body>
ChildReport in_child(Body&& body) {
  int ends[2];
  EXPECT_EQ(::pipe(ends), 0);
  const pid_t pid = ::fork();
  if (pid == 0) {
#ifdef __SANITIZE_ADDRESS__
    is_child_of_fork = true;
#endif
    ::alarm(60);  // a child that hangs must not hang the tests
    ::dup2(ends[1], STDERR_FILENO);
    ::close(ends[0]);
    ::close(ends[1]);
    body();
    std::exit(::testing::Test::HasFailure() ? 1 : 0);
  }
  ::close(ends[1]);
  ChildReport report;
  char buffer[4096];
  ssize_t size = 0;
  while ((size = ::read(ends[0], buffer, sizeof buffer)) > 0)
    report.text.append(buffer, static_cast<std::size_t>(size));
  ::close(ends[0]);
  ::waitpid(pid, &report.status, 0);
  return report;
}

TEST_F(AclProfiling, KilledProgramLeavesWhatWasWritten) {
  const char* const path = config({{"switch", "on"}});
  const ChildReport report = in_child([&] {
    ASSERT_EQ(aclInit(path), ACL_SUCCESS);
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    // Calls until the first of them are on disk, then the worst way to end.
    const fs::path calls = only_directory(output_) / "host/data/aging.api_event.slice_0";
    std::error_code ignored;
    while (!fs::exists(calls, ignored) || fs::file_size(calls, ignored) == 0) {
      std::int32_t device = 0;
      aclrtGetDevice(&device);
      ::usleep(100);
    }
    ::raise(SIGKILL);
  });
  ASSERT_TRUE(WIFSIGNALED(report.status)) << report.text;
  RawMemory memory;
  // The last chunk may be torn.
  EXPECT_LE(profiler::read_raw(only_directory(output_), memory).size(), 1u);
  EXPECT_FALSE(fs::exists(only_directory(output_) / "host/end_info"));
  ASSERT_FALSE(memory.events.empty());
  for (const RawEvent& event : memory.events) EXPECT_TRUE(memory.strings.contains(event.name_id));
}

TEST_F(AclProfiling, ProgramThatNeverFinalizesEndsItsCollection) {
  const char* const path = config({{"switch", "on"}});
  const ChildReport report = in_child([&] {
    ASSERT_EQ(aclInit(path), ACL_SUCCESS);
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  });
  ASSERT_EQ(report.status, 0) << report.text;
  EXPECT_TRUE(fs::exists(only_directory(output_) / "host/end_info"));
  EXPECT_FALSE(read().events.empty());
}

TEST_F(AclProfiling, FullDiskStopsTheCollectionWithOneMessageAndNotTheProgram) {
  const char* const path = config({{"switch", "on"}});
  const ChildReport report = in_child([&] {
    ::signal(SIGXFSZ, SIG_IGN);  // a write beyond the limit then fails, as on a full disk
    rlimit limit{8000, 8000};
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
    run_program(path, 1000);
  });
  ASSERT_EQ(report.status, 0) << report.text;
  std::size_t messages = 0;
  for (std::size_t at = 0;
       (at = report.text.find("profiling has stopped", at)) != std::string::npos; ++at)
    ++messages;
  EXPECT_EQ(messages, 1u) << report.text;
  EXPECT_EQ(std::count(report.text.begin(), report.text.end(), '\n'), 1) << report.text;
  RawMemory memory;
  EXPECT_TRUE(profiler::read_raw(only_directory(output_), memory).empty());  // cut at whole chunks
}

TEST_F(AclProfiling, ChildOfTheProgramLeavesTheCollectionAlone) {
  const char* const path = config({{"switch", "on"}});
  ASSERT_EQ(aclInit(path), ACL_SUCCESS);
  const ChildReport report = in_child([] {});
  EXPECT_EQ(report.status, 0) << report.text;
  EXPECT_FALSE(fs::exists(only_directory(output_) / "host/end_info"));
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  ASSERT_EQ(aclFinalize(), ACL_SUCCESS);
  EXPECT_FALSE(read().events.empty());
}

}  // namespace
}  // namespace aoe::runtime
