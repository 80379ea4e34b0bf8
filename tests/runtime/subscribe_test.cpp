// Subscriptions through the C API: what comes through the pipe, and when.

#include <time.h>

#include <array>
#include <fstream>
#include <map>
#include <regex>
#include <span>

#include "tests/runtime/loaded_om.h"
#include "tests/runtime/run_program.h"
#include "tests/runtime/subscription.h"
#include "tests/temp_dir.h"

namespace aoe::runtime {
namespace {

using namespace tests;

std::uint64_t monotonic_us() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return std::uint64_t(now.tv_sec) * 1'000'000 + std::uint64_t(now.tv_nsec) / 1000;
}

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

/// How many bytes came, however many writes brought them.
std::size_t read_up_to(int descriptor, std::span<char> to) {
  std::size_t have = 0;
  while (have < to.size()) {
    const ssize_t more = ::read(descriptor, to.data() + have, to.size() - have);
    if (more <= 0) break;
    have += static_cast<std::size_t>(more);
  }
  return have;
}

TEST_F(Subscribe, RecordsComeWhileTheModelRuns) {
  const LoadedOm model(two_op_om());
  const Pipe pipe;
  ASSERT_EQ(aclprofModelSubscribe(model.id(), config(pipe.write_end)), ACL_SUCCESS);
  model.execute(1);
  std::array<char, kOps * kRecord> records{};
  ASSERT_EQ(read_up_to(pipe.read_end, records), records.size());
  model.execute(1);
  ASSERT_EQ(read_up_to(pipe.read_end, records), records.size());
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
