// Records of ops as programs read them: damaged buffers, names that are kept for a while, and the operations they count.

#include <array>

#include "profiler/recorder.h"
#include "runtime/om/op_flops.h"
#include "tests/runtime/loaded_om.h"
#include "tests/runtime/subscription.h"

namespace aoe::runtime {
namespace {

using namespace tests;

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

TEST(OpFlops, AreOfTheMatrixUnitsWhateverTheProductIsOf) {
  tests::OmBuilder b;
  const int x = b.input("x", tests::floats({2, 3}));
  const int y = b.output("y", tests::floats({2, 5}));
  OmStep& step = b.reference("MatMulV2", {x, x}, {y});
  step.flops = 80;
  for (const char* type : {"WeightQuantBatchMatmulV2", "DeformableConv2D", "LinearAttention",
                           "DynamicRNN", "QLinearConv", "Einsum"}) {
    step.call = {.type = type};
    EXPECT_EQ(flops_of(b.om, step).cube, 80u) << type;
    EXPECT_EQ(flops_of(b.om, step).vector, 0u) << type;
  }
}

}  // namespace
}  // namespace aoe::runtime
