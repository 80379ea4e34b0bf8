// Which calls a subscription refuses, with which codes.

#include <filesystem>
#include <fstream>

#include "tests/runtime/loaded_om.h"
#include "tests/runtime/subscription.h"
#include "tests/temp_dir.h"

namespace aoe::runtime {
namespace {

using namespace tests;

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

}  // namespace
}  // namespace aoe::runtime
