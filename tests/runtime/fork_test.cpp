// Prefork servers: a process that has executed forks, and the child goes on.

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <functional>
#include <thread>

#include "acl/acl.h"
#include "base/error.h"
#include "base/file.h"
#include "runtime/executor.h"
#include "tests/runtime/loaded_om.h"

namespace aoe::runtime {
namespace {

using tests::floats;
using tests::LoadedOm;
using tests::OmBuilder;

/// Runs `body` in a child, which says with its exit code whether all went well. A child that hangs is ended by a signal.
void expect_child_succeeds(const std::function<bool()>& body) {
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    ::alarm(30);
    ::_exit(body() ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

/// One step of generated code on all threads: y = reversed x + 1.
Om jit_om() {
  OmBuilder b;
  const int x = b.input("x", floats({1000}));
  const int y = b.output("y", floats({1000}));
  b.jit({{"reverse_plus_one", 1000}}, {x}, {y});
  b.om.code = read_file(AOE_TEST_KERNELS, ExitCode::kFailure);
  return b.om;
}

bool runs(Executor& executor) {
  std::vector<float> x(1000, 1), y(1000);
  const Tensor input{floats({1000}), x.data()};
  Tensor output{floats({1000}), y.data()};
  executor.run(std::span(&input, 1), std::span(&output, 1));
  return y.front() == 2 && y.back() == 2;
}

TEST(Fork, AnExecutorOfSeveralThreadsRunsOnInTheChild) {
  Executor executor(jit_om(), {.threads = 3});
  ASSERT_TRUE(runs(executor));
  expect_child_succeeds([&] { return runs(executor) && runs(executor); });
  ASSERT_TRUE(runs(executor));
}

TEST(Fork, TheChildLoadsModelsAndForksAgain) {
  Executor executor(jit_om(), {.threads = 3});
  ASSERT_TRUE(runs(executor));
  expect_child_succeeds([&] {
    Executor own(jit_om(), {.threads = 2});
    if (!runs(own)) return false;
    expect_child_succeeds([&] { return runs(own) && runs(executor); });
    return !::testing::Test::HasFailure();
  });
}

TEST(Fork, ErrorsComeBackToTheChildsThread) {
  Executor executor(jit_om(), {.threads = 2});
  ASSERT_TRUE(runs(executor));
  expect_child_succeeds([&] {
    try {
      executor.run({}, {});
    } catch (const Error& e) {
      return e.code() == ExitCode::kData;
    }
    return false;
  });
}

class AclFork : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(aclInit(nullptr), ACL_SUCCESS);
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  }
  void TearDown() override { aclFinalize(); }
};

TEST_F(AclFork, WorkersExecuteWhatTheirParentLoaded) {
  const LoadedOm model(jit_om());
  model.execute(1);
  for (int worker = 0; worker < 3; ++worker)
    expect_child_succeeds(
        [&] { return model.execute() == ACL_SUCCESS && aclFinalize() == ACL_SUCCESS; });
  model.execute(1);
}

TEST_F(AclFork, WhileOtherThreadsExecuteAndLoad) {
  const LoadedOm model(jit_om());
  std::atomic<bool> is_over = false;
  std::thread runner([&] {
    aclrtSetDevice(0);
    while (!is_over) {
      EXPECT_EQ(model.execute(), ACL_SUCCESS);
      const LoadedOm own(tests::two_op_om());
      EXPECT_EQ(aclmdlUnload(own.id()), ACL_SUCCESS);
    }
  });
  for (int i = 0; i < 20; ++i)
    expect_child_succeeds([&] { return model.execute() == ACL_SUCCESS; });
  is_over = true;
  runner.join();
}

TEST_F(AclFork, TheChildHasNoSubscription) {
  const LoadedOm model(tests::two_op_om());
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  auto* const config = aclprofCreateSubscribeConfig(1, ACL_AICORE_NONE, &ends[1]);
  ASSERT_EQ(aclprofModelSubscribe(model.id(), config), ACL_SUCCESS);
  int to_child[2];
  ASSERT_EQ(::pipe(to_child), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(30);
    ::close(to_child[1]);
    const bool is_fine = model.execute() == ACL_SUCCESS &&
                         aclprofModelUnSubscribe(model.id()) == ACL_ERROR_INVALID_MODEL_ID;
    char byte = 0;
    (void)!::read(to_child[0], &byte, 1);  // lives until the parent has seen the end of the pipe
    ::_exit(is_fine ? 0 : 1);
  }
  ::close(to_child[0]);
  EXPECT_EQ(model.execute(), ACL_SUCCESS);
  EXPECT_EQ(aclprofModelUnSubscribe(model.id()), ACL_SUCCESS);
  std::string bytes(1 << 16, '\0');
  std::size_t size = 0;
  for (ssize_t n; (n = ::read(ends[0], bytes.data() + size, bytes.size() - size)) > 0;)
    size += static_cast<std::size_t>(n);  // ends although the child lives
  std::size_t record = 0;
  ASSERT_EQ(aclprofGetOpDescSize(&record), ACL_SUCCESS);
  EXPECT_EQ(size, 2 * record);  // of the parent alone
  ::close(to_child[1]);
  int status = -1;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  ::close(ends[0]);
  aclprofDestroySubscribeConfig(config);
}

}  // namespace
}  // namespace aoe::runtime
