// The C API: the canonical sequence, the order rules, and the code that each kind of misuse gets.
#include "acl/acl.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <thread>

#include "base/file.h"
#include "runtime/file_in_memory.h"
#include "runtime/host_soc.h"
#include "tests/runtime/om_builder.h"
#include "tests/runtime/run_program.h"
#include "tests/temp_dir.h"

namespace aoe::runtime {
namespace {

using tests::floats;
using tests::OmBuilder;

Om reference_om() {
  Om om = tests::small_om();
  om.code.clear();
  return om;
}

/// One data buffer for each vector given; the vectors stay the test's.
class Dataset {
 public:
  Dataset() : handle_(aclmdlCreateDataset()) {}
  explicit Dataset(std::vector<float>& values) : Dataset() {
    add(values.data(), values.size() * 4);
  }
  ~Dataset() {
    for (std::size_t i = 0; i < aclmdlGetDatasetNumBuffers(handle_); ++i)
      aclDestroyDataBuffer(aclmdlGetDatasetBuffer(handle_, i));
    aclmdlDestroyDataset(handle_);
  }
  Dataset(const Dataset&) = delete;
  Dataset& operator=(const Dataset&) = delete;
  void add(void* data, std::size_t size) {
    EXPECT_EQ(aclmdlAddDatasetBuffer(handle_, aclCreateDataBuffer(data, size)), ACL_SUCCESS);
  }
  operator aclmdlDataset*() const { return handle_; }

 private:
  aclmdlDataset* handle_;
};

class Acl : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(aclInit(nullptr), ACL_SUCCESS);
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  }
  void TearDown() override { aclFinalize(); }

  std::uint32_t load(const Om& om) {
    const std::string bytes = om.serialize();
    std::uint32_t id = 0;
    EXPECT_EQ(aclmdlLoadFromMem(bytes.data(), bytes.size(), &id), ACL_SUCCESS);
    return id;
  }

  std::vector<float> x_ = {0, 0, 0, 0, 0, 0};
  std::vector<float> y_ = std::vector<float>(6);
  const std::vector<float> expected_ = {1, 0, 3, 0, 5, 0};
};

TEST(AclOrder, NothingWorksBeforeInitOrAfterFinalize) {
  std::uint32_t id = 0;
  std::size_t size = 0;
  aclrtStream stream = nullptr;
  const auto expect_uninitialized = [&] {
    EXPECT_EQ(aclrtSetDevice(0), ACL_ERROR_UNINITIALIZE);
    EXPECT_EQ(aclrtCreateStream(&stream), ACL_ERROR_UNINITIALIZE);
    EXPECT_EQ(aclmdlLoadFromFile("m.om", &id), ACL_ERROR_UNINITIALIZE);
    EXPECT_EQ(aclmdlQuerySize("m.om", &size, &size), ACL_ERROR_UNINITIALIZE);
    EXPECT_EQ(aclmdlExecute(1, nullptr, nullptr), ACL_ERROR_UNINITIALIZE);
    EXPECT_EQ(aclmdlUnload(1), ACL_ERROR_UNINITIALIZE);
  };
  expect_uninitialized();
  EXPECT_EQ(aclInit(nullptr), ACL_SUCCESS);
  EXPECT_EQ(aclFinalize(), ACL_SUCCESS);
  expect_uninitialized();
  EXPECT_EQ(aclFinalize(), ACL_ERROR_REPEAT_FINALIZE);
}

TEST(AclOrder, RepeatedInitCountsReferences) {
  std::uint64_t left = 99;
  EXPECT_EQ(aclInit(nullptr), ACL_SUCCESS);
  EXPECT_EQ(aclInit(nullptr), ACL_ERROR_REPEAT_INITIALIZE);
  EXPECT_EQ(aclFinalizeReference(&left), ACL_SUCCESS);
  EXPECT_EQ(left, 1u);
  EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(aclFinalizeReference(&left), ACL_SUCCESS);
  EXPECT_EQ(left, 0u);
  EXPECT_EQ(aclrtSetDevice(0), ACL_ERROR_UNINITIALIZE);
}

TEST(AclOrder, ConfigMustBeAJsonObject) {
  const aoe::tests::TempDir dir;
  EXPECT_EQ(aclInit((dir / "missing.json").c_str()), ACL_ERROR_INVALID_FILE);
  write_file_atomically(dir / "bad.json", "{");
  EXPECT_EQ(aclInit((dir / "bad.json").c_str()), ACL_ERROR_PARSE_FILE);
  write_file_atomically(dir / "good.json", "{}");
  EXPECT_EQ(aclInit((dir / "good.json").c_str()), ACL_SUCCESS);
  EXPECT_EQ(aclFinalize(), ACL_SUCCESS);
}

TEST_F(Acl, DescribesAndRunsAModel) {
  const std::uint32_t id = load(reference_om());
  aclmdlDesc* const desc = aclmdlCreateDesc();
  ASSERT_EQ(aclmdlGetDesc(desc, id), ACL_SUCCESS);
  EXPECT_EQ(aclmdlGetNumInputs(desc), 1u);
  EXPECT_EQ(aclmdlGetNumOutputs(desc), 1u);
  EXPECT_EQ(aclmdlGetInputSizeByIndex(desc, 0), 24u);
  EXPECT_EQ(aclmdlGetOutputSizeByIndex(desc, 0), 24u);
  EXPECT_STREQ(aclmdlGetInputNameByIndex(desc, 0), "x");
  EXPECT_STREQ(aclmdlGetOutputNameByIndex(desc, 0), "y");
  EXPECT_EQ(aclmdlGetInputDataType(desc, 0), ACL_FLOAT);
  EXPECT_EQ(aclmdlGetOutputFormat(desc, 0), ACL_FORMAT_ND);
  aclmdlIODims dims;
  ASSERT_EQ(aclmdlGetOutputDims(desc, 0, &dims), ACL_SUCCESS);
  EXPECT_STREQ(dims.name, "y");
  EXPECT_EQ(std::vector<std::int64_t>(dims.dims, dims.dims + dims.dimCount), (Shape{2, 3}));
  std::size_t index = 9;
  EXPECT_EQ(aclmdlGetInputIndexByName(desc, "x", &index), ACL_SUCCESS);
  EXPECT_EQ(index, 0u);
  EXPECT_EQ(aclmdlGetInputIndexByName(desc, "y", &index), ACL_ERROR_INVALID_PARAM);

  const Dataset inputs(x_);
  const Dataset outputs(y_);
  EXPECT_EQ(aclmdlExecute(id, inputs, outputs), ACL_SUCCESS);
  EXPECT_EQ(y_, expected_);
  EXPECT_EQ(aclmdlDestroyDesc(desc), ACL_SUCCESS);
  EXPECT_EQ(aclmdlUnload(id), ACL_SUCCESS);
  EXPECT_EQ(aclmdlUnload(id), ACL_ERROR_INVALID_MODEL_ID);
}

TEST_F(Acl, DescribesTheTextsOfAModel) {
  OmBuilder b("texts");
  const int places = b.input("places", {.dtype = aoe::DataType::kInt64, .shape = {2}});
  const int x = b.input("x", floats({2}));
  const int y = b.output("y", floats({2}));
  b.reference("Relu", {x}, {y});
  EXPECT_NE(places, x);
  b.om.texts = {{"no", "yes"}, {"places", "x"}, {"y"}};
  const std::uint32_t id = load(b.om);
  aclmdlDesc* const desc = aclmdlCreateDesc();
  ASSERT_EQ(aclmdlGetDesc(desc, id), ACL_SUCCESS);
  EXPECT_TRUE(aclmdlIsInputText(desc, 0));
  EXPECT_FALSE(aclmdlIsInputText(desc, 1)) << "floats are no places";
  EXPECT_FALSE(aclmdlIsInputText(desc, 2));
  EXPECT_FALSE(aclmdlIsOutputText(desc, 0));
  ASSERT_EQ(aclmdlGetNumTexts(desc), 2u);
  std::size_t length = 0;
  EXPECT_STREQ(aclmdlGetTextByIndex(desc, 1, &length), "yes");
  EXPECT_EQ(length, 3u);
  EXPECT_STREQ(aclmdlGetTextByIndex(desc, 0, nullptr), "no");
  EXPECT_EQ(aclmdlGetTextByIndex(desc, 2, &length), nullptr);
  EXPECT_EQ(aclmdlDestroyDesc(desc), ACL_SUCCESS);
}

TEST_F(Acl, TextsGoWithADataset) {
  const aoe::TensorDesc places{.dtype = aoe::DataType::kInt64, .shape = {2}};
  OmBuilder b("texts");
  const int x = b.input("x", places);
  const int y = b.output("y", places);
  b.reference("StringConcat", {x, x}, {y});
  b.om.texts = {{"a", "aa"}, {"x"}, {"y"}};
  const std::uint32_t id = load(b.om);
  aclmdlDesc* const desc = aclmdlCreateDesc();
  ASSERT_EQ(aclmdlGetDesc(desc, id), ACL_SUCCESS);
  EXPECT_TRUE(aclmdlReadsTexts(desc));

  std::vector<std::int64_t> given = {0, 9}, result(2);
  Dataset inputs, outputs;
  inputs.add(given.data(), 16);
  outputs.add(result.data(), 16);
  EXPECT_EQ(aclmdlAddDatasetText(inputs, "b", 1, &given[1]), ACL_ERROR_INVALID_PARAM);
  ASSERT_EQ(aclmdlSetDatasetTexts(inputs, desc), ACL_SUCCESS);
  EXPECT_EQ(aclmdlAddDatasetText(inputs, "\xff", 1, &given[1]), ACL_ERROR_INVALID_PARAM);
  ASSERT_EQ(aclmdlAddDatasetText(inputs, "b\0", 2, &given[1]), ACL_SUCCESS);
  EXPECT_EQ(given[1], 2);
  ASSERT_EQ(aclmdlExecute(id, inputs, outputs), ACL_SUCCESS);
  EXPECT_EQ(result, (std::vector<std::int64_t>{1, 3})) << "what the model knows keeps its place";
  std::size_t length = 0;
  const char* const text = aclmdlGetDatasetText(inputs, 3, &length);
  EXPECT_EQ(std::string(text, length), std::string("b\0b\0", 4));
  EXPECT_EQ(aclmdlGetDatasetText(inputs, 4, &length), nullptr);

  ASSERT_EQ(aclmdlSetDatasetTexts(inputs, desc), ACL_SUCCESS);
  EXPECT_EQ(aclmdlGetDatasetText(inputs, 2, &length), nullptr) << "forgotten";
  EXPECT_NE(aclmdlExecute(id, inputs, outputs), ACL_SUCCESS) << "there is no text 2";
  given[1] = 1;
  Dataset without;
  without.add(given.data(), 16);
  EXPECT_EQ(aclmdlExecute(id, without, outputs), ACL_SUCCESS);
  b.om.texts.list = {"c", "d"};
  const std::uint32_t other = load(b.om);
  EXPECT_EQ(aclmdlExecute(other, inputs, outputs), ACL_ERROR_MODEL_INPUT_NOT_MATCH);
  EXPECT_EQ(aclmdlDestroyDesc(desc), ACL_SUCCESS);
}

TEST_F(Acl, BadHandlesAnswerWithNothing) {
  EXPECT_FALSE(aclmdlReadsTexts(nullptr));
  EXPECT_EQ(aclmdlGetDatasetText(nullptr, 0, nullptr), nullptr);
  EXPECT_EQ(aclmdlSetDatasetTexts(nullptr, nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclmdlGetNumTexts(nullptr), 0u);
  EXPECT_EQ(aclmdlGetTextByIndex(nullptr, 0, nullptr), nullptr);
  EXPECT_FALSE(aclmdlIsInputText(nullptr, 0));
  EXPECT_EQ(aclmdlGetNumInputs(nullptr), 0u);
  EXPECT_EQ(aclmdlGetInputSizeByIndex(nullptr, 0), 0u);
  EXPECT_STREQ(aclmdlGetOutputNameByIndex(nullptr, 0), "");
  EXPECT_EQ(aclmdlGetInputDataType(nullptr, 0), ACL_DT_UNDEFINED);
  EXPECT_EQ(aclmdlGetInputFormat(nullptr, 0), ACL_FORMAT_UNDEFINED);
  EXPECT_EQ(aclmdlGetDatasetNumBuffers(nullptr), 0u);
  EXPECT_EQ(aclmdlGetDatasetBuffer(nullptr, 0), nullptr);
  EXPECT_EQ(aclGetDataBufferAddr(nullptr), nullptr);
  EXPECT_EQ(aclGetDataBufferSizeV2(nullptr), 0u);
  EXPECT_EQ(aclCreateDataBuffer(nullptr, 8), nullptr);
  EXPECT_EQ(aclmdlDestroyDataset(nullptr), ACL_ERROR_INVALID_PARAM);
  aclmdlDesc* const desc = aclmdlCreateDesc();
  EXPECT_EQ(aclmdlGetInputSizeByIndex(desc, 0), 0u);
  aclmdlIODims dims;
  EXPECT_EQ(aclmdlGetInputDims(desc, 0, &dims), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclmdlDestroyDesc(desc), ACL_SUCCESS);
}

TEST_F(Acl, RefusesModelsThatAreNone) {
  const aoe::tests::TempDir dir;
  std::uint32_t id = 0;
  EXPECT_EQ(aclmdlLoadFromFile((dir / "missing.om").c_str(), &id),
            ACL_ERROR_GE_EXEC_MODEL_PATH_INVALID);
  std::string bytes = reference_om().serialize();
  bytes[5000] = static_cast<char>(bytes[5000] ^ 1);
  write_file_atomically(dir / "damaged.om", bytes);
  EXPECT_EQ(aclmdlLoadFromFile((dir / "damaged.om").c_str(), &id), ACL_ERROR_PARSE_MODEL);
  EXPECT_EQ(aclmdlLoadFromMem(bytes.data(), bytes.size(), &id), ACL_ERROR_PARSE_MODEL);
  EXPECT_EQ(aclmdlLoadFromMem(bytes.data(), 0, &id), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclmdlLoadFromFile(nullptr, &id), ACL_ERROR_INVALID_PARAM);
  Om broken_code = reference_om();
  broken_code.code = "not an ELF file";
  bytes = broken_code.serialize();
  EXPECT_EQ(aclmdlLoadFromMem(bytes.data(), bytes.size(), &id), ACL_ERROR_GE_LOAD_MODEL);
  aclmdlDesc* const desc = aclmdlCreateDesc();
  EXPECT_EQ(aclmdlGetDesc(desc, 12345), ACL_ERROR_INVALID_MODEL_ID);
  EXPECT_EQ(aclmdlDestroyDesc(desc), ACL_SUCCESS);
}

TEST_F(Acl, RefusesDatasetsThatDoNotFit) {
  const std::uint32_t id = load(reference_om());
  const Dataset good_in(x_);
  const Dataset good_out(y_);
  const Dataset none;
  Dataset short_in, short_out;
  short_in.add(x_.data(), 20);
  short_out.add(y_.data(), 20);
  EXPECT_EQ(aclmdlExecute(id + 1, good_in, good_out), ACL_ERROR_INVALID_MODEL_ID);
  EXPECT_EQ(aclmdlExecute(id, none, good_out), ACL_ERROR_MODEL_INPUT_NOT_MATCH);
  EXPECT_EQ(aclmdlExecute(id, good_in, none), ACL_ERROR_MODEL_OUTPUT_NOT_MATCH);
  EXPECT_EQ(aclmdlExecute(id, short_in, good_out), ACL_ERROR_MODEL_INPUT_NOT_MATCH);
  EXPECT_EQ(aclmdlExecute(id, good_in, short_out), ACL_ERROR_MODEL_OUTPUT_NOT_MATCH);
  EXPECT_EQ(aclmdlExecute(id, nullptr, good_out), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclmdlExecute(id, good_in, good_out), ACL_SUCCESS);
  std::vector<float> larger(100);
  EXPECT_EQ(aclmdlExecute(id, good_in, Dataset(larger)), ACL_SUCCESS);
}

TEST_F(Acl, SaysOnceWhatWentWrong) {
  aclGetRecentErrMsg();
  EXPECT_EQ(aclGetRecentErrMsg(), nullptr);
  EXPECT_EQ(aclmdlUnload(777), ACL_ERROR_INVALID_MODEL_ID);
  EXPECT_STREQ(aclGetRecentErrMsg(), "aclmdlUnload: no model 777 is loaded [100011]");
  EXPECT_EQ(aclGetRecentErrMsg(), nullptr);
}

TEST_F(Acl, UsesTheCallersMemory) {
  const aoe::tests::TempDir dir;
  const Om om = reference_om();
  write_file_atomically(dir / "m.om", om.serialize());
  std::size_t work = 0, weights = 0;
  ASSERT_EQ(aclmdlQuerySize((dir / "m.om").c_str(), &work, &weights), ACL_SUCCESS);
  EXPECT_EQ(work, om.arena_bytes);
  EXPECT_EQ(weights, om.weights.size());
  std::vector<char> work_memory(work), weight_memory(weights);
  std::uint32_t id = 0;
  const auto load_with = [&](std::size_t work_size, std::size_t weight_size) {
    return aclmdlLoadFromFileWithMem((dir / "m.om").c_str(), &id, work_memory.data(), work_size,
                                     weight_memory.data(), weight_size);
  };
  EXPECT_EQ(load_with(work - 1, weights), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(load_with(work, weights - 1), ACL_ERROR_INVALID_PARAM);
  ASSERT_EQ(load_with(work, weights), ACL_SUCCESS);
  EXPECT_EQ(aclmdlExecute(id, Dataset(x_), Dataset(y_)), ACL_SUCCESS);
  EXPECT_EQ(y_, expected_);
  EXPECT_EQ(std::memcmp(weight_memory.data(), om.weights.data(), weights), 0);
}

TEST_F(Acl, LoadsAsConfigured) {
  const std::string bytes = reference_om().serialize();
  const void* const address = bytes.data();
  const std::size_t size = bytes.size(), type = ACL_MDL_LOAD_FROM_MEM;
  aclmdlConfigHandle* const config = aclmdlCreateConfigHandle();
  std::uint32_t id = 0;
  EXPECT_EQ(aclmdlLoadWithConfig(config, &id), ACL_ERROR_INVALID_PARAM);  // no type yet
  EXPECT_EQ(aclmdlSetConfigOpt(config, ACL_MDL_LOAD_TYPE_SIZET, &type, 4), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclmdlSetConfigOpt(config, ACL_MDL_LOAD_TYPE_SIZET, &type, sizeof type), ACL_SUCCESS);
  EXPECT_EQ(aclmdlSetConfigOpt(config, ACL_MDL_MEM_ADDR_PTR, &address, sizeof address),
            ACL_SUCCESS);
  EXPECT_EQ(aclmdlSetConfigOpt(config, ACL_MDL_MEM_SIZET, &size, sizeof size), ACL_SUCCESS);
  EXPECT_EQ(aclmdlLoadWithConfig(config, &id), ACL_SUCCESS);
  EXPECT_EQ(aclmdlDestroyConfigHandle(config), ACL_SUCCESS);
  EXPECT_EQ(aclmdlExecute(id, Dataset(x_), Dataset(y_)), ACL_SUCCESS);
  EXPECT_EQ(y_, expected_);
}

TEST_F(Acl, AllocatesOutputsOfUnknownSize) {
  OmBuilder b;
  const int x = b.input("x", floats({2, 3}));
  const int found =
      b.dynamic_output("found", {.dtype = DataType::kInt64, .shape = {2, kUnknownDim}});
  b.reference("NonZero", {x}, {found});
  const std::uint32_t id = load(b.om);
  aclmdlDesc* const desc = aclmdlCreateDesc();
  ASSERT_EQ(aclmdlGetDesc(desc, id), ACL_SUCCESS);
  EXPECT_EQ(aclmdlGetOutputSizeByIndex(desc, 0), 0u);
  x_ = {0, 1, 0, 0, 0, 1};
  Dataset outputs;
  outputs.add(nullptr, 0);
  ASSERT_EQ(aclmdlExecute(id, Dataset(x_), outputs), ACL_SUCCESS) << aclGetRecentErrMsg();
  const aclDataBuffer* const buffer = aclmdlGetDatasetBuffer(outputs, 0);
  ASSERT_EQ(aclGetDataBufferSizeV2(buffer), 32u);
  const auto* data = static_cast<const std::int64_t*>(aclGetDataBufferAddr(buffer));
  EXPECT_EQ(std::vector<std::int64_t>(data, data + 4), (std::vector<std::int64_t>{0, 1, 1, 2}));
  const aclTensorDesc* const actual = aclmdlGetDatasetTensorDesc(outputs, 0);
  std::int64_t columns = 0;
  EXPECT_EQ(aclGetTensorDescNumDims(actual), 2u);
  EXPECT_EQ(aclGetTensorDescDimV2(actual, 1, &columns), ACL_SUCCESS);
  EXPECT_EQ(columns, 2);
  aclmdlIODims dims;
  EXPECT_EQ(aclmdlGetCurOutputDims(desc, 0, &dims), ACL_SUCCESS);
  EXPECT_EQ(dims.dims[1], 2);
  EXPECT_EQ(aclmdlGetOutputDims(desc, 0, &dims), ACL_SUCCESS);
  EXPECT_EQ(dims.dims[1], -1);
  EXPECT_EQ(aclrtFree(aclGetDataBufferAddr(buffer)), ACL_SUCCESS);
  EXPECT_EQ(aclmdlDestroyDesc(desc), ACL_SUCCESS);
}

TEST_F(Acl, HasNoGears) {
  const std::uint32_t id = load(reference_om());
  const Dataset dataset;
  EXPECT_EQ(aclmdlSetDynamicBatchSize(id, dataset, 0, 4), ACL_ERROR_MODEL_NOT_DYNAMIC);
  EXPECT_EQ(aclmdlSetDynamicHWSize(id, dataset, 0, 4, 4), ACL_ERROR_MODEL_NOT_DYNAMIC);
  EXPECT_EQ(aclmdlSetDynamicBatchSize(id + 1, dataset, 0, 4), ACL_ERROR_INVALID_MODEL_ID);
  aclmdlDesc* const desc = aclmdlCreateDesc();
  aclmdlBatch batch{.batchCount = 7, .batch = {}};
  EXPECT_EQ(aclmdlGetDynamicBatch(desc, &batch), ACL_SUCCESS);
  EXPECT_EQ(batch.batchCount, 0u);
  EXPECT_EQ(aclmdlDestroyDesc(desc), ACL_SUCCESS);
}

TEST_F(Acl, DevicesContextsAndStreamsFollowTheRules) {
  EXPECT_EQ(aclrtSetDevice(1), ACL_ERROR_RT_INVALID_DEVICEID);
  std::uint32_t count = 0;
  EXPECT_EQ(aclrtGetDeviceCount(&count), ACL_SUCCESS);
  EXPECT_EQ(count, 1u);
  EXPECT_EQ(aclrtGetSocName(), runtime::host_soc_version());

  aclrtContext context = nullptr, current = nullptr, before = nullptr;
  EXPECT_EQ(aclrtGetCurrentContext(&before), ACL_SUCCESS);
  aclrtStream old_stream = nullptr, stream = nullptr;
  EXPECT_EQ(aclrtCreateStream(&old_stream), ACL_SUCCESS);
  EXPECT_EQ(aclrtCreateContext(&context, 0), ACL_SUCCESS);
  EXPECT_EQ(aclrtGetCurrentContext(&current), ACL_SUCCESS);
  EXPECT_EQ(current, context);
  EXPECT_EQ(aclrtSynchronizeStream(old_stream), ACL_ERROR_RT_STREAM_CONTEXT);
  EXPECT_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(nullptr), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyContext(context), ACL_SUCCESS);
  EXPECT_EQ(aclrtCreateStream(&stream), ACL_ERROR_RT_CONTEXT_NULL);
  EXPECT_EQ(aclrtSetCurrentContext(context), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtSetCurrentContext(before), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(old_stream), ACL_SUCCESS);
  EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(aclrtCreateStream(&stream), ACL_ERROR_RT_CONTEXT_NULL);
  EXPECT_EQ(aclrtResetDevice(0), ACL_ERROR_RT_CONTEXT_NULL);
}

TEST_F(Acl, ContextsBelongToThreads) {
  const std::uint32_t id = load(reference_om());
  const Dataset inputs(x_), outputs(y_);
  std::thread([&] {
    EXPECT_EQ(aclmdlExecute(id, inputs, outputs), ACL_ERROR_RT_CONTEXT_NULL);
    EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    EXPECT_EQ(aclmdlExecute(id, inputs, outputs), ACL_SUCCESS);
  }).join();
  EXPECT_EQ(y_, expected_);
}

TEST_F(Acl, EventsMeasureTime) {
  aclrtEvent start = nullptr, end = nullptr;
  float ms = -1;
  EXPECT_EQ(aclrtCreateEvent(&start), ACL_SUCCESS);
  EXPECT_EQ(aclrtCreateEvent(&end), ACL_SUCCESS);
  EXPECT_EQ(aclrtRecordEvent(start, nullptr), ACL_SUCCESS);
  EXPECT_EQ(aclrtEventElapsedTime(&ms, start, end), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtRecordEvent(end, nullptr), ACL_SUCCESS);
  EXPECT_EQ(aclrtEventElapsedTime(&ms, start, end), ACL_SUCCESS);
  EXPECT_GE(ms, 0);
  EXPECT_EQ(aclrtDestroyEvent(start), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyEvent(start), ACL_ERROR_RT_PARAM_INVALID);
}

TEST_F(Acl, MemoryIsCheckedAndCopied) {
  void* memory = nullptr;
  EXPECT_EQ(aclrtMalloc(&memory, 0, ACL_MEM_MALLOC_HUGE_FIRST), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtMalloc(nullptr, 8, ACL_MEM_MALLOC_HUGE_FIRST), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtMalloc(&memory, ~std::size_t{0}, ACL_MEM_MALLOC_HUGE_FIRST),
            ACL_ERROR_RT_MEMORY_ALLOCATION);
  ASSERT_EQ(aclrtMalloc(&memory, 100, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory) % 64, 0u);
  EXPECT_EQ(aclrtMemset(memory, 100, 7, 101), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtMemset(memory, 100, 7, 100), ACL_SUCCESS);
  char back[3] = {};
  EXPECT_EQ(aclrtMemcpy(back, 3, memory, 4, ACL_MEMCPY_DEVICE_TO_HOST), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtMemcpy(back, 3, memory, 3, ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
  EXPECT_EQ(back[2], 7);
  EXPECT_EQ(aclrtFree(memory), ACL_SUCCESS);
  EXPECT_EQ(aclrtFree(nullptr), ACL_ERROR_INVALID_PARAM);
  std::size_t free_bytes = 0, total = 0;
  EXPECT_EQ(aclrtGetMemInfo(ACL_DDR_MEM, &free_bytes, &total), ACL_SUCCESS);
  EXPECT_GT(total, free_bytes);
}

/// How often the file is mapped into this process.
int count_mappings(const std::filesystem::path& path) {
  std::ifstream maps("/proc/self/maps");
  int count = 0;
  for (std::string line; std::getline(maps, line);) count += line.ends_with(path.string());
  return count;
}

TEST_F(Acl, ModelsAreMappedWhereTheVariableSaysSo) {
  const aoe::tests::TempDir dir;
  const auto path = std::filesystem::canonical(dir.path()) / "m.om";
  write_file_atomically(path, reference_om().serialize());
  for (const char* value : {"0", "1"}) {
    ::setenv(kShareWeightsVariable, value, 1);
    std::uint32_t ids[2] = {};
    for (std::uint32_t& id : ids) ASSERT_EQ(aclmdlLoadFromFile(path.c_str(), &id), ACL_SUCCESS);
    EXPECT_EQ(count_mappings(path), *value == '1' ? 2 : 0);
    for (const std::uint32_t id : ids) EXPECT_EQ(aclmdlUnload(id), ACL_SUCCESS);
  }
  ::unsetenv(kShareWeightsVariable);
  EXPECT_EQ(count_mappings(path), 0);
}

TEST(AclClient, AProgramInCRunsAModel) {
  const aoe::tests::TempDir dir;
  write_file_atomically(dir / "m.om", reference_om().serialize());
  const tests::Finished run =
      tests::run_program(std::string(AOE_ACL_CLIENT) + " " + (dir / "m.om").string() + " 2>&1");
  EXPECT_EQ(run.output, "y: 1 0 5 0 9 0\n");
  EXPECT_EQ(run.exit_code, 0);
}

}  // namespace
}  // namespace aoe::runtime
