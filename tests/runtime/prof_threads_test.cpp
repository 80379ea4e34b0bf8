// Eight threads that call whatever there is in random order, and a thousand collections: what sanitizers look at.

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <random>
#include <thread>

#include "acl/acl.h"
#include "tests/runtime/loaded_model.h"
#include "tests/temp_dir.h"

namespace aoe::runtime {
namespace {

namespace fs = std::filesystem;

int number_from(const char* variable, int otherwise) {
  const char* const text = std::getenv(variable);
  return text == nullptr ? otherwise : std::atoi(text);
}

/// What the threads share, so that one uses what another has destroyed.
struct Shared {
  std::string output;
  std::array<std::atomic<aclprofConfig*>, 8> configs{};
  std::array<std::atomic<void*>, 8> stamps{};
  std::array<std::atomic<aclprofStepInfo*>, 8> steps{};
  std::array<std::atomic<std::uint32_t>, 8> ranges{};
  std::uint32_t model = 0;
};

class RandomCaller {
 public:
  RandomCaller(Shared& shared, unsigned seed) : shared_(shared), random_(seed) {
    aclrtSetDevice(0);
    aclmdlAddDatasetBuffer(input_, x_buffer_);
    aclmdlAddDatasetBuffer(output_, y_buffer_);
  }
  ~RandomCaller() {
    aclDestroyDataBuffer(x_buffer_);
    aclDestroyDataBuffer(y_buffer_);
    aclmdlDestroyDataset(input_);
    aclmdlDestroyDataset(output_);
  }
  RandomCaller(const RandomCaller&) = delete;
  RandomCaller& operator=(const RandomCaller&) = delete;

  /// Any of them may be refused; none may do more than that.
  void call() {
    constexpr std::array kBits = {
        ACL_PROF_ACL_API,     ACL_PROF_TASK_TIME,      ACL_PROF_MSPROFTX,      ACL_PROF_RUNTIME_API,
        ACL_PROF_TASK_MEMORY, ACL_PROF_TRAINING_TRACE, ACL_PROF_AICORE_METRICS};
    switch (below(24)) {
      case 0:
        aclprofInit(shared_.output.c_str(), shared_.output.size());
        break;
      case 1:
        if (below(4) == 0) aclprofFinalize();
        break;
      case 2: {
        std::uint32_t device = 0;
        std::uint64_t bits = 0;
        for (const std::uint64_t bit : kBits)
          if (below(2) == 0) bits |= bit;
        if (aclprofConfig* const old =
                pick(shared_.configs)
                    .exchange(aclprofCreateConfig(&device, 1, ACL_AICORE_PIPE_UTILIZATION, nullptr,
                                                  bits | ACL_PROF_MSPROFTX)))
          aclprofDestroyConfig(old);
        break;
      }
      case 3:
      case 4:
        aclprofStart(pick(shared_.configs));
        break;
      case 5:
        for (const auto& config : shared_.configs) aclprofStop(config);
        break;
      case 6:
        aclprofSetConfig(ACL_PROF_HOST_SYS, "cpu,mem", 7);
        break;
      case 7:
      case 8:
        aclmdlExecute(shared_.model, input_, output_);
        break;
      case 9: {
        void* const made = aclprofCreateStamp();
        aclprofSetStampTraceMessage(made, "stamp of a thread", 8 + below(10));
        if (void* const old = pick(shared_.stamps).exchange(made)) aclprofDestroyStamp(old);
        break;
      }
      case 10:
        aclprofSetStampCategory(pick(shared_.stamps), below(5));
        break;
      case 11: {
        std::uint64_t value = below(1000);
        aclprofSetStampPayload(pick(shared_.stamps), static_cast<int>(below(7)), &value);
        break;
      }
      case 12:
        aclprofSetCategoryName(below(5), below(2) == 0 ? "even" : "odd");
        break;
      case 13:
        aclprofSetStampTagName(pick(shared_.stamps), "tag", 3);
        break;
      case 14:
        aclprofMark(pick(shared_.stamps));
        break;
      case 15:
        aclprofMarkEx("mark", 4, nullptr);
        break;
      case 16:
        aclprofPush(pick(shared_.stamps));
        break;
      case 17:
        aclprofPop();
        break;
      case 18: {
        std::uint32_t range = 0;
        aclprofRangeStart(pick(shared_.stamps), &range);
        pick(shared_.ranges) = range;
        break;
      }
      case 19:
        aclprofRangeStop(pick(shared_.ranges));
        break;
      case 20: {
        aclprofTensorInfo info = {};
        info.opNameId = aclprofStr2Id("op");
        info.opTypeId = aclprofStr2Id("type");
        aclprofEventAttributes attributes = {};
        attributes.size = sizeof attributes;
        attributes.message.tensorInfo = &info;
        aclprofRangePushEx(&attributes);
        break;
      }
      case 21:
        aclprofRangePop();
        break;
      case 22:
        if (aclprofStepInfo* const old = pick(shared_.steps).exchange(aclprofCreateStepInfo()))
          aclprofDestroyStepInfo(old);
        break;
      case 23:
        aclprofGetStepTimestamp(pick(shared_.steps), below(2) == 0 ? ACL_STEP_START : ACL_STEP_END,
                                nullptr);
        break;
    }
    aclGetRecentErrMsg();
  }

 private:
  std::uint32_t below(std::size_t end) { return static_cast<std::uint32_t>(random_() % end); }
  template <typename Array>
  typename Array::value_type& pick(Array& array) {
    return array[below(array.size())];
  }

  Shared& shared_;
  std::mt19937 random_;
  std::vector<float> x_ = std::vector<float>(6);
  std::vector<float> y_ = std::vector<float>(6);
  aclmdlDataset* input_ = aclmdlCreateDataset();
  aclmdlDataset* output_ = aclmdlCreateDataset();
  aclDataBuffer* x_buffer_ = aclCreateDataBuffer(x_.data(), x_.size() * sizeof(float));
  aclDataBuffer* y_buffer_ = aclCreateDataBuffer(y_.data(), y_.size() * sizeof(float));
};

TEST(ProfThreads, CallInAnyOrder) {
  const aoe::tests::TempDir temp;
  ASSERT_EQ(aclInit(nullptr), ACL_SUCCESS);
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  {
    const tests::LoadedModel model;
    Shared shared{.output = (temp / "prof").string(), .model = model.id()};
    const unsigned seed = std::random_device()();
    std::cout << "seed " << seed << std::endl;
    const auto end = std::chrono::steady_clock::now() +
                     std::chrono::seconds(number_from("AOE_PROF_THREADS_S", 2));
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < 8; ++i)
      threads.emplace_back([&, i] {
        RandomCaller caller(shared, seed + i);
        while (std::chrono::steady_clock::now() < end) caller.call();
      });
    // Collections are many: what is whole goes away.
    while (std::chrono::steady_clock::now() < end) {
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
      std::error_code gone;
      for (const auto& entry : fs::directory_iterator(shared.output, gone))
        if (fs::exists(entry.path() / "host/end_info", gone)) fs::remove_all(entry.path(), gone);
    }
    for (std::thread& thread : threads) thread.join();
    for (const auto& config : shared.configs) aclprofDestroyConfig(config);
    for (const auto& stamp : shared.stamps) aclprofDestroyStamp(stamp);
    for (const auto& step : shared.steps) aclprofDestroyStepInfo(step);
  }
  EXPECT_EQ(aclFinalize(), ACL_SUCCESS);
}

/// A child of fork() has no collection, and hangs nowhere: it calls what there is, and collects on its own.
bool child_profiles_on_its_own(Shared& shared, unsigned seed) {
  if (aclprofMarkEx("mark", 4, nullptr) != ACL_ERROR_PROF_NOT_RUN) return false;
  RandomCaller caller(shared, seed);
  for (int i = 0; i < 60; ++i) caller.call();
  aclprofFinalize();
  if (aclprofInit(shared.output.c_str(), shared.output.size()) != ACL_SUCCESS) return false;
  std::uint32_t device = 0;
  aclprofConfig* const config = aclprofCreateConfig(&device, 1, ACL_AICORE_NONE, nullptr,
                                                    ACL_PROF_ACL_API | ACL_PROF_MSPROFTX);
  return aclprofStart(config) == ACL_SUCCESS && aclprofMarkEx("mark", 4, nullptr) == ACL_SUCCESS &&
         aclprofStop(config) == ACL_SUCCESS && aclprofFinalize() == ACL_SUCCESS &&
         aclFinalize() == ACL_SUCCESS;
}

TEST(ProfThreads, ForkBesideThem) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the thread sanitizer allows no threads in a child of several threads";
#elif defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "GCC 12's address sanitizer does not hold its allocator's locks over fork(): a "
                  "child may wait for them";
#endif
  const aoe::tests::TempDir temp;
  ASSERT_EQ(aclInit(nullptr), ACL_SUCCESS);
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  {
    const tests::LoadedModel model;
    Shared shared{.output = (temp / "prof").string(), .model = model.id()};
    const unsigned seed = std::random_device()();
    std::cout << "seed " << seed << std::endl;
    std::atomic<bool> is_over = false;
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < 3; ++i)
      threads.emplace_back([&, i] {
        RandomCaller caller(shared, seed + i);
        while (!is_over) {
          caller.call();
          std::this_thread::sleep_for(
              std::chrono::microseconds(50));  // locks are not fair: fork() shall get them
        }
      });
    for (unsigned i = 0; i < 8 && !HasFailure(); ++i) {
      const pid_t child = ::fork();
      if (child == 0) {
        ::alarm(60);  // a child that hangs is ended by a signal
        ::_exit(child_profiles_on_its_own(shared, seed + 100 + i) ? 0 : 1);
      }
      int status = -1;
      ::waitpid(child, &status, 0);
      EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
    }
    is_over = true;
    for (std::thread& thread : threads) thread.join();
    aclprofFinalize();
    for (const auto& config : shared.configs) aclprofDestroyConfig(config);
    for (const auto& stamp : shared.stamps) aclprofDestroyStamp(stamp);
    for (const auto& step : shared.steps) aclprofDestroyStepInfo(step);
  }
  EXPECT_EQ(aclFinalize(), ACL_SUCCESS);
}

/// 0 under sanitizers, which keep what is freed for a while, and look for leaks themselves.
std::size_t resident_kb() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return 0;
#endif
  std::ifstream statm("/proc/self/statm");
  std::size_t size = 0, resident = 0;
  statm >> size >> resident;
  return resident * 4;
}

TEST(ProfThreads, ManyCollectionsLeaveNothingBehind) {
  const int cycles = number_from("AOE_PROF_CYCLES", 50);
  const aoe::tests::TempDir temp;
  const std::string output = (temp / "prof").string();
  ASSERT_EQ(aclInit(nullptr), ACL_SUCCESS);
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  ASSERT_EQ(aclprofInit(output.c_str(), output.size()), ACL_SUCCESS);
  {
    tests::LoadedModel model;
    std::uint32_t device = 0;
    aclprofConfig* const config =
        aclprofCreateConfig(&device, 1, ACL_AICORE_PIPE_UTILIZATION, nullptr,
                            ACL_PROF_ACL_API | ACL_PROF_TASK_TIME | ACL_PROF_MSPROFTX |
                                ACL_PROF_TASK_MEMORY | ACL_PROF_AICORE_METRICS);
    std::size_t before_kb = 0;
    for (int i = 0; i < cycles; ++i) {
      ASSERT_EQ(aclprofStart(config), ACL_SUCCESS);
      ASSERT_EQ(model.execute(), ACL_SUCCESS);
      ASSERT_EQ(aclprofMarkEx("mark", 4, nullptr), ACL_SUCCESS);
      ASSERT_EQ(aclprofStop(config), ACL_SUCCESS);
      fs::remove_all(output);
      if (i == cycles / 2) before_kb = resident_kb();
    }
    EXPECT_LT(resident_kb(), before_kb + 4096);
    ASSERT_EQ(aclprofDestroyConfig(config), ACL_SUCCESS);
  }
  EXPECT_EQ(aclFinalize(), ACL_SUCCESS);
}

}  // namespace
}  // namespace aoe::runtime
