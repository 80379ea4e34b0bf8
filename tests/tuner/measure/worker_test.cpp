// The worker process with candidates that are right, wrong, crash, hang and eat memory: each costs itself and nothing else.
// This program is its own worker: main() is at the end.
#include "tuner/measure/worker.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <thread>

#include "base/error.h"
#include "base/file.h"
#include "compiler/loopnest/codegen.h"
#include "runtime/backend.h"
#include "tests/runtime/om_builder.h"
#include "tests/temp_dir.h"
#include "tests/tuner/fakes.h"
#include "tuner/measure/wire.h"
#include "tuner/measure/worker_measurer.h"
#include "tuner/measure/worker_process.h"

namespace aoe::tuner {
namespace {
using compiler::Candidate;
using compiler::Task;

/// An om of one reference step, y = `type`(x).
runtime::Om om_of(const std::string& type, const Task& task) {
  runtime::tests::OmBuilder builder(type);
  const int x = builder.input("x", task.in(0));
  const int y = builder.output("y", task.out());
  builder.reference(type, {x}, {y});
  return std::move(builder.om);
}

using compiler::loopnest::Builder;
using compiler::loopnest::Int;

/// An om of one generated step with a kernel that `write` writes.
runtime::Om om_of_kernel(const Task& task, const compiler::Soc& soc,
                         const std::function<void(Builder&, compiler::loopnest::Buffer,
                                                  compiler::loopnest::Buffer)>& write) {
  Builder kernel("k0");
  const auto x = kernel.buffer("x", compiler::loopnest::Access::kRead);
  const auto y = kernel.buffer("y", compiler::loopnest::Access::kReadWrite);
  kernel.parallel(1, [&](Int) { write(kernel, x, y); });
  runtime::tests::OmBuilder builder("kernel");
  const int in = builder.input("x", task.in(0));
  const int out = builder.output("y", task.out());
  builder.jit({{"k0", 1}}, {in}, {out});
  const std::vector<compiler::loopnest::Function> functions = {kernel.finish()};
  builder.om.code = compiler::loopnest::compile_shared_object(functions, soc);
  return std::move(builder.om);
}

runtime::Om crashing_om(const Task& task, const compiler::Soc& soc) {
  return om_of_kernel(task, soc, [](Builder& b, auto x, auto y) {
    b.store(y, 0, b.load(x, Int(std::int64_t{1} << 40), 1));
  });
}

runtime::Om hanging_om(const Task& task, const compiler::Soc& soc) {
  return om_of_kernel(task, soc, [](Builder& b, auto x, auto y) {
    b.loop("i", 0, Int(std::int64_t{1} << 60), 1,
           [&](Int i) { b.store(y, i % 16, b.load(y, i % 16, 1) + b.load(x, i % 32, 1)); });
  });
}

/// Off by 5e-6: more than a Relu may be, less than what Winograd's transforms do to sums.
runtime::Om inexact_om(const Task& task, const compiler::Soc& soc) {
  return om_of_kernel(task, soc, [&task](Builder& b, auto x, auto y) {
    using compiler::loopnest::max, compiler::loopnest::splat;
    b.loop("i", 0, Int(element_count(task.out().shape)), 1, [&](Int i) {
      b.store(y, i, max(b.load(x, i, 1), splat(0.0f, 1)) * splat(1.000005f, 1));
    });
  });
}

/// The system kills this process with SIGKILL when it has used this much more of processor time.
void limit_processor_time(rlim_t seconds) {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  const rlim_t spent = static_cast<rlim_t>(used.ru_utime.tv_sec + used.ru_stime.tv_sec);
  const rlimit limit{spent + seconds, spent + seconds};
  ::setrlimit(RLIMIT_CPU, &limit);
}

constexpr const char* kMarkerVariable = "AOE_WORKER_TEST_MARKER";

/// True once for each marker file, whatever process asks.
bool is_first_time() {
  const std::filesystem::path marker = std::getenv(kMarkerVariable);
  if (std::filesystem::exists(marker)) return false;
  write_file_atomically(marker, "");
  return true;
}

/// What the worker of these tests compiles: the Impl's name says how it behaves.
runtime::Om build_test_om(const Task& task, const bank::Strategy& strategy,
                          const compiler::Soc& soc) {
  if (strategy.impl == "compile_error") throw Error(ExitCode::kFailure, "no such kernel");
  if (strategy.impl == "compile_crash") std::abort();
  if (strategy.impl == "compile_hang")
    for (;;) std::this_thread::sleep_for(std::chrono::seconds(1));
  if (strategy.impl == "eats_memory") {
    std::vector<std::unique_ptr<char[]>> hoard;
    for (;;) hoard.push_back(std::make_unique_for_overwrite<char[]>(64 << 20));
  }
  if (strategy.impl == "killed") ::raise(SIGKILL);
  if (strategy.impl == "answers_for_another")
    send_message(kWorkerSocket, {{"finished", 1000}, {"timing", to_json(Timing())}});
  if (strategy.impl == "garbles_messages")
    (void)::write(kWorkerSocket, "no length and no message", 24);
  if (strategy.impl == "killed_once" && is_first_time()) ::raise(SIGKILL);
  if (strategy.impl == "used_up_once" && is_first_time()) ::raise(SIGXCPU);
  if (strategy.impl == "killed_running_once" && is_first_time()) {
    limit_processor_time(1);
    return hanging_om(task, soc);
  }
  if (strategy.impl == "run_crash") return crashing_om(task, soc);
  if (strategy.impl == "run_hang") return hanging_om(task, soc);
  if (strategy.impl == "wrong") return om_of("Neg", task);
  if (strategy.impl == "direct" || strategy.impl == "winograd_f43") return inexact_om(task, soc);
  if (strategy.impl == "shares_memory") {
    runtime::Om om = om_of("Relu", task);
    om.steps.front().backend = &runtime::backend("none");
    return om;
  }
  return om_of("Relu", task);
}

class Worker : public ::testing::Test {
 protected:
  explicit Worker(std::stop_token stop = {}) : measurer_(options(std::move(stop))) {}

  static WorkerOptions options(std::stop_token stop) {
    WorkerOptions o;
    o.soc = compiler::detect_soc(1);
    o.policy.weights_in = WeightsIn::kL2;
    o.policy.min_duration_ms = 0;
    o.policy.race_duration_ms = 0;
    o.policy.min_race_rounds = 7;
    o.policy.compile_timeout_s = 1.5;
    o.policy.run_timeout_s = 2;
    o.policy.memory_limit_mb = 1024;
    o.compile_threads = 2;
    o.stop = std::move(stop);
    return o;
  }

  Candidate candidate(const std::string& impl_name) {
    impls_.push_back(std::make_unique<tests::FakeImpl>(impl_name));
    return impls_.back()->at(1, 1);
  }

  std::vector<Timing> measure(const std::vector<std::string>& names) {
    std::vector<Candidate> candidates;
    for (const std::string& name : names) candidates.push_back(candidate(name));
    return measurer_.measure(task_, candidates, std::numeric_limits<double>::infinity());
  }

  const Task task_ = tests::fake_task();
  std::vector<std::unique_ptr<tests::FakeImpl>> impls_;
  WorkerMeasurer measurer_;
};

TEST_F(Worker, TimesVerifiedCandidatesInOneProcess) {
  const auto timings = measure({"good", "good", "good"});
  for (const Timing& timing : timings) {
    EXPECT_TRUE(timing.ok()) << timing.cause;
    EXPECT_GE(timing.samples_ns.size(), 2U);
    EXPECT_GT(timing.median_ns(), 0);
  }
  EXPECT_TRUE(measure({"good"})[0].ok());
  EXPECT_EQ(measurer_.workers_started(), 1);
}

TEST_F(Worker, AWrongResultHasNoTime) {
  const auto timings = measure({"wrong", "good"});
  EXPECT_EQ(timings[0].outcome, Outcome::kWrongResult);
  EXPECT_NE(timings[0].cause.find("the reference says"), std::string::npos) << timings[0].cause;
  EXPECT_EQ(timings[0].median_ns(), std::numeric_limits<double>::infinity());
  EXPECT_TRUE(timings[1].ok());
}

TEST_F(Worker, AnImplMayRoundAsItStatesAndNoMore) {
  const auto timings = measure({"direct", "winograd_f43"});
  EXPECT_EQ(timings[0].outcome, Outcome::kWrongResult);
  EXPECT_TRUE(timings[1].ok()) << timings[1].cause;
}

TEST_F(Worker, CompileErrorsKeepTheWorkerAlive) {
  const auto timings = measure({"good", "compile_error", "shares_memory", "good"});
  EXPECT_EQ(timings[1].outcome, Outcome::kCompileError);
  EXPECT_EQ(timings[1].cause, "no such kernel");
  EXPECT_EQ(timings[2].outcome, Outcome::kCompileError);
  EXPECT_TRUE(timings[0].ok() && timings[3].ok());
  EXPECT_EQ(measurer_.workers_started(), 1);
}

TEST_F(Worker, ACrashCostsTheCandidateThatCausedItAndNoOther) {
  const auto timings = measure({"good", "compile_crash", "good", "good"});
  EXPECT_EQ(timings[1].outcome, Outcome::kCrashed);
  EXPECT_NE(timings[1].cause.find("Aborted"), std::string::npos) << timings[1].cause;
  EXPECT_TRUE(timings[0].ok() && timings[2].ok() && timings[3].ok());
  EXPECT_GE(measurer_.workers_started(), 2);
}

TEST_F(Worker, AnAnswerForNoCandidateIsThatOfALostWorker) {
  const auto timings = measure({"answers_for_another"});
  EXPECT_EQ(timings[0].outcome, Outcome::kCrashed);
  EXPECT_EQ(timings[0].cause, "the worker answered for a candidate that it had not been given");
  EXPECT_TRUE(measure({"good"})[0].ok());
}

/// The worker itself waits for the next request.
TEST_F(Worker, WhatIsNoMessageIsTheEndOfAWorkerThatLives) {
  const auto timings = measure({"garbles_messages"});
  EXPECT_EQ(timings[0].outcome, Outcome::kCrashed);
  EXPECT_EQ(timings[0].cause, "the worker's answer is no message");
  EXPECT_TRUE(measure({"good"})[0].ok());
}

/// Of this process.
std::ptrdiff_t open_descriptors() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {});
}

TEST(WorkerProcess, LeavesNoDescriptorWhenItCannotStart) {
  const auto before = open_descriptors();
  EXPECT_THROW(WorkerProcess("/nowhere/worker"), Error);
  EXPECT_EQ(open_descriptors(), before);
}

TEST_F(Worker, AKernelThatCrashesOrHangsCostsItselfAlone) {
  const auto timings = measure({"good", "run_crash", "good", "run_hang", "good"});
  EXPECT_EQ(timings[1].outcome, Outcome::kCrashed);
  EXPECT_NE(timings[1].cause.find("Segmentation fault"), std::string::npos) << timings[1].cause;
  EXPECT_EQ(timings[3].outcome, Outcome::kTimeout) << timings[3].cause;
  EXPECT_TRUE(timings[0].ok() && timings[2].ok() && timings[4].ok());
}

TEST_F(Worker, AHangIsEndedByTheTimeLimit) {
  const auto timings = measure({"compile_hang", "good"});
  EXPECT_EQ(timings[0].outcome, Outcome::kTimeout);
  EXPECT_EQ(timings[0].cause, "no result after 1.5 s");
  EXPECT_TRUE(timings[1].ok()) << timings[1].cause;
}

TEST_F(Worker, AKillFromOutsideIsRepeatedOnceBeforeItCounts) {
  const auto timings = measure({"killed", "good"});
  EXPECT_EQ(timings[0].outcome, Outcome::kKilled);
  EXPECT_NE(timings[0].cause.find("killed from outside"), std::string::npos) << timings[0].cause;
  EXPECT_TRUE(timings[1].ok()) << timings[1].cause;
  // The batch, the first candidate alone, that one again, and one more for the rest.
  EXPECT_EQ(measurer_.workers_started(), 4);
}

/// With a marker that is not there yet: the first worker is killed, the second one is not.
class KilledOnce : public Worker {
 protected:
  KilledOnce() { ::setenv(kMarkerVariable, (temp_ / "marker").c_str(), 1); }
  ~KilledOnce() override { ::unsetenv(kMarkerVariable); }

  const aoe::tests::TempDir temp_;
};

TEST_F(KilledOnce, WhileItCompiles) {
  const auto timings = measure({"killed_once"});
  EXPECT_TRUE(timings[0].ok()) << timings[0].cause;
  EXPECT_EQ(measurer_.workers_started(), 2);
}

/// A run of hours under `ulimit -t` uses up more than one worker's time.
TEST_F(KilledOnce, ByTheSoftLimitOfProcessorTime) {
  const auto timings = measure({"used_up_once"});
  EXPECT_TRUE(timings[0].ok()) << timings[0].cause;
  EXPECT_EQ(measurer_.workers_started(), 2);
}

TEST_F(KilledOnce, WhileItRuns) {
  WorkerOptions patient = options({});
  patient.policy.run_timeout_s = 60;  // the limit of processor time comes first
  WorkerMeasurer measurer(patient);
  const std::vector<Candidate> candidates = {candidate("good"), candidate("killed_running_once"),
                                             candidate("good")};
  const auto timings = measurer.measure(task_, candidates, std::numeric_limits<double>::infinity());
  for (const Timing& timing : timings) EXPECT_TRUE(timing.ok()) << timing.cause;
  EXPECT_EQ(measurer.workers_started(), 2);
}

TEST_F(KilledOnce, WhileItRaces) {
  const std::vector<Candidate> racers = {candidate("good"), candidate("killed_once")};
  for (const Timing& timing : measurer_.race(task_, racers)) {
    EXPECT_TRUE(timing.ok()) << timing.cause;
    EXPECT_EQ(timing.samples_ns.size(), 7U);
  }
  EXPECT_EQ(measurer_.workers_started(), 2);
}

#ifndef __SANITIZE_ADDRESS__  // the sanitizer's allocator ends the process itself
TEST_F(Worker, MemoryIsLimited) {
  const auto timings = measure({"eats_memory", "good"});
  EXPECT_EQ(timings[0].outcome, Outcome::kOutOfMemory) << timings[0].cause;
  EXPECT_TRUE(timings[1].ok()) << timings[1].cause;
}
#endif

TEST_F(Worker, ClearlySlowerCandidatesAreDropped) {
  const std::vector<Candidate> one = {candidate("good")};
  const auto timings = measurer_.measure(task_, one, 0.001);
  ASSERT_TRUE(timings[0].ok());
  EXPECT_TRUE(timings[0].dropped);
  EXPECT_EQ(timings[0].samples_ns.size(), 2U);
}

TEST_F(Worker, RaceSamplesInPairs) {
  const std::vector<Candidate> racers = {candidate("good"), candidate("wrong"), candidate("good")};
  const auto timings = measurer_.race(task_, racers);
  ASSERT_EQ(timings.size(), 3U);
  EXPECT_EQ(timings[0].samples_ns.size(), 7U);
  EXPECT_EQ(timings[2].samples_ns.size(), 7U);
  EXPECT_EQ(timings[1].outcome, Outcome::kWrongResult);
}

TEST_F(Worker, SlowRacersLeaveButTheFirst) {
  WorkerOptions strict = options({});
  strict.policy.min_race_rounds = 12;
  strict.policy.race_drop_ratio = 0.01;  // none is as fast as that
  WorkerMeasurer measurer(strict);
  const std::vector<Candidate> racers = {candidate("good"), candidate("good")};
  const auto timings = measurer.race(task_, racers);
  ASSERT_TRUE(timings[0].ok() && timings[1].ok());
  EXPECT_EQ(timings[0].samples_ns.size(), 12U);
  EXPECT_FALSE(timings[0].dropped);
  EXPECT_EQ(timings[1].samples_ns.size(), 8U);
  EXPECT_TRUE(timings[1].dropped);
}

TEST_F(Worker, RunsWholeModelsStepByStep) {
  const aoe::tests::TempDir temp;
  const runtime::Om om = runtime::tests::small_om();
  runtime::Om without_code = om;
  without_code.code.clear();
  write_file_atomically(temp / "m.om", without_code.serialize());
  const std::filesystem::path paths[] = {temp / "m.om", temp / "m.om"};
  const auto timings = measurer_.run_models(paths);
  ASSERT_TRUE(timings) << timings.error();
  ASSERT_EQ(timings->size(), 2U);
  EXPECT_EQ((*timings)[0].samples_ns.size(), (*timings)[1].samples_ns.size());
  ASSERT_EQ((*timings)[0].steps_ns.size(), without_code.steps.size());
  EXPECT_EQ((*timings)[0].steps_ns[1].size(), (*timings)[0].samples_ns.size());
}

TEST_F(Worker, EachLoadOfAModelIsThatOfAProcessOfItsOwn) {
  const aoe::tests::TempDir temp;
  runtime::Om om = runtime::tests::small_om();
  om.code.clear();
  write_file_atomically(temp / "m.om", om.serialize());
  WorkerOptions several = options({});
  several.policy.min_model_rounds = several.policy.max_model_rounds =
      60'000;  // many: worth several loads
  several.policy.model_loads = 3;
  WorkerMeasurer measurer(several);
  const std::filesystem::path paths[] = {temp / "m.om", temp / "m.om"};
  const auto timings = measurer.run_models(paths);
  ASSERT_TRUE(timings) << timings.error();
  const auto loads = static_cast<std::size_t>(measurer.workers_started());
  EXPECT_GT(loads, 1U) << "a fast machine deals fewer rounds out among fewer processes";
  for (const ModelTiming& timing : *timings) {
    EXPECT_EQ(timing.load_begins.size(), loads);
    EXPECT_GE(timing.samples_ns.size(), 60'000U);
    EXPECT_EQ(timing.steps_ns[1].size(), timing.samples_ns.size());
  }
}

TEST_F(Worker, AModelThatDoesNotLoadIsANoWithItsCause) {
  const std::filesystem::path paths[] = {"/nonexistent/m.om"};
  const auto timings = measurer_.run_models(paths);
  ASSERT_FALSE(timings);
  EXPECT_NE(timings.error().find("/nonexistent/m.om"), std::string::npos) << timings.error();
  EXPECT_TRUE(measure({"good"})[0].ok());
}

/// Processor time of a child of this process, of any of them, in seconds; sends it the signal when it has had so much.
class SignalToTheWorker {
 public:
  SignalToTheWorker(int signal, double after_s)
      : thread_([=](const std::stop_token& stop) {
          while (!stop.stop_requested()) {
            for (const pid_t child : children())
              if (processor_time_s(child) > after_s) {
                ::kill(child, signal);
                return;
              }
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
          }
        }) {}

 private:
  static std::vector<pid_t> children() {
    std::vector<pid_t> found;
    for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task")) {
      std::ifstream file(thread.path() / "children");
      for (pid_t child = 0; file >> child;) found.push_back(child);
    }
    return found;
  }

  static double processor_time_s(pid_t process) {
    std::ifstream file("/proc/" + std::to_string(process) + "/stat");
    std::string stat;
    std::getline(file, stat);
    std::istringstream fields(stat.substr(std::min(stat.size(), stat.rfind(')') + 1)));
    std::string skipped;
    for (int i = 0; i < 11; ++i) fields >> skipped;  // utime follows
    double user = 0, system = 0;
    fields >> user >> system;
    return (user + system) / static_cast<double>(::sysconf(_SC_CLK_TCK));
  }

  std::jthread thread_;
};

/// Two oms that are measured for hours.
class EndlessModels : public Worker {
 protected:
  EndlessModels() {
    runtime::Om om = runtime::tests::small_om();
    om.code.clear();
    write_file_atomically(path_, om.serialize());
  }

  static WorkerOptions endless() {
    WorkerOptions o = options({});
    o.policy.min_model_rounds = o.policy.max_model_rounds = 1'000'000'000;
    o.policy.model_loads = 1;
    return o;
  }

  const aoe::tests::TempDir temp_;
  const std::filesystem::path path_ = temp_ / "m.om";
};

TEST_F(EndlessModels, AWorkerThatIsStoppedBetweenRoundsIsWaitedForAsForACandidate) {
  const std::filesystem::path paths[] = {path_, path_};
  WorkerMeasurer measurer(endless());
  const SignalToTheWorker stop(SIGSTOP, 1.0);
  const auto timings = measurer.run_models(paths);
  ASSERT_FALSE(timings);
  const std::string_view cause = "timeout: no result after ";
  ASSERT_TRUE(timings.error().starts_with(cause)) << timings.error();
  EXPECT_LT(std::stod(timings.error().substr(cause.size())), 20);  // 40 when no round has ended
}

TEST_F(EndlessModels, RoundsThatEndAreNotATimeout) {
  const std::filesystem::path paths[] = {path_, path_};
  WorkerOptions brief = endless();
  brief.policy.run_timeout_s = 0.2;  // for the first round 4 s; the rest takes longer
  WorkerMeasurer measurer(brief);
  measurer.set_bounds({.model_s = 6});
  const auto timings = measurer.run_models(paths);
  ASSERT_TRUE(timings) << timings.error();
  EXPECT_GT(timings->front().samples_ns.size(), 1U);
}

TEST(WorkerStop, AStopRequestEndsAHangAtOnce) {
  std::stop_source stop;
  WorkerOptions options;
  options.soc = compiler::detect_soc(1);
  options.policy.compile_timeout_s = 1000;
  options.stop = stop.get_token();
  WorkerMeasurer measurer(options);
  const tests::FakeImpl hang("compile_hang");
  const tests::FakeImpl good("good");
  const std::vector<Candidate> candidates = {hang.at(1, 1), good.at(1, 1)};
  std::jthread stopper([&] { stop.request_stop(); });
  for (const Timing& timing : measurer.measure(tests::fake_task(), candidates, 1e9))
    EXPECT_EQ(timing.outcome, Outcome::kStopped);
}

}  // namespace
}  // namespace aoe::tuner

int main(int argc, char** argv) {
  aoe::tuner::run_if_worker(argc, argv, aoe::tuner::build_test_om);
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
