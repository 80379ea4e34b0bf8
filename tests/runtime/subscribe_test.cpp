// Subscriptions through the C API: what comes through the pipe, who is waited for, wrong calls, threads.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <random>
#include <regex>
#include <set>
#include <thread>

#include "acl/acl.h"
#include "profiler/recorder.h"
#include "runtime/acl/op_record.h"
#include "runtime/acl/record_pipe.h"
#include "runtime/op_flops.h"
#include "tests/runtime/loaded_om.h"
#include "tests/runtime/run_program.h"
#include "tests/temp_dir.h"

namespace aoe::runtime {
namespace {

using tests::LoadedOm;
using tests::two_op_om;

constexpr std::size_t kRecord = sizeof(acl::OpRecord);
constexpr int kOps = 2;  ///< of two_op_om()

struct Pipe {
  Pipe() {
    int ends[2];
    EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    read_end = ends[0];
    write_end = ends[1];
  }
  ~Pipe() { close_read_end(); }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  void close_read_end() {
    if (read_end >= 0) ::close(read_end);
    read_end = -1;
  }
  /// Until the other end is closed, in pieces of this size.
  std::string read_all(std::size_t piece = 4096) const {
    std::string all, buffer(piece, '\0');
    for (ssize_t n; (n = ::read(read_end, buffer.data(), piece)) > 0;)
      all.append(buffer.data(), static_cast<std::size_t>(n));
    return all;
  }

  int read_end = -1;
  int write_end = -1;  ///< the library's, once subscribed
};

/// Reads a pipe to its end on a thread of its own.
class Reader {
 public:
  explicit Reader(const Pipe& pipe, std::size_t piece = 4096)
      : thread_([this, &pipe, piece] { bytes_ = pipe.read_all(piece); }) {}
  ~Reader() {
    if (thread_.joinable()) thread_.join();
  }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;
  const std::string& bytes() {
    thread_.join();
    return bytes_;
  }

 private:
  std::string bytes_;
  std::thread thread_;
};

std::string text(const std::string& bytes, std::uint32_t i, decltype(aclprofGetOpName) get,
                 decltype(aclprofGetOpNameLen) get_length) {
  std::size_t length = 0;
  if (get_length(bytes.data(), bytes.size(), i, &length) != ACL_SUCCESS) return "-";
  std::string buffer(length, '\0');
  if (get(bytes.data(), bytes.size(), i, buffer.data(), length) != ACL_SUCCESS) return "-";
  return buffer.c_str();
}
std::string name_of(const std::string& bytes, std::uint32_t i) {
  return text(bytes, i, aclprofGetOpName, aclprofGetOpNameLen);
}
std::string type_of(const std::string& bytes, std::uint32_t i) {
  return text(bytes, i, aclprofGetOpType, aclprofGetOpTypeLen);
}

std::uint64_t monotonic_us() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return std::uint64_t(now.tv_sec) * 1'000'000 + std::uint64_t(now.tv_nsec) / 1000;
}

std::size_t open_descriptors() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

/// Of "descriptor 7: 123 records of ops were dropped: ..."
std::size_t dropped_in(const std::string& log) {
  std::size_t sum = 0;
  const std::regex pattern("descriptor [0-9]+: ([0-9]+) records of ops were dropped");
  for (std::sregex_iterator i(log.begin(), log.end(), pattern), end; i != end; ++i)
    sum += std::stoul((*i)[1]);
  return sum;
}

class Subscribe : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(aclInit(nullptr), ACL_SUCCESS);
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  }
  void TearDown() override {
    aclFinalize();
    for (const aclprofSubscribeConfig* config : configs_) aclprofDestroySubscribeConfig(config);
  }

  const aclprofSubscribeConfig* config(int descriptor, int8_t with_times = 1,
                                       aclprofAicoreMetrics metrics = ACL_AICORE_NONE) {
    configs_.push_back(aclprofCreateSubscribeConfig(with_times, metrics, &descriptor));
    return configs_.back();
  }

  std::vector<const aclprofSubscribeConfig*> configs_;
};

TEST_F(Subscribe, EachOpOfEachRunGivesARecord) {
  const LoadedOm model(two_op_om());
  const Pipe pipe;
  Reader reader(pipe);
  model.execute(1);  // before the subscription: gives none
  const std::uint64_t before = monotonic_us();
  ASSERT_EQ(aclprofModelSubscribe(model.id(), config(pipe.write_end)), ACL_SUCCESS)
      << aclGetRecentErrMsg();
  model.execute(3);
  ASSERT_EQ(aclprofModelUnSubscribe(model.id()), ACL_SUCCESS);
  const std::uint64_t after = monotonic_us();
  model.execute(1);

  const std::string bytes = reader.bytes();
  std::size_t size = 0;
  ASSERT_EQ(aclprofGetOpDescSize(&size), ACL_SUCCESS);
  EXPECT_EQ(size, kRecord);
  std::uint32_t count = 0;
  ASSERT_EQ(aclprofGetOpNum(bytes.data(), bytes.size(), &count), ACL_SUCCESS);
  ASSERT_EQ(count, 3u * kOps);
  std::uint64_t last = before;
  for (std::uint32_t i = 0; i < count; ++i) {
    const bool is_add = i % kOps == 0;
    EXPECT_EQ(name_of(bytes, i), is_add ? "step0_Add" : "step1_Relu");
    EXPECT_EQ(type_of(bytes, i), is_add ? "Add" : "Relu");
    EXPECT_EQ(aclprofGetModelId(bytes.data(), size * count, i), model.id());
    EXPECT_EQ(aclprofGetOpFlag(bytes.data(), bytes.size(), i), ACL_SUBSCRIBE_OP);
    EXPECT_EQ(aclprofGetOpAttriValue(bytes.data(), bytes.size(), i, ACL_SUBSCRIBE_ATTRI_THREADID),
              std::to_string(::gettid()));
    EXPECT_EQ(aclprofGetOpAttriValue(bytes.data(), bytes.size(), i, ACL_SUBSCRIBE_ATTRI_NONE),
              nullptr);
    const std::uint64_t start = aclprofGetOpStart(bytes.data(), bytes.size(), i);
    const std::uint64_t end = aclprofGetOpEnd(bytes.data(), bytes.size(), i);
    EXPECT_LE(last, start + 1);  // the clocks agree to a microsecond
    EXPECT_LE(start, end);
    EXPECT_LE(end, after + 1);
    last = start;
    const std::uint64_t duration = aclprofGetOpDuration(bytes.data(), bytes.size(), i);
    EXPECT_LE(duration, end - start + 1);
    EXPECT_EQ(aclprofGetOpExecutionTime(bytes.data(), bytes.size(), i), duration);
    EXPECT_EQ(aclprofGetOpCubeFops(bytes.data(), bytes.size(), i), 0u);
    EXPECT_EQ(aclprofGetOpVectorFops(bytes.data(), bytes.size(), i), is_add ? 6u : 0u);
  }
}

TEST_F(Subscribe, NamesAndTypesAreReadOncePerRecord) {
  const LoadedOm model(two_op_om());
  const Pipe pipe;
  ASSERT_EQ(aclprofModelSubscribe(model.id(), config(pipe.write_end)), ACL_SUCCESS);
  model.execute(2);
  ASSERT_EQ(aclprofModelUnSubscribe(model.id()), ACL_SUCCESS);
  const std::string bytes = pipe.read_all();
  ASSERT_EQ(bytes.size(), 2 * kOps * kRecord);

  std::array<char, 10> name{};  // "step0_Add" and its end
  EXPECT_EQ(aclprofGetOpName(bytes.data(), bytes.size(), 0, name.data(), name.size() - 1),
            ACL_ERROR_INVALID_PARAM);  // too short: not read yet
  EXPECT_EQ(aclprofGetOpName(bytes.data(), bytes.size(), 0, name.data(), name.size()), ACL_SUCCESS);
  EXPECT_STREQ(name.data(), "step0_Add");
  EXPECT_EQ(aclprofGetOpName(bytes.data(), bytes.size(), 0, name.data(), name.size()),
            ACL_ERROR_INVALID_PARAM);
  std::size_t length = 0;
  EXPECT_EQ(aclprofGetOpNameLen(bytes.data(), bytes.size(), 0, &length), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(type_of(bytes, 0), "Add");                    // of the same record
  EXPECT_EQ(name_of(bytes, 2), "step0_Add");              // of the next run
  EXPECT_EQ(name_of(bytes.substr(2 * kRecord), 0), "-");  // the same record elsewhere
}

TEST_F(Subscribe, NamesOutliveTheModel) {
  const Pipe pipe;
  {
    const LoadedOm model(two_op_om());
    ASSERT_EQ(aclprofModelSubscribe(model.id(), config(pipe.write_end)), ACL_SUCCESS);
    model.execute(1);
    ASSERT_EQ(aclmdlUnload(model.id()), ACL_SUCCESS);  // unsubscribes and closes
  }
  ASSERT_EQ(aclFinalize(), ACL_SUCCESS);
  const std::string bytes = pipe.read_all();
  ASSERT_EQ(bytes.size(), kOps * kRecord);
  EXPECT_EQ(name_of(bytes, 1), "step1_Relu");
}

TEST_F(Subscribe, FinalizingClosesTheDescriptor) {
  const LoadedOm model(two_op_om());
  const Pipe pipe;
  Reader reader(pipe);
  ASSERT_EQ(aclprofModelSubscribe(model.id(), config(pipe.write_end)), ACL_SUCCESS);
  model.execute(5);
  ASSERT_EQ(aclFinalize(), ACL_SUCCESS);
  EXPECT_EQ(::fcntl(pipe.write_end, F_GETFD), -1);
  EXPECT_EQ(reader.bytes().size(), 5 * kOps * kRecord);
}

TEST_F(Subscribe, RecordsComeWhileTheModelRuns) {
  const LoadedOm model(two_op_om());
  const Pipe pipe;
  ASSERT_EQ(aclprofModelSubscribe(model.id(), config(pipe.write_end)), ACL_SUCCESS);
  model.execute(1);
  std::array<char, 2 * kRecord> record{};
  ASSERT_EQ(::read(pipe.read_end, record.data(), record.size()), kOps * ssize_t{kRecord});
  model.execute(1);
  ASSERT_EQ(::read(pipe.read_end, record.data(), record.size()), kOps * ssize_t{kRecord});
}

TEST_F(Subscribe, WithoutTimesTheRestIsThere) {
  const LoadedOm model(two_op_om());
  const Pipe pipe;
  Reader reader(pipe);
  ASSERT_EQ(aclprofModelSubscribe(model.id(), config(pipe.write_end, 0)), ACL_SUCCESS);
  model.execute(1);
  ASSERT_EQ(aclprofModelUnSubscribe(model.id()), ACL_SUCCESS);
  const std::string bytes = reader.bytes();
  ASSERT_EQ(bytes.size(), kOps * kRecord);
  EXPECT_EQ(aclprofGetOpStart(bytes.data(), bytes.size(), 0), 0u);
  EXPECT_EQ(aclprofGetOpEnd(bytes.data(), bytes.size(), 0), 0u);
  EXPECT_EQ(aclprofGetOpDuration(bytes.data(), bytes.size(), 0), 0u);
  EXPECT_EQ(name_of(bytes, 0), "step0_Add");
}

TEST_F(Subscribe, PartialReadsAddUp) {
  const LoadedOm model(two_op_om());
  const Pipe pipe;
  Reader reader(pipe, 7);
  ASSERT_EQ(aclprofModelSubscribe(model.id(), config(pipe.write_end)), ACL_SUCCESS);
  model.execute(50);
  ASSERT_EQ(aclprofModelUnSubscribe(model.id()), ACL_SUCCESS);
  const std::string bytes = reader.bytes();
  std::uint32_t count = 0;
  ASSERT_EQ(aclprofGetOpNum(bytes.data(), bytes.size(), &count), ACL_SUCCESS);
  EXPECT_EQ(count, 50u * kOps);
}

TEST_F(Subscribe, AReaderThatStopsLosesRecordsThatAreCounted) {
  const LoadedOm model(two_op_om());
  const Pipe pipe;
  constexpr int kRuns = 12'000;  // more than the pipe and the queue hold
  static_assert(kRuns * kOps > acl::RecordPipe::kMostWaiting + 65536 / kRecord);
  ASSERT_EQ(aclprofModelSubscribe(model.id(), config(pipe.write_end)), ACL_SUCCESS);
  ::testing::internal::CaptureStderr();
  model.execute(kRuns);  // nobody reads
  EXPECT_EQ(aclprofModelUnSubscribe(model.id()), ACL_SUCCESS);
  const std::string log = ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(::fcntl(pipe.write_end, F_GETFD), -1);
  const std::string bytes = pipe.read_all();
  EXPECT_EQ(bytes.size() % kRecord, 0u);
  EXPECT_GT(dropped_in(log), 0u);
  EXPECT_EQ(bytes.size() / kRecord + dropped_in(log), std::size_t{kRuns} * kOps) << log;
}

TEST_F(Subscribe, AReaderThatClosesDoesNotEndTheProgram) {
  const LoadedOm model(two_op_om());
  Pipe pipe;
  ASSERT_EQ(aclprofModelSubscribe(model.id(), config(pipe.write_end)), ACL_SUCCESS);
  pipe.close_read_end();
  ::testing::internal::CaptureStderr();
  model.execute(100);
  EXPECT_EQ(aclprofModelUnSubscribe(model.id()), ACL_SUCCESS);
  const std::string log = ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(dropped_in(log), 100u * kOps) << log;
  EXPECT_NE(log.find("its reader closed it"), std::string::npos) << log;
}

TEST_F(Subscribe, ADescriptorThatTheProgramClosedIsLeftAlone) {
  const tests::LoadedOm model(two_op_om());
  const aoe::tests::TempDir temp;
  const Pipe pipe;
  ASSERT_EQ(aclprofModelSubscribe(model.id(), config(pipe.write_end)), ACL_SUCCESS);
  const std::string path = temp / "another.txt";
  const int file = ::open(path.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600);
  ASSERT_EQ(::dup2(file, pipe.write_end), pipe.write_end);  // closes it, and takes its number
  ::testing::internal::CaptureStderr();
  model.execute(10);
  EXPECT_EQ(aclprofModelUnSubscribe(model.id()), ACL_SUCCESS);
  EXPECT_NE(::testing::internal::GetCapturedStderr().find("the program closed it"),
            std::string::npos);
  EXPECT_EQ(std::filesystem::file_size(path), 0u);
  EXPECT_EQ(::fcntl(pipe.write_end, F_GETFD), 0);
  ::close(pipe.write_end);
  ::close(file);
}

TEST_F(Subscribe, TwoModelsShareAPipe) {
  const LoadedOm first(two_op_om()), second(two_op_om()), silent(two_op_om());
  const Pipe pipe;
  Reader reader(pipe);
  ASSERT_EQ(aclprofModelSubscribe(first.id(), config(pipe.write_end)), ACL_SUCCESS);
  ASSERT_EQ(aclprofModelSubscribe(second.id(), config(pipe.write_end)), ACL_SUCCESS);
  first.execute(1);
  second.execute(2);
  silent.execute(3);
  ASSERT_EQ(aclprofModelUnSubscribe(first.id()), ACL_SUCCESS);
  EXPECT_EQ(::fcntl(pipe.write_end, F_GETFD), FD_CLOEXEC);  // the second still writes
  first.execute(1);
  second.execute(1);
  ASSERT_EQ(aclprofModelUnSubscribe(second.id()), ACL_SUCCESS);
  const std::string bytes = reader.bytes();
  std::map<std::size_t, int> records;
  for (std::uint32_t i = 0; i < bytes.size() / kRecord; ++i)
    ++records[aclprofGetModelId(bytes.data(), bytes.size(), i)];
  EXPECT_EQ(records, (std::map<std::size_t, int>{{first.id(), kOps}, {second.id(), 3 * kOps}}));
}

TEST_F(Subscribe, TwoModelsHaveTheirOwnPipes) {
  const LoadedOm first(two_op_om()), second(two_op_om());
  const Pipe to_first, to_second;
  Reader of_first(to_first), of_second(to_second);
  ASSERT_EQ(aclprofModelSubscribe(first.id(), config(to_first.write_end)), ACL_SUCCESS);
  ASSERT_EQ(aclprofModelSubscribe(second.id(), config(to_second.write_end)), ACL_SUCCESS);
  first.execute(1);
  second.execute(2);
  ASSERT_EQ(aclFinalize(), ACL_SUCCESS);
  EXPECT_EQ(of_first.bytes().size(), kOps * kRecord);
  EXPECT_EQ(of_second.bytes().size(), 2 * kOps * kRecord);
}

TEST_F(Subscribe, WrongCallsGetTheDocumentedCodes) {
  const LoadedOm model(two_op_om()), other(two_op_om());
  const Pipe pipe, another;
  const auto* const good = config(pipe.write_end);
  EXPECT_EQ(aclprofModelUnSubscribe(model.id()), ACL_ERROR_INVALID_MODEL_ID);
  EXPECT_EQ(aclprofModelSubscribe(model.id(), nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclprofModelSubscribe(999'999, good), ACL_ERROR_INVALID_MODEL_ID);
  ASSERT_EQ(aclprofModelSubscribe(model.id(), good), ACL_SUCCESS);
  EXPECT_EQ(aclprofModelSubscribe(model.id(), good), ACL_ERROR_PROF_REPEAT_SUBSCRIBE);
  EXPECT_EQ(aclprofModelSubscribe(other.id(), config(another.write_end, 0)),
            ACL_ERROR_INVALID_PROFILING_CONFIG);
  EXPECT_EQ(
      aclprofModelSubscribe(other.id(), config(another.write_end, 1, ACL_AICORE_PIPE_UTILIZATION)),
      ACL_ERROR_INVALID_PROFILING_CONFIG);
  EXPECT_EQ(aclprofModelUnSubscribe(other.id()), ACL_ERROR_INVALID_MODEL_ID);
  EXPECT_EQ(aclprofModelUnSubscribe(model.id()), ACL_SUCCESS);
  EXPECT_EQ(aclprofModelUnSubscribe(model.id()), ACL_ERROR_INVALID_MODEL_ID);

  int descriptor = another.write_end;
  EXPECT_EQ(aclprofCreateSubscribeConfig(2, ACL_AICORE_NONE, &descriptor), nullptr);
  EXPECT_EQ(aclprofCreateSubscribeConfig(1, ACL_AICORE_NONE, nullptr), nullptr);
  EXPECT_EQ(aclprofDestroySubscribeConfig(nullptr), ACL_ERROR_INVALID_PARAM);
  auto* const config = aclprofCreateSubscribeConfig(1, ACL_AICORE_NONE, &descriptor);
  EXPECT_EQ(aclprofDestroySubscribeConfig(config), ACL_SUCCESS);
  EXPECT_EQ(aclprofDestroySubscribeConfig(config), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclprofModelSubscribe(model.id(), config), ACL_ERROR_INVALID_PARAM);
  ASSERT_EQ(aclFinalize(), ACL_SUCCESS);
  EXPECT_EQ(aclprofModelSubscribe(model.id(), good), ACL_ERROR_UNINITIALIZE);
  EXPECT_EQ(aclprofModelUnSubscribe(model.id()), ACL_ERROR_UNINITIALIZE);
  ::close(another.write_end);
}

TEST_F(Subscribe, ModesExcludeEachOther) {
  const aoe::tests::TempDir temp;
  const std::string output = temp / "prof", acl_json = temp / "acl.json";
  const auto subscribe = [&] {
    const LoadedOm model(two_op_om());
    const Pipe pipe;
    const aclError status = aclprofModelSubscribe(model.id(), config(pipe.write_end));
    if (status != ACL_SUCCESS) ::close(pipe.write_end);
    return status;
  };
  EXPECT_EQ(subscribe(), ACL_SUCCESS);
  EXPECT_EQ(aclprofInit(output.c_str(), output.size()), ACL_ERROR_PROF_API_CONFLICT);
  ASSERT_EQ(aclFinalize(), ACL_SUCCESS);

  ASSERT_EQ(aclInit(nullptr), ACL_SUCCESS);
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  ASSERT_EQ(aclprofInit(output.c_str(), output.size()), ACL_SUCCESS);
  EXPECT_EQ(subscribe(), ACL_ERROR_PROF_API_CONFLICT);
  ASSERT_EQ(aclprofFinalize(), ACL_SUCCESS);
  EXPECT_EQ(subscribe(), ACL_SUCCESS);  // each in turn
  ASSERT_EQ(aclFinalize(), ACL_SUCCESS);

  std::ofstream(acl_json) << R"({"profiler": {"switch": "on", "output": ")" << output << "\"}}";
  ASSERT_EQ(aclInit(acl_json.c_str()), ACL_SUCCESS) << aclGetRecentErrMsg();
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(subscribe(), ACL_ERROR_PROF_ALREADY_RUN);
}

TEST_F(Subscribe, OnlyWhatNeverWaitsIsWrittenTo) {
  const LoadedOm model(two_op_om());
  const aoe::tests::TempDir temp;
  const Pipe pipe;
  const int file = ::open((temp / "file").c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
  for (const int descriptor : {-1, 1'000'000, file, pipe.read_end})
    EXPECT_EQ(aclprofModelSubscribe(model.id(), config(descriptor)), ACL_ERROR_INVALID_PARAM)
        << descriptor;
  EXPECT_EQ(std::filesystem::file_size(temp / "file"), 0u);
  ::close(file);
  ASSERT_EQ(aclprofModelSubscribe(model.id(), config(pipe.write_end)), ACL_SUCCESS);
}

TEST_F(Subscribe, TheDescriptorsFlagsAreGivenBack) {
  const LoadedOm model(two_op_om());
  const Pipe pipe;
  const int duplicate = ::dup(pipe.write_end);
  const int before = ::fcntl(duplicate, F_GETFL);
  ASSERT_EQ(aclprofModelSubscribe(model.id(), config(pipe.write_end)), ACL_SUCCESS);
  ASSERT_EQ(aclprofModelUnSubscribe(model.id()), ACL_SUCCESS);
  EXPECT_EQ(::fcntl(duplicate, F_GETFL), before);
  ::close(duplicate);
}

TEST_F(Subscribe, CyclesLeakNeitherDescriptorsNorThreads) {
  const LoadedOm model(two_op_om());
  const auto cycle = [&] {
    const Pipe pipe;
    const int descriptor = pipe.write_end;
    auto* const own =
        aclprofCreateSubscribeConfig(1, ACL_AICORE_NONE, const_cast<int*>(&descriptor));
    ASSERT_EQ(aclprofModelSubscribe(model.id(), own), ACL_SUCCESS);
    model.execute(1);
    ASSERT_EQ(aclprofModelUnSubscribe(model.id()), ACL_SUCCESS);
    ASSERT_EQ(aclprofDestroySubscribeConfig(own), ACL_SUCCESS);
    ASSERT_EQ(pipe.read_all().size(), kOps * kRecord);
  };
  cycle();
  const std::size_t before = open_descriptors();
  for (int i = 0; i < 1000; ++i) cycle();
  EXPECT_EQ(open_descriptors(), before);
}

TEST_F(Subscribe, UnsubscribingWhileAnotherThreadExecutes) {
  const LoadedOm model(two_op_om());
  std::atomic<bool> is_over = false;
  std::thread runner([&] {
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    while (!is_over) ASSERT_EQ(model.execute(), ACL_SUCCESS);
  });
  for (int i = 0; i < 50; ++i) {
    const Pipe pipe;
    Reader reader(pipe);
    const auto* const own = config(pipe.write_end);
    ASSERT_EQ(aclprofModelSubscribe(model.id(), own), ACL_SUCCESS);
    std::this_thread::yield();
    ASSERT_EQ(aclprofModelUnSubscribe(model.id()), ACL_SUCCESS);
    const std::string bytes = reader.bytes();
    std::uint32_t count = 0;
    EXPECT_EQ(aclprofGetOpNum(bytes.data(), bytes.size(), &count),
              bytes.empty() ? ACL_ERROR_INVALID_PARAM : ACL_SUCCESS);
  }
  is_over = true;
  runner.join();
}

TEST_F(Subscribe, EightThreadsInAnyOrderGetDocumentedCodes) {
  const unsigned seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::vector<std::unique_ptr<LoadedOm>> models;
  for (int i = 0; i < 3; ++i) models.push_back(std::make_unique<LoadedOm>(two_op_om()));
  const std::set<aclError> documented = {ACL_SUCCESS, ACL_ERROR_INVALID_MODEL_ID,
                                         ACL_ERROR_PROF_REPEAT_SUBSCRIBE,
                                         ACL_ERROR_INVALID_PROFILING_CONFIG};
  const auto work = [&](unsigned thread) {
    std::mt19937 random(seed + thread);
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    for (int i = 0; i < 150; ++i) {
      const LoadedOm& model = *models[random() % models.size()];
      switch (random() % 3) {
        case 0: {
          const Pipe pipe;
          int descriptor = pipe.write_end;
          auto* const own =
              aclprofCreateSubscribeConfig(random() % 4 > 0, ACL_AICORE_NONE, &descriptor);
          const aclError status = aclprofModelSubscribe(model.id(), own);
          EXPECT_TRUE(documented.contains(status)) << status;
          aclprofDestroySubscribeConfig(own);
          if (status != ACL_SUCCESS) ::close(descriptor);
          break;  // the reader has gone
        }
        case 1: {
          const aclError status = aclprofModelUnSubscribe(model.id());
          EXPECT_TRUE(documented.contains(status)) << status;
          break;
        }
        default: {
          // Buffers are one thread's: each executes with its own.
          const LoadedOm own(two_op_om());
          EXPECT_EQ(own.execute(), ACL_SUCCESS);
          EXPECT_EQ(aclmdlUnload(own.id()), ACL_SUCCESS);
        }
      }
    }
  };
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < 8; ++i) threads.emplace_back(work, i);
  for (std::thread& thread : threads) thread.join();
}

// ---- damaged buffers ----

/// Calls every accessor for record `index`; all must refuse it.
void expect_refused(const void* buffer, std::size_t size, std::uint32_t index) {
  std::array<char, 64> text{};
  std::size_t length = 0;
  EXPECT_EQ(aclprofGetOpNameLen(buffer, size, index, &length), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclprofGetOpTypeLen(buffer, size, index, &length), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclprofGetOpName(buffer, size, index, text.data(), text.size()),
            ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclprofGetOpType(buffer, size, index, text.data(), text.size()),
            ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclprofGetOpStart(buffer, size, index), 0u);
  EXPECT_EQ(aclprofGetOpEnd(buffer, size, index), 0u);
  EXPECT_EQ(aclprofGetOpDuration(buffer, size, index), 0u);
  EXPECT_EQ(aclprofGetOpExecutionTime(buffer, size, index), 0u);
  EXPECT_EQ(aclprofGetOpCubeFops(buffer, size, index), 0u);
  EXPECT_EQ(aclprofGetOpVectorFops(buffer, size, index), 0u);
  EXPECT_EQ(aclprofGetModelId(buffer, size, index), 0u);
  EXPECT_EQ(aclprofGetOpFlag(buffer, size, index), ACL_SUBSCRIBE_NONE);
  EXPECT_EQ(aclprofGetOpAttriValue(buffer, size, index, ACL_SUBSCRIBE_ATTRI_THREADID), nullptr);
}

acl::OpRecord issued_record() {
  acl::OpRecord record{.model_id = 3,
                       .name_id = profiler::intern("conv1"),
                       .type_id = profiler::intern("Conv2D"),
                       .begin_ns = 5000,
                       .end_ns = 9000,
                       .execution_ns = 4000,
                       .cube_flops = 7,
                       .vector_flops = 8};
  acl::issue(record);
  return record;
}

std::string bytes_of(const acl::OpRecord& record) {
  return {reinterpret_cast<const char*>(&record), sizeof record};
}

TEST(OpRecord, DamagedBuffersAreRefusedByEveryAccessor) {
  const std::string whole = bytes_of(issued_record());
  for (std::size_t byte = 0; byte < whole.size(); ++byte) {
    std::string damaged = whole;
    damaged[byte] = static_cast<char>(damaged[byte] ^ (1 << byte % 8));
    SCOPED_TRACE(byte);
    expect_refused(damaged.data(), damaged.size(), 0);
    std::uint32_t count = 0;
    EXPECT_EQ(aclprofGetOpNum(damaged.data(), damaged.size(), &count), ACL_ERROR_INVALID_PARAM);
  }
  for (std::size_t size = 0; size < whole.size(); ++size) expect_refused(whole.data(), size, 0);
  expect_refused(whole.data(), whole.size(), 1);
  expect_refused(whole.data(), whole.size(), UINT32_MAX);
  expect_refused(nullptr, whole.size(), 0);
  std::uint32_t count = 0;
  EXPECT_EQ(aclprofGetOpNum(whole.data(), whole.size() - 1, &count), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclprofGetOpNum(whole.data(), 0, &count), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclprofGetOpNum(whole.data(), whole.size(), nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclprofGetOpDescSize(nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(name_of(whole, 0), "conv1");  // refused reads have consumed nothing
  EXPECT_EQ(aclprofGetOpDuration(whole.data(), whole.size(), 0), 4u);
}

TEST(OpRecord, ABufferMayLieAnywhere) {
  const std::string shifted = "x" + bytes_of(issued_record());
  EXPECT_EQ(aclprofGetOpStart(shifted.data() + 1, kRecord, 0), 5u);
}

TEST(OpRecord, NamesOfOldRecordsAreForgotten) {
  const acl::OpRecord old = issued_record();
  for (std::uint64_t i = 1; i < acl::kReadableRecords; ++i) issued_record();
  EXPECT_EQ(acl::text_of(old, acl::RecordText::kName), "conv1");
  issued_record();
  EXPECT_FALSE(acl::text_of(old, acl::RecordText::kName));
  EXPECT_FALSE(acl::take_text(old, acl::RecordText::kName));
}

// ---- operations ----

TEST(OpFlops, ProductsAreOfTheMatrixUnitsAndTheirEpiloguesAreNot) {
  tests::OmBuilder b;
  const int x = b.input("x", tests::floats({2, 3}));
  const int y = b.output("y", tests::floats({2, 5}));
  OmStep& step = b.reference("MatMulV2", {x, x}, {y});
  step.flops = 80;
  const auto relu_of = [](int value) { return reference::BodyStep{{.type = "Relu"}, {value}}; };
  step.call = reference::fused_call(
      {.inputs = 2, .steps = {{{.type = "MatMulV2"}, {0, 1}}, relu_of(2), relu_of(3)}});
  EXPECT_EQ(flops_of(b.om, step).cube, 60u);
  EXPECT_EQ(flops_of(b.om, step).vector, 20u);
  step.call = {.type = "SoftmaxV2"};
  EXPECT_EQ(flops_of(b.om, step).cube, 0u);
  EXPECT_EQ(flops_of(b.om, step).vector, 80u);
  step.call = reference::fused_call(
      {.inputs = 2, .steps = {{{.type = "Conv2D"}, {0, 1}}, {{.type = "MaxPoolV3"}, {2}}}});
  step.op_types = {"Conv2D", "MaxPoolV3"};
  EXPECT_EQ(flops_of(b.om, step).cube, 80u);
  step.flops = -1;
  EXPECT_EQ(flops_of(b.om, step).cube, 0u);
}

// ---- the example ----

TEST(SubscribeExample, ReadsEveryRecordWithTheSharedLibraryAlone) {
  const aoe::tests::TempDir temp;
  std::ofstream(temp / "m.om", std::ios::binary) << two_op_om().serialize();
  const tests::Finished finished =
      tests::run_program(AOE_SUBSCRIBE_EXAMPLE " " + (temp / "m.om").string() + " 200 2>&1");
  EXPECT_EQ(finished.exit_code, 0) << finished.output;
  EXPECT_EQ(std::ranges::count(finished.output, '\n'), 400);
  const std::regex line("step0_Add +Add +model 1  [0-9]+ us from [0-9]+  cube 0 vector 6\n");
  EXPECT_TRUE(std::regex_search(finished.output, line)) << finished.output.substr(0, 500);
}

}  // namespace
}  // namespace aoe::runtime
