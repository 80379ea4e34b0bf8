// The tuning library as its callers see it: order, codes, texts, and models that are really tuned.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <optional>
#include <random>
#include <thread>

#include "aoe/aoe.h"
#include "base/file.h"
#include "runtime/om/geared_om.h"
#include "tests/graph/model_text.h"
#include "tests/temp_dir.h"

namespace aoe::tests {
namespace {

using testing::Test;

constexpr const char* kTwoProducts =
    "g (float[4,64] x) => (float[4,32] y) <float[64,48] v, float[48,32] w> "
    "{ a = MatMul (x, v) b = Relu (a) y = MatMul (b, w) }";
constexpr const char* kAnyBatch =
    "g (float[N,64] x) => (float[N,32] y) <float[64,32] w> { y = MatMul (x, w) }";

class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) {
    ::setenv(name, value.c_str(), 1);
  }
  ~Variable() { ::unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
};

/// A library that is ready, with directories of its own.
class Api : public Test {
 protected:
  Api() {
    std::filesystem::create_directories(directory_ / "bank");
    bank_.emplace("TUNE_BANK_PATH", (directory_ / "bank").string());
    EXPECT_EQ(Aoe::AoeInitialize({{"work_path", (directory_ / "work").string()}}), AOE_SUCCESS)
        << AoeGetLastError();
    EXPECT_EQ(AoeCreateSession(&session_), AOE_SUCCESS);
  }
  ~Api() override {
    EXPECT_EQ(AoeFinalize(), AOE_SUCCESS) << AoeGetLastError();
    AoeSetLogCallback(nullptr, nullptr);
  }

  void set_model(const std::string& text, const char* name = "small") {
    const std::string bytes = model_bytes(text);
    const AoeGraph graph{.data = bytes.data(), .size = bytes.size(), .name = name};
    ASSERT_EQ(AoeSetTuningGraph(session_, &graph), AOE_SUCCESS) << AoeGetLastError();
  }

  static Aoe::Options few_trials(Aoe::Options more = {}) {
    more.insert({{"job_type", "2"}, {"preset", "quick"}, {"trials", "4"}, {"threads", "1"}});
    return more;
  }

  const AoeTuningResult& result(std::size_t index = 0) {
    const AoeTuningResult* found = nullptr;
    EXPECT_EQ(AoeGetTuningResult(session_, index, &found), AOE_SUCCESS) << AoeGetLastError();
    static const AoeTuningResult nothing = {};
    return found == nullptr ? nothing : *found;
  }

  /// The code, and a text that says why.
  void expect_refused(AoeStatus status, AoeStatus expected, const std::string& says) {
    EXPECT_EQ(status, expected) << AoeGetLastError();
    EXPECT_NE(std::string(AoeGetLastError()).find(says), std::string::npos) << AoeGetLastError();
  }

  const TempDir directory_;
  std::optional<Variable> bank_;
  uint64_t session_ = 0;
};

TEST(ApiOrder, NothingWorksBeforeInitialization) {
  uint64_t session = 1;
  const AoeGraph graph{.path = "m.onnx"};
  std::size_t count = 0;
  const AoeTuningResult* result = nullptr;
  EXPECT_EQ(AoeFinalize(), AOE_ERROR_UNINITIALIZED);
  EXPECT_EQ(AoeCreateSession(&session), AOE_ERROR_UNINITIALIZED);
  EXPECT_EQ(AoeDestroySession(1), AOE_ERROR_UNINITIALIZED);
  EXPECT_EQ(AoeSetTuningGraph(1, &graph), AOE_ERROR_UNINITIALIZED);
  EXPECT_EQ(AoeSetTuningGraphInput(1, nullptr, 0), AOE_ERROR_UNINITIALIZED);
  EXPECT_EQ(AoeSetDependGraphs(1, nullptr, 0), AOE_ERROR_UNINITIALIZED);
  EXPECT_EQ(AoeTuningGraph(1, nullptr, 0), AOE_ERROR_UNINITIALIZED);
  EXPECT_EQ(AoeStopTuning(1), AOE_ERROR_UNINITIALIZED);
  EXPECT_EQ(AoeSetProgressCallback(1, nullptr, nullptr), AOE_ERROR_UNINITIALIZED);
  EXPECT_EQ(AoeGetTuningResultCount(1, &count), AOE_ERROR_UNINITIALIZED);
  EXPECT_EQ(AoeGetTuningResult(1, 0, &result), AOE_ERROR_UNINITIALIZED);
  EXPECT_STREQ(AoeGetLastError(), "the library is not initialized; call AoeInitialize() first");
}

TEST(ApiOrder, InitializationTakesOptionsThatExist) {
  EXPECT_EQ(Aoe::AoeInitialize({{"work_pat", "x"}}), AOE_ERROR_INVALID_PARAM);
  EXPECT_NE(std::string(AoeGetLastError()).find("work_path"), std::string::npos)
      << AoeGetLastError();
  EXPECT_EQ(Aoe::AoeInitialize({{"time_limit", "long"}}), AOE_ERROR_INVALID_PARAM);
  EXPECT_EQ(Aoe::AoeInitialize({{"log", "loud"}}), AOE_ERROR_INVALID_PARAM);
  const AoeOption broken[] = {{"device", nullptr}};
  EXPECT_EQ(AoeInitialize(broken, 1), AOE_ERROR_INVALID_PARAM);
  EXPECT_EQ(AoeInitialize(nullptr, 1), AOE_ERROR_INVALID_PARAM);
  const AoeOption twice[] = {{"device", "0"}, {"device", "0"}};
  EXPECT_EQ(AoeInitialize(twice, 2), AOE_ERROR_INVALID_PARAM);
  EXPECT_EQ(AoeFinalize(), AOE_ERROR_UNINITIALIZED) << "none of these has initialized it";
}

TEST_F(Api, RefusesCallsOutOfOrder) {
  EXPECT_EQ(AoeInitialize(nullptr, 0), AOE_ERROR_REPEAT_INITIALIZE);
  const uint64_t nobody = session_ + 100;
  EXPECT_EQ(AoeDestroySession(nobody), AOE_ERROR_INVALID_SESSION);
  EXPECT_EQ(AoeTuningGraph(nobody, nullptr, 0), AOE_ERROR_INVALID_SESSION);
  EXPECT_EQ(AoeStopTuning(session_), AOE_SUCCESS) << "there is nothing to stop";
  const AoeTuningResult* result = nullptr;
  EXPECT_EQ(AoeGetTuningResult(session_, 0, &result), AOE_ERROR_INVALID_PARAM);
  expect_refused(Aoe::AoeTuningGraph(session_, few_trials()), AOE_ERROR_INVALID_PARAM,
                 "--model: is required");
  set_model(kTwoProducts);
  EXPECT_EQ(Aoe::AoeSetTuningGraph(session_, "other.onnx"), AOE_ERROR_REPEAT_GRAPH);
  expect_refused(Aoe::AoeTuningGraph(session_, few_trials({{"model", "other.onnx"}})),
                 AOE_ERROR_INVALID_PARAM, "the session has one");
  EXPECT_EQ(AoeDestroySession(session_), AOE_SUCCESS);
  EXPECT_EQ(AoeDestroySession(session_), AOE_ERROR_INVALID_SESSION);
}

TEST_F(Api, RefusesNullPointers) {
  EXPECT_EQ(AoeCreateSession(nullptr), AOE_ERROR_INVALID_PARAM);
  EXPECT_EQ(AoeSetTuningGraph(session_, nullptr), AOE_ERROR_INVALID_PARAM);
  const AoeGraph nothing = {};
  EXPECT_EQ(AoeSetTuningGraph(session_, &nothing), AOE_ERROR_INVALID_PARAM);
  EXPECT_EQ(AoeSetTuningGraphInput(session_, nullptr, 1), AOE_ERROR_INVALID_PARAM);
  EXPECT_EQ(AoeGetTuningResultCount(session_, nullptr), AOE_ERROR_INVALID_PARAM);
  EXPECT_EQ(AoeGetTuningResult(session_, 0, nullptr), AOE_ERROR_INVALID_PARAM);
  const AoeGraph graph{.path = "m.onnx"};
  EXPECT_EQ(AoeSetDependGraphs(session_, &graph, 1), AOE_ERROR_NO_SUPPORT);
}

TEST_F(Api, RefusesOptionsWithTheirReasons) {
  set_model(kTwoProducts);
  const auto expect = [&](const Aoe::Options& options, const std::string& says,
                          AoeStatus code = AOE_ERROR_INVALID_PARAM) {
    expect_refused(Aoe::AoeTuningGraph(session_, options), code, says);
  };
  expect({}, "--job_type: is required");
  expect({{"job_type", "3"}}, "3 is unknown");
  expect({{"job_type", "4"}}, "gradients");
  expect(few_trials({{"device", "1"}}), "--device: 1 does not exist", AOE_ERROR_NO_DEVICE);
  expect(few_trials({{"ip", "10.0.0.1"}}), "tuning measures on the machine that it runs on");
  expect(few_trials({{"port", "8000"}}), "--port");
  expect(few_trials({{"op_tune_mode", "fast"}}), "--op_tune_mode");
  expect(few_trials({{"build_bypass", "a=b"}}), "--build_bypass");
  expect(few_trials({{"virtual_type", "2"}}), "'2' is no value of it");
  expect({{"job_type", "1"}, {"Fop_format", "true"}}, "--Fop_format: is of operator tuning");
  expect({{"job_type", "2"}, {"Fnonhomo_split", "true"}}, "is of subgraph tuning");
  expect(few_trials({{"tuning_name", "a/b"}}), "cannot be part of a file's name");
  expect(few_trials({{"output", "nowhere/m"}}), "the directory does not exist", AOE_ERROR_NO_SPACE);
  expect(few_trials({{"reload", "no_such_job"}}), "there is no such job");
  expect(few_trials({{"reloads", ""}}), "did you mean --reload?");
}

TEST_F(Api, ReadsTheVariablesOfTheTooling) {
  set_model(kTwoProducts);
  {
    const Variable mode("AOE_MODE", "4");
    expect_refused(Aoe::AoeTuningGraph(session_, {}), AOE_ERROR_INVALID_PARAM, "AOE_MODE: 4");
  }
  {
    const Variable device("ASCEND_DEVICE_ID", "3");
    expect_refused(Aoe::AoeTuningGraph(session_, few_trials()), AOE_ERROR_NO_DEVICE,
                   "ASCEND_DEVICE_ID: 3 does not exist");
  }
  const Variable mode("AOE_MODE", "2");
  const Variable device("ASCEND_DEVICE_ID", "0");
  Aoe::Options options = few_trials();
  options.erase("job_type");
  EXPECT_EQ(Aoe::AoeTuningGraph(session_, options), AOE_SUCCESS) << AoeGetLastError();
}

TEST_F(Api, TunesAModelFromMemory) {
  set_model(kTwoProducts);
  ASSERT_EQ(Aoe::AoeTuningGraph(session_, few_trials({{"output", (directory_ / "out").string()}})),
            AOE_SUCCESS)
      << AoeGetLastError();
  std::size_t count = 0;
  EXPECT_EQ(AoeGetTuningResultCount(session_, &count), AOE_SUCCESS);
  EXPECT_EQ(count, 1U);
  const AoeTuningResult& tuned = result();
  EXPECT_EQ(tuned.state, AOE_TUNING_SUCCESSFUL);
  EXPECT_STREQ(tuned.tuning_name, "small");
  EXPECT_EQ(tuned.tasks, 2);
  EXPECT_GT(tuned.trials, 0);
  EXPECT_LE(tuned.trials, 4);
  EXPECT_GT(tuned.baseline_ms, 0);
  EXPECT_GT(tuned.result_ms, 0);
  EXPECT_STRNE(tuned.verdict, "");
  EXPECT_TRUE(std::filesystem::exists(tuned.result_path)) << tuned.result_path;
  EXPECT_TRUE(std::filesystem::exists(tuned.bank_path)) << tuned.bank_path;
  EXPECT_EQ(tuned.output_path, (directory_ / "out.om").string());
  EXPECT_EQ(read_file(tuned.output_path, ExitCode::kOm),
            read_file(tuned.model_path, ExitCode::kOm));
  EXPECT_NO_THROW(runtime::GearedOm::load(tuned.output_path));
  EXPECT_EQ(std::string(tuned.model_path).find((directory_ / "work").string()), 0U);
  for (std::size_t i = 0; i < tuned.gain_count; ++i) EXPECT_STRNE(tuned.gains[i].strategy, "");
}

TEST_F(Api, SaysWhatHasElapsedByTheClockOfItsTimeLimit) {
  constexpr double kLimitSeconds = 600, kBetweenTwoReadings = 0.02;
  double longest =
      0;  // of several, since other programs may come between two readings of the clock
  const auto note = [](uint64_t, const AoeProgress* progress, void* user) {
    double& sum = *static_cast<double*>(user);
    sum = std::max(sum, progress->elapsed_s + progress->limit_left_s);
  };
  set_model(kTwoProducts);
  ASSERT_EQ(AoeSetProgressCallback(session_, note, &longest), AOE_SUCCESS);
  ASSERT_EQ(Aoe::AoeTuningGraph(session_, few_trials({{"time_limit", "600"}})), AOE_SUCCESS)
      << AoeGetLastError();
  EXPECT_NEAR(longest, kLimitSeconds, kBetweenTwoReadings);
}

TEST_F(Api, TunesSubgraphsAndThenOperatorsOfOneFile) {
  write_file_atomically(directory_ / "m.onnx", model_bytes(kTwoProducts));
  ASSERT_EQ(Aoe::AoeSetTuningGraph(session_, (directory_ / "m.onnx").string()), AOE_SUCCESS);
  Aoe::Options options = few_trials();
  options["job_type"] = "1";
  const AoeStatus subgraphs = Aoe::AoeTuningGraph(session_, options);
  EXPECT_TRUE(subgraphs == AOE_SUCCESS || subgraphs == AOE_ERROR_NON_OPTIMIZE_GRAPH)
      << AoeGetLastError();
  EXPECT_EQ(Aoe::AoeTuningGraph(session_, few_trials()), AOE_SUCCESS) << AoeGetLastError();
  EXPECT_STREQ(result().tuning_name, "m");
}

TEST_F(Api, TunesTheModelsOfADirectory) {
  std::filesystem::create_directories(directory_ / "models");
  std::filesystem::create_directories(directory_ / "oms");
  write_file_atomically(directory_ / "models/b.onnx", model_bytes(kTwoProducts));
  write_file_atomically(
      directory_ / "models/a.onnx",
      model_bytes("g (float[8,8] x) => (float[8,8] y) { y = Softmax <axis = 1> (x) }"));
  write_file_atomically(directory_ / "models/notes.txt", "no model");
  const Aoe::Options options = few_trials({{"model_path", (directory_ / "models").string()},
                                           {"output", (directory_ / "oms").string()}});
  ASSERT_EQ(Aoe::AoeTuningGraph(session_, options), AOE_SUCCESS) << AoeGetLastError();
  std::size_t count = 0;
  EXPECT_EQ(AoeGetTuningResultCount(session_, &count), AOE_SUCCESS);
  ASSERT_EQ(count, 2U);
  EXPECT_STREQ(result(0).tuning_name, "a");
  EXPECT_STREQ(result(1).tuning_name, "b");
  EXPECT_NO_THROW(runtime::GearedOm::load(directory_ / "oms/a.om"));
  EXPECT_NO_THROW(runtime::GearedOm::load(directory_ / "oms/b.om"));
  expect_refused(Aoe::AoeTuningGraph(session_, few_trials({{"model_path", "nowhere"}})),
                 AOE_ERROR_INVALID_GRAPH, "--model_path nowhere");
}

TEST_F(Api, NamesModelsThatAreNone) {
  const AoeGraph graph{.data = "nonsense", .size = 8, .name = "broken"};
  ASSERT_EQ(AoeSetTuningGraph(session_, &graph), AOE_SUCCESS);
  expect_refused(Aoe::AoeTuningGraph(session_, few_trials()), AOE_ERROR_INVALID_GRAPH,
                 "is not an ONNX model");
  EXPECT_FALSE(std::filesystem::exists(directory_ / "work/aoe_workspace"));
}

TEST_F(Api, ShapesOfInputsFillInDynamicDimensions) {
  set_model(kAnyBatch);
  expect_refused(Aoe::AoeTuningGraph(session_, few_trials()), AOE_ERROR_INVALID_GRAPH, "x");
  const int64_t dims[] = {4, 64};
  const std::vector<float> values(4 * 64, 0.5F);
  AoeTensor input{.name = "x",
                  .data_type = 0,
                  .dims = dims,
                  .dim_count = 2,
                  .data = values.data(),
                  .size = values.size() * sizeof(float)};
  ASSERT_EQ(AoeSetTuningGraphInput(session_, &input, 1), AOE_SUCCESS) << AoeGetLastError();
  EXPECT_EQ(Aoe::AoeTuningGraph(session_, few_trials()), AOE_SUCCESS) << AoeGetLastError();
  EXPECT_EQ(result().tasks, 1);
  expect_refused(Aoe::AoeTuningGraph(session_, few_trials({{"input_shape", "x:8,64"}})),
                 AOE_ERROR_INVALID_PARAM, "another shape");

  input.name = "nowhere";
  ASSERT_EQ(AoeSetTuningGraphInput(session_, &input, 1), AOE_SUCCESS);
  EXPECT_NE(Aoe::AoeTuningGraph(session_, few_trials({{"input_shape", "x:4,64"}})), AOE_SUCCESS);
  EXPECT_NE(std::string(AoeGetLastError()).find("nowhere"), std::string::npos);
}

TEST_F(Api, RefusesInputsThatContradictThemselves) {
  const int64_t dims[] = {4, 64};
  const std::vector<float> values(4 * 64);
  const AoeTensor good{.name = "x",
                       .data_type = 0,
                       .dims = dims,
                       .dim_count = 2,
                       .data = values.data(),
                       .size = values.size() * sizeof(float)};
  const auto expect = [&](AoeTensor input, const std::string& says) {
    expect_refused(AoeSetTuningGraphInput(session_, &input, 1), AOE_ERROR_INVALID_PARAM, says);
  };
  AoeTensor bad = good;
  bad.size -= 4;
  expect(bad, "1020 bytes");
  bad = good;
  bad.data_type = 99;
  expect(bad, "data_type 99 is unknown");
  bad = good;
  bad.name = nullptr;
  expect(bad, "has no name");
  const int64_t negative[] = {-1, 64};
  bad = good;
  bad.dims = negative;
  expect(bad, "below 0");
  const AoeTensor twice[] = {good, good};
  expect_refused(AoeSetTuningGraphInput(session_, twice, 2), AOE_ERROR_INVALID_PARAM,
                 "given twice");
}

TEST_F(Api, ARunIsBusyUntilItEnds) {
  set_model(kTwoProducts);
  struct Seen {
    uint64_t other = 0;
    int calls = 0;
    std::vector<AoeStatus> codes;
  } seen;
  ASSERT_EQ(AoeCreateSession(&seen.other), AOE_SUCCESS);
  const auto callback = [](uint64_t session, const AoeProgress* progress, void* user) {
    auto& told = *static_cast<Seen*>(user);
    EXPECT_STREQ(progress->tuning_name, "small");
    if (told.calls++ > 0) return;
    std::size_t count = 0;
    const AoeGraph graph{.path = "m.onnx"};
    told.codes = {AoeTuningGraph(session, nullptr, 0),
                  AoeTuningGraph(told.other, nullptr, 0),
                  AoeDestroySession(session),
                  AoeFinalize(),
                  AoeGetTuningResultCount(session, &count),
                  AoeSetTuningGraph(session, &graph),
                  AoeSetProgressCallback(session, nullptr, nullptr)};
  };
  ASSERT_EQ(AoeSetProgressCallback(session_, callback, &seen), AOE_SUCCESS);
  EXPECT_EQ(Aoe::AoeTuningGraph(session_, few_trials()), AOE_SUCCESS) << AoeGetLastError();
  EXPECT_GT(seen.calls, 1);
  EXPECT_EQ(seen.codes, std::vector<AoeStatus>(7, AOE_ERROR_BUSY));
  EXPECT_EQ(AoeDestroySession(seen.other), AOE_SUCCESS);
}

TEST_F(Api, StopsWhenItIsAsked) {
  set_model(kTwoProducts);
  const auto callback = [](uint64_t session, const AoeProgress*, void*) { AoeStopTuning(session); };
  ASSERT_EQ(AoeSetProgressCallback(session_, callback, nullptr), AOE_SUCCESS);
  expect_refused(Aoe::AoeTuningGraph(session_, few_trials()), AOE_FAILURE,
                 "small: tuning was stopped before the end");
  EXPECT_EQ(result().state, AOE_TUNING_INCOMPLETE);
  EXPECT_TRUE(std::filesystem::exists(result().result_path));
  ASSERT_EQ(AoeSetProgressCallback(session_, nullptr, nullptr), AOE_SUCCESS);
  EXPECT_EQ(Aoe::AoeTuningGraph(session_, few_trials({{"reload", ""}})), AOE_SUCCESS)
      << "a stop ends one run: " << AoeGetLastError();
}

TEST_F(Api, LogsToTheCallback) {
  set_model(kTwoProducts);
  std::vector<std::string> lines;
  const auto callback = [](int32_t level, const char* component, const char* text, void* user) {
    static_cast<std::vector<std::string>*>(user)->push_back(std::to_string(level) + " " +
                                                            component + " " + text);
  };
  ASSERT_EQ(AoeSetLogCallback(callback, &lines), AOE_SUCCESS);
  EXPECT_EQ(Aoe::AoeTuningGraph(session_, few_trials({{"run_loop", "3"}})), AOE_SUCCESS);
  EXPECT_TRUE(std::ranges::any_of(lines, [](const std::string& line) {
    return line.find("3 flags --run_loop=3 has no effect") == 0;
  })) << testing::PrintToString(lines);
  ASSERT_EQ(AoeSetLogCallback(nullptr, nullptr), AOE_SUCCESS);
  lines.clear();
  EXPECT_EQ(Aoe::AoeTuningGraph(session_, few_trials({{"run_loop", "3"}})), AOE_SUCCESS);
  EXPECT_TRUE(lines.empty());
}

TEST_F(Api, SaysWhatIsWrongWithTheMeasuringProgram) {
  set_model(kTwoProducts);
  const auto expect = [&](const std::string& program, const std::string& says) {
    const Variable worker("AOE_WORKER", program);
    expect_refused(Aoe::AoeTuningGraph(session_, few_trials()), AOE_ERROR_EXECUTE_FAILED, says);
  };
  expect("/nonexistent/aoe_worker", "AOE_WORKER /nonexistent/aoe_worker: cannot be executed");
  expect("/bin/true", "/bin/true: is not the program that measures");
  expect(AOE_OTHER_WORKER, "is of version 0.0.1-0");
  EXPECT_FALSE(std::filesystem::exists(directory_ / "work/aoe_workspace")) << "nothing was begun";
}

TEST_F(Api, SaysWhatIsWrongWithTheBank) {
  set_model(kTwoProducts);
  const Variable bank("TUNE_BANK_PATH", "/nonexistent/bank");
  expect_refused(Aoe::AoeTuningGraph(session_, few_trials()), AOE_ERROR_BANK_INFO_UPDATE_FAILED,
                 "/nonexistent/bank");
}

TEST_F(Api, TextsAreThoseOfTheCallingThread) {
  EXPECT_EQ(AoeDestroySession(4711), AOE_ERROR_INVALID_SESSION);
  std::thread([] { EXPECT_STREQ(AoeGetLastError(), ""); }).join();
  EXPECT_EQ(AoeStopTuning(session_), AOE_SUCCESS);
  EXPECT_STREQ(AoeGetLastError(), "there is no session 4711; call AoeCreateSession() first");
  EXPECT_STRNE(AoeGetVersion(), "");
}

TEST_F(Api, ThreadsMayCallInAnyOrder) {
  constexpr int kThreads = 8, kCalls = 500;
  std::atomic<int> unexpected = 0;
  const auto call_at_random = [&](unsigned seed) {
    std::mt19937 random(seed);
    uint64_t session = 0;
    for (int i = 0; i < kCalls; ++i) {
      AoeStatus status = AOE_SUCCESS;
      std::size_t count = 0;
      const AoeTuningResult* result = nullptr;
      const AoeGraph graph{.path = "/nonexistent/m.onnx"};
      const uint64_t some = random() % 2 == 0 ? session : session_ + random() % 20;
      switch (random() % 8) {
        case 0:
          status = AoeCreateSession(&session);
          break;
        case 1:
          status = some == session_ ? AOE_SUCCESS : AoeDestroySession(some);
          break;
        case 2:
          status = AoeSetTuningGraph(some, &graph);
          break;
        case 3:
          status = Aoe::AoeTuningGraph(some, {{"job_type", "7"}});
          break;
        case 4:
          status = AoeGetTuningResultCount(some, &count);
          break;
        case 5:
          status = AoeGetTuningResult(some, 0, &result);
          break;
        case 6:
          status = AoeStopTuning(some);
          break;
        default:
          status = AoeSetLogCallback(nullptr, nullptr);
      }
      const AoeStatus known[] = {AOE_SUCCESS, AOE_ERROR_INVALID_SESSION, AOE_ERROR_REPEAT_GRAPH,
                                 AOE_ERROR_INVALID_PARAM, AOE_ERROR_BUSY};
      if (std::ranges::find(known, status) == std::end(known)) ++unexpected;
    }
  };
  std::vector<std::jthread> threads;
  for (unsigned seed = 0; seed < kThreads; ++seed) threads.emplace_back(call_at_random, seed);
  threads.clear();
  EXPECT_EQ(unexpected, 0);
}

}  // namespace
}  // namespace aoe::tests
