// Threads of ours in a program that has no memory left for them: each gives up what it does, and the program goes on.
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <new>
#include <nlohmann/json.hpp>
#include <thread>

#include "profiler/collect/collection.h"
#include "profiler/collect/control_socket.h"
#include "profiler/recorder.h"
#include "tests/runtime/loaded_om.h"
#include "tests/runtime/replaced_new.h"
#include "tests/runtime/subscription.h"
#include "tests/temp_dir.h"

namespace {

std::atomic<bool> is_memory_short = false;
std::atomic<int> refusals = 0;
thread_local bool has_memory = false;

/// For all threads but the one that makes it.
class NoMemoryForOthers {
 public:
  NoMemoryForOthers() {
    has_memory = true;
    refusals = 0;
    is_memory_short = true;
  }
  ~NoMemoryForOthers() { is_memory_short = false; }
  NoMemoryForOthers(const NoMemoryForOthers&) = delete;
  NoMemoryForOthers& operator=(const NoMemoryForOthers&) = delete;
};

template <typename Condition>
bool comes_true(const Condition& condition) {
  for (int tries = 0; tries < 1000 && !condition(); ++tries)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  return condition();
}

}  // namespace

void* aoe::runtime::tests::memory_for(std::size_t size) {
  if (is_memory_short && !has_memory) {
    ++refusals;
    throw std::bad_alloc();
  }
  return from_malloc(size);
}

namespace aoe::runtime {
namespace {

using namespace tests;

TEST_F(Subscribe, WithoutMemoryEndsTheRecordsAndNotTheProgram) {
  const LoadedOm model(two_op_om());
  const Pipe pipe;
  ASSERT_EQ(aclprofModelSubscribe(model.id(), config(pipe.write_end)), ACL_SUCCESS);
  {
    const NoMemoryForOthers shortage;
    model.execute(3);
    EXPECT_TRUE(comes_true([] { return refusals > 0; }));
    EXPECT_EQ(aclprofModelUnSubscribe(model.id()), ACL_SUCCESS);
  }
  EXPECT_EQ(::fcntl(pipe.write_end, F_GETFD), -1);
  model.execute(1);
}

TEST(CollectionWithoutMemory, EndsAndNotTheProgram) {
  const aoe::tests::TempDir directory;
  profiler::Collection collection({.output = directory.path()});
  ASSERT_TRUE(profiler::recording);
  {
    const NoMemoryForOthers shortage;
    collection.add_model({{"model_name", "a name that is too long for a small string"}});
    EXPECT_TRUE(comes_true([] { return !profiler::recording; }));
  }
  collection.stop();
}

TEST(ControlServerWithoutMemory, AnswersTheNextRequest) {
  const profiler::ControlServer server([](const nlohmann::json& request) { return request; });
  const nlohmann::json request = {{"command", "a text that is too long for a small string"}};
  {
    const NoMemoryForOthers shortage;
    EXPECT_EQ(profiler::control_request(::getpid(), request), std::nullopt);
  }
  EXPECT_EQ(profiler::control_request(::getpid(), request), request);
}

}  // namespace
}  // namespace aoe::runtime
