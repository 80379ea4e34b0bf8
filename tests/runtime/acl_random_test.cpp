// Everything of acl.h in any order, with any arguments, from eight threads: the codes that the headers name, and no other.
// Handles that were destroyed are not among the arguments: they are the caller's pointers.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <functional>
#include <random>
#include <set>
#include <string>
#include <thread>

#include "acl/acl.h"
#include "tests/runtime/geared_om.h"

namespace aoe::runtime {
namespace {

const std::set<aclError> kDocumented = {ACL_SUCCESS,
                                        ACL_ERROR_INVALID_PARAM,
                                        ACL_ERROR_UNINITIALIZE,
                                        ACL_ERROR_REPEAT_INITIALIZE,
                                        ACL_ERROR_INVALID_FILE,
                                        ACL_ERROR_INVALID_MODEL_ID,
                                        ACL_ERROR_PARSE_MODEL,
                                        ACL_ERROR_MODEL_INPUT_NOT_MATCH,
                                        ACL_ERROR_MODEL_OUTPUT_NOT_MATCH,
                                        ACL_ERROR_MODEL_NOT_DYNAMIC,
                                        ACL_ERROR_REPEAT_FINALIZE,
                                        ACL_ERROR_RT_PARAM_INVALID,
                                        ACL_ERROR_RT_INVALID_DEVICEID,
                                        ACL_ERROR_RT_CONTEXT_NULL,
                                        ACL_ERROR_RT_STREAM_CONTEXT,
                                        ACL_ERROR_GE_EXEC_MODEL_PATH_INVALID,
                                        ACL_ERROR_GE_DYNAMIC_BATCH_SIZE_INVALID,
                                        ACL_ERROR_GE_SHAPE_INVALID,
                                        ACL_ERROR_API_NOT_SUPPORT,
                                        ACL_ERROR_RT_MEMORY_ALLOCATION,
                                        ACL_ERROR_RT_MODEL_EXECUTE};

/// Two outputs whose sizes only a run can tell, and an input of unknown rows.
Om found_om() {
  tests::OmBuilder b("found");
  const TensorDesc places{.dtype = DataType::kInt64, .shape = {2, kUnknownDim}};
  const int x = b.input("x", tests::floats({kUnknownDim, 3}));
  const int first = b.dynamic_output("first", places), second = b.dynamic_output("second", places);
  b.reference("NonZero", {x}, {first});
  b.reference("NonZero", {x}, {second});
  return b.om;
}

const std::vector<std::string>& model_bytes() {
  static const std::vector<std::string> all = [] {
    Om plain = tests::small_om();
    plain.code.clear();
    std::string damaged = plain.serialize();
    damaged.resize(damaged.size() / 2);
    return std::vector<std::string>{plain.serialize(), tests::geared_om().serialize(),
                                    tests::geared_om(GearKind::kImage).serialize(),
                                    found_om().serialize(), damaged};
  }();
  return all;
}

/// One thread's objects, and calls with them.
class Client {
 public:
  explicit Client(unsigned seed) : random_(seed) {
    for (int i = 0; i < 3; ++i) {
      descs_[i] = aclmdlCreateDesc();
      datasets_[i] = aclmdlCreateDataset();
      buffers_[i] = aclCreateDataBuffer(memory_.data(), 64);
    }
    config_ = aclmdlCreateConfigHandle();
  }
  ~Client() {
    for (int i = 0; i < 3; ++i) {
      aclmdlDestroyDesc(descs_[i]);
      aclmdlDestroyDataset(datasets_[i]);
      release(buffers_[i]);
      aclDestroyDataBuffer(buffers_[i]);
    }
    aclmdlDestroyConfigHandle(config_);
  }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  void call_something() {
    using Call = std::function<void(Client&)>;
    static const std::vector<Call> kCalls = {
        &Client::life_cycle, &Client::device,   &Client::contexts, &Client::streams,
        &Client::events,     &Client::memory,   &Client::load,     &Client::load_with_config,
        &Client::unload,     &Client::describe, &Client::ask_desc, &Client::ask_gears,
        &Client::set_gear,   &Client::buffers,  &Client::tensors,  &Client::datasets,
        &Client::execute,    &Client::execute,  &Client::execute,  &Client::profile};
    kCalls[below(kCalls.size())](*this);
  }

 private:
  std::size_t below(std::size_t limit) { return random_() % limit; }
  bool now_and_then() { return below(8) == 0; }
  /// A small number most of the time.
  std::size_t any_size() {
    static constexpr std::size_t kOdd[] = {SIZE_MAX, SIZE_MAX / 2, std::size_t{1} << 40, 1 << 20};
    return now_and_then() ? kOdd[below(std::size(kOdd))] : below(6);
  }
  template <typename T>
  T* any(std::array<T*, 3>& objects) {
    return now_and_then() ? nullptr : objects[below(3)];
  }
  std::uint32_t any_model() {
    const std::uint32_t newest = newest_model;
    return now_and_then() ? static_cast<std::uint32_t>(random_())
                          : newest - static_cast<std::uint32_t>(below(5));
  }
  template <typename T>
  T* or_null(T& object) {
    return now_and_then() ? nullptr : &object;
  }
  void check(aclError status, const char* call) {
    EXPECT_TRUE(kDocumented.contains(status)) << call << " -> " << status;
    if (status != ACL_SUCCESS) aclGetRecentErrMsg();
  }
#define CALL(call) check((call), #call)

  void life_cycle() {
    if (below(40) > 0) return;
    std::uint64_t references = 0;
    switch (below(3)) {
      case 0:
        return CALL(aclFinalize());
      case 1:
        return CALL(aclFinalizeReference(or_null(references)));
      default:
        CALL(aclInit(now_and_then() ? "/nowhere/acl.json" : nullptr));
    }
  }
  void device() {
    std::int32_t number = 0, minor = 0, patch = 0;
    std::uint32_t count = 0;
    aclrtRunMode mode;
    CALL(aclrtSetDevice(now_and_then() ? static_cast<std::int32_t>(random_()) : 0));
    CALL(aclrtGetDevice(or_null(number)));
    CALL(aclrtGetDeviceCount(or_null(count)));
    CALL(aclrtGetRunMode(or_null(mode)));
    CALL(aclrtSynchronizeDevice());
    CALL(aclrtGetVersion(or_null(number), or_null(minor), or_null(patch)));
    EXPECT_NE(aclrtGetSocName(), nullptr);
    if (now_and_then()) CALL(aclrtResetDevice(static_cast<std::int32_t>(below(2))));
  }
  void contexts() {
    aclrtContext current = nullptr;
    CALL(aclrtCreateContext(or_null(context_), static_cast<std::int32_t>(below(2))));
    CALL(aclrtGetCurrentContext(or_null(current)));
    CALL(aclrtSetCurrentContext(now_and_then() ? &current : current));
    CALL(aclrtDestroyContext(now_and_then() ? nullptr : context_));
    CALL(aclrtSetDevice(0));
  }
  void streams() {
    CALL(aclrtCreateStream(or_null(stream_)));
    CALL(aclrtSynchronizeStream(now_and_then() ? &stream_ : stream_));
    if (now_and_then()) CALL(aclrtDestroyStream(stream_));
  }
  void events() {
    float ms = 0;
    aclrtEvent event = nullptr;
    CALL(aclrtCreateEvent(or_null(event)));
    CALL(aclrtRecordEvent(event, now_and_then() ? stream_ : nullptr));
    CALL(aclrtSynchronizeEvent(event));
    CALL(aclrtEventElapsedTime(or_null(ms), event, now_and_then() ? nullptr : event));
    CALL(aclrtDestroyEvent(event));
    CALL(aclrtDestroyEvent(event));  // a second time: noticed
  }
  void memory() {
    void* pointer = nullptr;
    std::size_t free = 0, total = 0;
    CALL(aclrtGetMemInfo(static_cast<aclrtMemAttr>(below(2)), or_null(free), or_null(total)));
    // Sizes that any machine has, or none.
    const std::size_t size = below(2) == 0 ? below(5000) : SIZE_MAX - below(100);
    CALL(below(2) == 0 ? aclrtMallocHost(&pointer, size)
                       : aclrtMalloc(&pointer, size, static_cast<aclrtMemMallocPolicy>(below(8))));
    if (pointer == nullptr) return;
    CALL(aclrtMemset(or_null(memory_), 64, 1, below(2) == 0 ? below(65) : SIZE_MAX));
    CALL(aclrtMemcpy(pointer, size, memory_.data(), std::min<std::size_t>(size, below(64)),
                     static_cast<aclrtMemcpyKind>(below(7))));
    CALL(
        aclrtMemcpyAsync(pointer, below(8), memory_.data(), size + 8, ACL_MEMCPY_DEFAULT, stream_));
    CALL(below(2) == 0 ? aclrtFree(pointer) : aclrtFreeHost(pointer));
  }
  void note(std::uint32_t model) {
    if (model != 0) newest_model = model;
  }
  void load() {
    const std::string& bytes = model_bytes()[below(model_bytes().size())];
    std::uint32_t id = 0;
    std::size_t work = 0, weights = 0;
    CALL(aclmdlQuerySizeFromMem(bytes.data(), below(2) == 0 ? bytes.size() : below(bytes.size()),
                                or_null(work), or_null(weights)));
    CALL(aclmdlLoadFromMem(now_and_then() ? nullptr : bytes.data(), bytes.size(), or_null(id)));
    note(id);
    CALL(aclmdlLoadFromFile("/nowhere/m.om", or_null(id)));
    CALL(aclmdlQuerySize(now_and_then() ? nullptr : "/dev", or_null(work), or_null(weights)));
    alignas(64) static thread_local std::array<char, 4096> room;
    CALL(aclmdlLoadFromMemWithMem(bytes.data(), bytes.size(), or_null(id),
                                  now_and_then() ? nullptr : room.data(), below(256), nullptr, 0));
    if (id != 0) CALL(aclmdlUnload(id));
  }
  void load_with_config() {
    const std::string& bytes = model_bytes()[below(model_bytes().size())];
    const char* const address = bytes.data();
    const std::size_t size = bytes.size(), type = below(6);
    std::uint32_t id = 0;
    CALL(aclmdlSetConfigOpt(config_, ACL_MDL_MEM_ADDR_PTR, &address, sizeof address));
    CALL(aclmdlSetConfigOpt(config_, ACL_MDL_MEM_SIZET, &size, sizeof size));
    CALL(
        aclmdlSetConfigOpt(config_, ACL_MDL_LOAD_TYPE_SIZET, &type, below(2) == 0 ? 8 : below(20)));
    const char* const nowhere = now_and_then() ? nullptr : "/nowhere/m.om";
    CALL(aclmdlSetConfigOpt(config_, ACL_MDL_PATH_PTR, &nowhere, sizeof nowhere));
    CALL(aclmdlLoadWithConfig(now_and_then() ? nullptr : config_, or_null(id)));
    note(id);
  }
  void unload() {
    if (below(4) == 0) CALL(aclmdlUnload(any_model()));
  }
  void describe() {
    CALL(aclmdlGetDesc(any(descs_), any_model()));
    CALL(aclmdlGetDescFromFile(any(descs_), "/nowhere/m.om"));
  }
  void ask_desc() {
    aclmdlDesc* const desc = any(descs_);
    const std::size_t index = any_size();
    aclmdlIODims dims;
    EXPECT_LE(aclmdlGetNumInputs(desc) + aclmdlGetNumOutputs(desc), 4u);
    aclmdlGetInputSizeByIndex(desc, index);
    aclmdlGetOutputSizeByIndex(desc, index);
    CALL(aclmdlGetInputDims(desc, index, or_null(dims)));
    CALL(aclmdlGetOutputDims(desc, index, or_null(dims)));
    CALL(aclmdlGetCurOutputDims(desc, index, or_null(dims)));
    CALL(aclmdlGetInputIndexByName(desc, aclmdlGetInputNameByIndex(desc, index),
                                   now_and_then() ? nullptr : &dims.dimCount));
    CALL(aclmdlGetOutputIndexByName(desc, now_and_then() ? nullptr : "y", &dims.dimCount));
    aclmdlGetOutputNameByIndex(desc, index);
    aclmdlGetInputFormat(desc, index);
    aclmdlGetOutputFormat(desc, index);
    aclmdlGetInputDataType(desc, index);
    aclmdlGetOutputDataType(desc, index);
  }
  void ask_gears() {
    aclmdlDesc* const desc = any(descs_);
    aclmdlBatch batch;
    aclmdlHW sizes;
    std::size_t count = 0;
    std::array<aclmdlIODims, 3> dims;
    CALL(aclmdlGetDynamicBatch(desc, or_null(batch)));
    CALL(aclmdlGetDynamicHW(desc, any_size(), or_null(sizes)));
    CALL(aclmdlGetInputDynamicGearCount(desc, any_size(), or_null(count)));
    CALL(aclmdlGetInputDynamicDims(desc, any_size(), now_and_then() ? nullptr : dims.data(),
                                   below(dims.size() + 1)));
  }
  void set_gear() {
    aclmdlDataset* const dataset = any(datasets_);
    aclmdlIODims dims{.name = {}, .dimCount = any_size(), .dims = {}};
    CALL(aclmdlSetDynamicBatchSize(any_model(), dataset, any_size(), below(5)));
    CALL(aclmdlSetDynamicHWSize(any_model(), dataset, any_size(), below(5), any_size()));
    CALL(aclmdlSetInputDynamicDims(any_model(), dataset, any_size(), or_null(dims)));
  }
  /// The library gave an output of unknown size its memory.
  void release(aclDataBuffer* buffer) {
    void* const memory = aclGetDataBufferAddr(buffer);
    if (memory != nullptr && memory != memory_.data()) CALL(aclrtFree(memory));
  }
  void buffers() {
    aclDataBuffer* const buffer = any(buffers_);
    release(buffer);
    const std::size_t size = below(sizeof memory_ + 1);
    CALL(aclUpdateDataBuffer(buffer, below(2) == 0 ? nullptr : memory_.data(), size));
    if (buffer != nullptr && aclGetDataBufferAddr(buffer) != memory_.data())
      CALL(aclUpdateDataBuffer(buffer, nullptr, 0));
    EXPECT_EQ(aclGetDataBufferSize(buffer), aclGetDataBufferSizeV2(buffer));
    EXPECT_EQ(aclCreateDataBuffer(nullptr, 1), nullptr);
    CALL(aclDestroyDataBuffer(aclCreateDataBuffer(nullptr, 0)));
    CALL(aclDestroyDataBuffer(nullptr));
  }
  aclTensorDesc* make_tensor() {
    static constexpr std::int64_t kOdd[] = {-1, -2, 0, INT64_MAX, INT64_MIN, std::int64_t{1} << 33};
    std::array<std::int64_t, 4> dims{};
    for (std::int64_t& dim : dims)
      dim = now_and_then() ? kOdd[below(std::size(kOdd))] : static_cast<std::int64_t>(1 + below(3));
    return aclCreateTensorDesc(static_cast<aclDataType>(below(40)), static_cast<int>(below(5)),
                               dims.data(), static_cast<aclFormat>(below(40)));
  }
  void tensors() {
    aclTensorDesc* const desc = make_tensor();
    std::int64_t size = 0;
    aclDataTypeSize(aclGetTensorDescType(desc));
    aclGetTensorDescFormat(desc);
    aclGetTensorDescSize(desc);
    EXPECT_LE(aclGetTensorDescNumDims(desc), 4u);
    CALL(aclGetTensorDescDimV2(now_and_then() ? nullptr : desc, any_size(), or_null(size)));
    EXPECT_EQ(aclCreateTensorDesc(ACL_FLOAT, -1, nullptr, ACL_FORMAT_ND), nullptr);
    EXPECT_EQ(aclCreateTensorDesc(ACL_FLOAT, 2, nullptr, ACL_FORMAT_ND), nullptr);
    CALL(aclmdlSetDatasetTensorDesc(any(datasets_), now_and_then() ? nullptr : desc, any_size()));
    aclDestroyTensorDesc(desc);
  }
  void datasets() {
    const std::size_t at = below(3);
    if (aclmdlGetDatasetNumBuffers(datasets_[at]) > 2) {
      CALL(aclmdlDestroyDataset(datasets_[at]));
      datasets_[at] = aclmdlCreateDataset();
    }
    CALL(aclmdlAddDatasetBuffer(any(datasets_), any(buffers_)));
    aclmdlGetDatasetBuffer(any(datasets_), any_size());
    aclmdlGetDatasetTensorDesc(any(datasets_), any_size());
  }
  void execute() {
    const std::uint32_t model = any_model();
    aclmdlDataset *const input = any(datasets_), *const output = any(datasets_);
    switch (below(3)) {
      case 0:
        return CALL(aclmdlExecute(model, input, output));
      case 1:
        return CALL(aclmdlExecuteAsync(model, input, output, now_and_then() ? stream_ : nullptr));
      default:
        CALL(aclmdlExecuteV2(
            model, input, output, nullptr,
            now_and_then() ? reinterpret_cast<const aclmdlExecConfigHandle*>(this) : nullptr));
    }
  }
  void profile() {
    int nowhere = -1;
    auto* const config = aclprofCreateSubscribeConfig(static_cast<int8_t>(below(3)),
                                                      ACL_AICORE_NONE, or_null(nowhere));
    CALL(aclprofModelSubscribe(any_model(), config));
    CALL(aclprofModelUnSubscribe(any_model()));
    if (config != nullptr) CALL(aclprofDestroySubscribeConfig(config));
  }
#undef CALL

  static std::atomic<std::uint32_t> newest_model;
  std::mt19937 random_;
  alignas(64) std::array<char, 256> memory_{};
  std::array<aclmdlDesc*, 3> descs_{};
  std::array<aclmdlDataset*, 3> datasets_{};
  std::array<aclDataBuffer*, 3> buffers_{};
  aclmdlConfigHandle* config_ = nullptr;
  aclrtContext context_ = nullptr;
  aclrtStream stream_ = nullptr;
};
std::atomic<std::uint32_t> Client::newest_model = 1;

/// AOE_ACL_CALLS for more of them.
int calls_per_thread() {
  const char* const wanted = std::getenv("AOE_ACL_CALLS");
  return wanted == nullptr ? 3000 : std::atoi(wanted);
}

TEST(AclRandom, EightThreadsGetDocumentedCodes) {
  const unsigned seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  aclInit(nullptr);
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < 8; ++i)
    threads.emplace_back([=] {
      Client client(seed + i);
      aclrtSetDevice(0);
      for (int call = 0; call < calls_per_thread(); ++call) client.call_something();
    });
  for (std::thread& thread : threads) thread.join();
  aclFinalize();
}

TEST(AclOutputDims, AreThereWhenAnOutputDidNotFit) {
  ASSERT_EQ(aclInit(nullptr), ACL_SUCCESS);
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  const std::string bytes = found_om().serialize();
  std::uint32_t model = 0;
  ASSERT_EQ(aclmdlLoadFromMem(bytes.data(), bytes.size(), &model), ACL_SUCCESS);
  std::vector<float> x = {1, 0, 1};
  std::int64_t too_small = 0;
  aclmdlDataset *const input = aclmdlCreateDataset(), *const output = aclmdlCreateDataset();
  aclDataBuffer* const in = aclCreateDataBuffer(x.data(), 12);
  aclDataBuffer* const out = aclCreateDataBuffer(&too_small, sizeof too_small);
  ASSERT_EQ(aclmdlAddDatasetBuffer(input, in), ACL_SUCCESS);
  for (int i = 0; i < 2; ++i) ASSERT_EQ(aclmdlAddDatasetBuffer(output, out), ACL_SUCCESS);
  const std::int64_t dims[] = {1, 3};
  aclTensorDesc* const shape = aclCreateTensorDesc(ACL_FLOAT, 2, dims, ACL_FORMAT_ND);
  ASSERT_EQ(aclmdlSetDatasetTensorDesc(input, shape, 0), ACL_SUCCESS);
  EXPECT_EQ(aclmdlExecute(model, input, output), ACL_ERROR_MODEL_OUTPUT_NOT_MATCH);

  aclmdlDesc* const desc = aclmdlCreateDesc();
  ASSERT_EQ(aclmdlGetDesc(desc, model), ACL_SUCCESS);
  for (std::size_t i = 0; i < 2; ++i) {  // the second was once read from behind the end
    aclmdlIODims found;
    ASSERT_EQ(aclmdlGetCurOutputDims(desc, i, &found), ACL_SUCCESS);
    EXPECT_EQ(found.dimCount, 2u);
    EXPECT_EQ(found.dims[1], 2);
  }
  aclmdlDestroyDesc(desc);
  aclDestroyTensorDesc(shape);
  aclDestroyDataBuffer(in);
  aclDestroyDataBuffer(out);
  aclmdlDestroyDataset(input);
  aclmdlDestroyDataset(output);
  EXPECT_EQ(aclFinalize(), ACL_SUCCESS);
}

}  // namespace
}  // namespace aoe::runtime
