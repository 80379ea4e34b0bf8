// Subscriptions when readers stop, close or are replaced, and threads that subscribe in any order: a model never waits for a reader.

#include <array>
#include <atomic>
#include <filesystem>
#include <random>
#include <regex>
#include <set>

#include "runtime/acl/record_pipe.h"
#include "tests/runtime/loaded_om.h"
#include "tests/runtime/subscription.h"
#include "tests/temp_dir.h"

namespace aoe::runtime {
namespace {

using namespace tests;

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

TEST_F(Subscribe, AReaderThatStopsLosesRecordsThatAreCounted) {
  const LoadedOm model(two_op_om());
  const Pipe pipe;
  constexpr int kExecutions = 12'000;  // more than the pipe and the queue hold
  static_assert(kExecutions * kOps > acl::RecordPipe::kMostWaiting + 65536 / kRecord);
  ASSERT_EQ(aclprofModelSubscribe(model.id(), config(pipe.write_end)), ACL_SUCCESS);
  ::testing::internal::CaptureStderr();
  model.execute(kExecutions);  // nobody reads
  EXPECT_EQ(aclprofModelUnSubscribe(model.id()), ACL_SUCCESS);
  const std::string log = ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(::fcntl(pipe.write_end, F_GETFD), -1);
  const std::string bytes = pipe.read_all();
  EXPECT_EQ(bytes.size() % kRecord, 0u);
  EXPECT_GT(dropped_in(log), 0u);
  EXPECT_EQ(bytes.size() / kRecord + dropped_in(log), std::size_t{kExecutions} * kOps) << log;
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

}  // namespace
}  // namespace aoe::runtime
