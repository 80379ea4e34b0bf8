// Dynamic gears through the C API: what the description reports, choosing a gear, and the code that
// each kind of misuse gets.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "acl/acl.h"
#include "base/file.h"
#include "tests/runtime/geared_om.h"
#include "tests/runtime/run_program.h"
#include "tests/temp_dir.h"

namespace aoe::runtime {
namespace {

using tests::geared_om;
using tests::kBatches;

constexpr std::size_t kAll = static_cast<std::size_t>(-1);

class AclGears : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(aclInit(nullptr), ACL_SUCCESS);
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    desc_ = aclmdlCreateDesc();
    inputs_ = aclmdlCreateDataset();
    outputs_ = aclmdlCreateDataset();
  }
  void TearDown() override {
    for (aclmdlDataset* set : {inputs_, outputs_}) {
      for (std::size_t i = 0; i < aclmdlGetDatasetNumBuffers(set); ++i)
        aclDestroyDataBuffer(aclmdlGetDatasetBuffer(set, i));
      aclmdlDestroyDataset(set);
    }
    aclmdlDestroyDesc(desc_);
    aclFinalize();
  }

  /// Loads, describes, and makes buffers as large as the description says.
  void load(const std::string& bytes) {
    ASSERT_EQ(aclmdlLoadFromMem(bytes.data(), bytes.size(), &model_), ACL_SUCCESS);
    ASSERT_EQ(aclmdlGetDesc(desc_, model_), ACL_SUCCESS);
    x_.assign(aclmdlGetInputSizeByIndex(desc_, 0) / 4, 1);
    y_.assign(aclmdlGetOutputSizeByIndex(desc_, 0) / 4, -1);
    add(inputs_, x_.data(), x_.size() * 4);
    add(outputs_, y_.data(), y_.size() * 4);
    if (aclmdlGetNumInputs(desc_) < 2) return;
    gear_.assign(aclmdlGetInputSizeByIndex(desc_, 1) / 8, 0);
    add(inputs_, gear_.data(), gear_.size() * 8);
    ASSERT_EQ(aclmdlGetInputIndexByName(desc_, ACL_DYNAMIC_TENSOR_NAME, &index_), ACL_SUCCESS);
  }
  static void add(aclmdlDataset* set, void* data, std::size_t bytes) {
    EXPECT_EQ(aclmdlAddDatasetBuffer(set, aclCreateDataBuffer(data, bytes)), ACL_SUCCESS);
  }
  static std::string message() {
    const char* const text = aclGetRecentErrMsg();
    return text == nullptr ? "" : text;
  }
  std::vector<std::int64_t> current_output() const {
    aclmdlIODims dims;
    EXPECT_EQ(aclmdlGetCurOutputDims(desc_, 0, &dims), ACL_SUCCESS);
    return {dims.dims, dims.dims + dims.dimCount};
  }

  aclmdlDesc* desc_ = nullptr;
  aclmdlDataset* inputs_ = nullptr;
  aclmdlDataset* outputs_ = nullptr;
  std::uint32_t model_ = 0;
  std::size_t index_ = 0;  ///< of ACL_DYNAMIC_TENSOR_NAME
  std::vector<float> x_, y_;
  std::vector<std::int64_t> gear_;
};

TEST_F(AclGears, AreReportedByTheDescription) {
  load(geared_om().serialize());
  EXPECT_EQ(aclmdlGetNumInputs(desc_), 2u);
  EXPECT_EQ(index_, 1u);
  EXPECT_EQ(aclmdlGetInputDataType(desc_, 1), ACL_INT64);
  EXPECT_EQ(x_.size(), 12u) << "room for the largest gear";
  EXPECT_EQ(y_.size(), 12u);
  aclmdlIODims dims;
  ASSERT_EQ(aclmdlGetInputDims(desc_, 0, &dims), ACL_SUCCESS);
  EXPECT_EQ(std::vector<std::int64_t>(dims.dims, dims.dims + dims.dimCount),
            (std::vector<std::int64_t>{-1, 3}));
  ASSERT_EQ(aclmdlGetOutputDims(desc_, 0, &dims), ACL_SUCCESS);
  EXPECT_EQ(dims.dims[0], -1);
  EXPECT_EQ(current_output(), (std::vector<std::int64_t>{-1, 3}));

  aclmdlBatch batch;
  ASSERT_EQ(aclmdlGetDynamicBatch(desc_, &batch), ACL_SUCCESS);
  EXPECT_EQ(std::vector<std::uint64_t>(batch.batch, batch.batch + batch.batchCount),
            (std::vector<std::uint64_t>{1, 4, 2}));
  aclmdlHW hw;
  ASSERT_EQ(aclmdlGetDynamicHW(desc_, kAll, &hw), ACL_SUCCESS);
  EXPECT_EQ(hw.hwCount, 0u);
  std::size_t count = 9;
  ASSERT_EQ(aclmdlGetInputDynamicGearCount(desc_, kAll, &count), ACL_SUCCESS);
  EXPECT_EQ(count, 0u);
}

TEST_F(AclGears, OfBatchSizesRunInAnyOrder) {
  load(geared_om().serialize());
  for (const std::size_t rows : {4u, 1u, 2u, 4u}) {
    std::fill(y_.begin(), y_.end(), -1.0f);
    ASSERT_EQ(aclmdlSetDynamicBatchSize(model_, inputs_, index_, rows), ACL_SUCCESS) << message();
    EXPECT_EQ(current_output(), (std::vector<std::int64_t>{static_cast<std::int64_t>(rows), 3}));
    ASSERT_EQ(aclmdlExecute(model_, inputs_, outputs_), ACL_SUCCESS) << message();
    for (std::size_t i = 0; i < y_.size(); ++i) {
      const float expected[] = {2, 0, 4};
      EXPECT_EQ(y_[i], i < 3 * rows ? expected[i % 3] : -1) << "rows " << rows << ", " << i;
    }
  }
}

TEST_F(AclGears, OfImageSizesAndOfAnyDimensions) {
  load(geared_om(GearKind::kImage).serialize());
  aclmdlHW hw;
  ASSERT_EQ(aclmdlGetDynamicHW(desc_, kAll, &hw), ACL_SUCCESS);
  ASSERT_EQ(hw.hwCount, 3u);
  EXPECT_EQ(hw.hw[1][0], 4u);
  EXPECT_EQ(hw.hw[1][1], 3u);
  EXPECT_EQ(aclmdlSetDynamicHWSize(model_, inputs_, index_, 2, 3), ACL_SUCCESS);
  EXPECT_EQ(aclmdlExecute(model_, inputs_, outputs_), ACL_SUCCESS) << message();
  EXPECT_EQ(current_output(), (std::vector<std::int64_t>{2, 3}));
  EXPECT_EQ(aclmdlSetDynamicHWSize(model_, inputs_, index_, 3, 2), ACL_ERROR_GE_SHAPE_INVALID);
  EXPECT_NE(message().find("image sizes 1,3; 4,3; 2,3"), std::string::npos);
}

TEST_F(AclGears, OfAnyDimensionsAreTheDimensionsOfAllInputs) {
  load(geared_om(GearKind::kDims).serialize());
  std::size_t count = 0;
  ASSERT_EQ(aclmdlGetInputDynamicGearCount(desc_, kAll, &count), ACL_SUCCESS);
  ASSERT_EQ(count, 3u);
  std::vector<aclmdlIODims> dims(count);
  EXPECT_EQ(aclmdlGetInputDynamicDims(desc_, kAll, dims.data(), 2), ACL_ERROR_INVALID_PARAM);
  ASSERT_EQ(aclmdlGetInputDynamicDims(desc_, kAll, dims.data(), count), ACL_SUCCESS);
  for (std::size_t g = 0; g < count; ++g) {
    EXPECT_EQ(dims[g].dimCount, 2u);
    EXPECT_EQ(dims[g].dims[0], kBatches[g]);
    ASSERT_EQ(aclmdlSetInputDynamicDims(model_, inputs_, index_, &dims[g]), ACL_SUCCESS);
    ASSERT_EQ(aclmdlExecute(model_, inputs_, outputs_), ACL_SUCCESS) << message();
    EXPECT_EQ(current_output(), (std::vector<std::int64_t>{kBatches[g], 3}));
  }
  dims[0].dims[0] = 3;
  EXPECT_EQ(aclmdlSetInputDynamicDims(model_, inputs_, index_, &dims[0]),
            ACL_ERROR_GE_SHAPE_INVALID);
  EXPECT_NE(message().find("1,3; 4,3; 2,3"), std::string::npos);
}

TEST_F(AclGears, RefuseSizesThatAreNone) {
  load(geared_om().serialize());
  EXPECT_EQ(aclmdlSetDynamicBatchSize(model_, inputs_, index_, 3),
            ACL_ERROR_GE_DYNAMIC_BATCH_SIZE_INVALID);
  EXPECT_NE(message().find("3 is no gear; the model has batch sizes 1, 4, 2"), std::string::npos);
  EXPECT_EQ(aclmdlSetDynamicBatchSize(model_, inputs_, 0, 4), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclmdlSetDynamicBatchSize(model_, inputs_, 2, 4), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclmdlSetDynamicBatchSize(model_, nullptr, index_, 4), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclmdlSetDynamicBatchSize(model_ + 1, inputs_, index_, 4), ACL_ERROR_INVALID_MODEL_ID);
  EXPECT_EQ(aclmdlSetDynamicHWSize(model_, inputs_, index_, 4, 3), ACL_ERROR_MODEL_NOT_DYNAMIC);
  aclmdlIODims dims{};
  EXPECT_EQ(aclmdlSetInputDynamicDims(model_, inputs_, index_, &dims), ACL_ERROR_MODEL_NOT_DYNAMIC);
}

TEST_F(AclGears, RefuseAnExecutionThatDoesNotSayWhich) {
  load(geared_om().serialize());
  EXPECT_EQ(aclmdlExecute(model_, inputs_, outputs_), ACL_ERROR_GE_SHAPE_INVALID);
  EXPECT_NE(message().find("batch sizes 1, 4, 2"), std::string::npos);
  // A dataset without the buffer that says it.
  aclmdlDataset* const old = aclmdlCreateDataset();
  aclmdlAddDatasetBuffer(old, aclmdlGetDatasetBuffer(inputs_, 0));
  EXPECT_EQ(aclmdlExecute(model_, old, outputs_), ACL_ERROR_MODEL_INPUT_NOT_MATCH);
  aclmdlDestroyDataset(old);
}

TEST_F(AclGears, AreNotWhatMemoryHeldBefore) {
  load(geared_om().serialize());
  gear_[0] = 4;  // as a buffer of the dataset before, given back and taken again
  EXPECT_EQ(aclmdlExecute(model_, inputs_, outputs_), ACL_ERROR_GE_SHAPE_INVALID);
  EXPECT_NE(message().find("batch sizes 1, 4, 2"), std::string::npos);
  ASSERT_EQ(aclmdlSetDynamicBatchSize(model_, inputs_, index_, 4), ACL_SUCCESS);
  EXPECT_EQ(aclmdlExecute(model_, inputs_, outputs_), ACL_SUCCESS) << message();
}

TEST_F(AclGears, RefuseBuffersThatAreTooSmallForTheGear) {
  load(geared_om().serialize());
  aclUpdateDataBuffer(aclmdlGetDatasetBuffer(inputs_, 0), x_.data(), 2 * 3 * 4);
  aclUpdateDataBuffer(aclmdlGetDatasetBuffer(outputs_, 0), y_.data(), 2 * 3 * 4);
  ASSERT_EQ(aclmdlSetDynamicBatchSize(model_, inputs_, index_, 2), ACL_SUCCESS);
  EXPECT_EQ(aclmdlExecute(model_, inputs_, outputs_), ACL_SUCCESS) << message();
  ASSERT_EQ(aclmdlSetDynamicBatchSize(model_, inputs_, index_, 4), ACL_SUCCESS);
  EXPECT_EQ(aclmdlExecute(model_, inputs_, outputs_), ACL_ERROR_MODEL_INPUT_NOT_MATCH);
  aclUpdateDataBuffer(aclmdlGetDatasetBuffer(inputs_, 0), x_.data(), 4 * 3 * 4);
  EXPECT_EQ(aclmdlExecute(model_, inputs_, outputs_), ACL_ERROR_MODEL_OUTPUT_NOT_MATCH);
}

TEST_F(AclGears, RefuseAShapeThatContradictsTheGear) {
  load(geared_om().serialize());
  const std::int64_t shape[] = {2, 3};
  aclTensorDesc* const given = aclCreateTensorDesc(ACL_FLOAT, 2, shape, ACL_FORMAT_ND);
  ASSERT_EQ(aclmdlSetDatasetTensorDesc(inputs_, given, 0), ACL_SUCCESS);
  aclDestroyTensorDesc(given);
  ASSERT_EQ(aclmdlSetDynamicBatchSize(model_, inputs_, index_, 2), ACL_SUCCESS);
  EXPECT_EQ(aclmdlExecute(model_, inputs_, outputs_), ACL_SUCCESS) << message();
  ASSERT_EQ(aclmdlSetDynamicBatchSize(model_, inputs_, index_, 4), ACL_SUCCESS);
  EXPECT_EQ(aclmdlExecute(model_, inputs_, outputs_), ACL_ERROR_GE_SHAPE_INVALID);
  EXPECT_NE(message().find("gear 4 has 4x3"), std::string::npos);
}

TEST_F(AclGears, ShareTheCallersMemory) {
  const std::string bytes = geared_om().serialize();
  std::size_t work = 0, weights = 0;
  ASSERT_EQ(aclmdlQuerySizeFromMem(bytes.data(), bytes.size(), &work, &weights), ACL_SUCCESS);
  EXPECT_EQ(work, 64u);
  EXPECT_EQ(weights, 12u);
  std::uint32_t model = 0;
  alignas(64) static char work_memory[64], weight_memory[12];
  EXPECT_EQ(aclmdlLoadFromMemWithMem(bytes.data(), bytes.size(), &model, work_memory, 63,
                                     weight_memory, 12),
            ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclmdlLoadFromMemWithMem(bytes.data(), bytes.size(), &model, work_memory, 64,
                                     weight_memory, 12),
            ACL_SUCCESS);
}

/// With `inputs` of four sizes, the first of which gears vary.
GearedOm wide_om(GearKind kind, int inputs) {
  GearedOm model;
  model.gears.kind = kind;
  for (const std::int64_t rows : {1, 2}) {
    tests::OmBuilder b("wide");
    const TensorDesc desc = tests::floats({rows, 1, 1, 3});
    const int x = b.input("x0", desc);
    for (int i = 1; i < inputs; ++i) b.input("x" + std::to_string(i), desc);
    b.reference("Relu", {x}, {b.output("y", desc)});
    model.oms.push_back(b.om);
    model.gears.values.push_back({rows});
  }
  model.gears.dynamic_axes.assign(static_cast<std::size_t>(inputs), {0});
  return model;
}

std::string said_by_session(const GearedOm& om, int inputs) {
  const aoe::tests::TempDir dir;
  write_file_atomically(dir / "m.om", om.serialize());
  return tests::run_program(std::string(AOE_SESSION_CLIENT) + " " + (dir / "m.om").string() + " " +
                            std::to_string(inputs) + " 2>&1")
      .output;
}

TEST(SessionClient, NamesWhatIsGivenWrongly) {
  EXPECT_EQ(said_by_session(wide_om(GearKind::kBatch, 1), 1),
            "right: 4 sizes\n"
            "nothing: nothing is given for the input x0\n"
            "other name: the model has no input z; there are x0\n"
            "other type: the input x0 has elements of another type\n"
            "other shape: the input x0 is [-1x1x1x3], not [3x2]\n"
            "null: the data of the input x0 are a null pointer\n"
            "view: 6 values are no tensor [-2x-3]\n"
            "not described: 1 unloaded\n");
}

TEST(SessionClient, TakesMoreSizesThanAclmdlIODims) {
  constexpr int kInputs = ACL_MAX_DIM_CNT / 4 + 1;
  const std::string said = said_by_session(wide_om(GearKind::kBatch, kInputs), kInputs);
  EXPECT_EQ(said.find("right: 4 sizes\n"), 0U) << said;
}

TEST(SessionClient, TellsTheShapeOfWhatIsOpen) {
  tests::OmBuilder b("open");
  const TensorDesc desc = tests::floats({kUnknownDim, 1, 1, 3});
  const int x = b.input("x0", desc);
  b.reference("Relu", {x}, {b.dynamic_output("y", desc)});
  GearedOm open;
  open.oms.push_back(b.om);
  const std::string said = said_by_session(open, 1);
  EXPECT_EQ(said.find("right: 4 sizes\n"), 0U) << said;
  EXPECT_NE(said.find("other shape: the input x0 is [-1x1x1x3], not [3x2]\n"), std::string::npos);
}

TEST_F(AclGears, ModelsOfOneShapeHaveNone) {
  Om om = tests::small_om();
  om.code.clear();
  load(om.serialize());
  EXPECT_EQ(aclmdlGetNumInputs(desc_), 1u);
  aclmdlBatch batch;
  EXPECT_EQ(aclmdlGetDynamicBatch(desc_, &batch), ACL_SUCCESS);
  EXPECT_EQ(batch.batchCount, 0u);
  EXPECT_EQ(aclmdlSetDynamicBatchSize(model_, inputs_, 1, 4), ACL_ERROR_MODEL_NOT_DYNAMIC);
}

}  // namespace
}  // namespace aoe::runtime
