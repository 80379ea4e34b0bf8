// OneDnnKernel: refuses parameters that do not fit, and computes what the reference does. Layout conversions, packed
// weights and whole tasks are tested by tests/compiler/impls_test.cpp.
#include "runtime/onednn/onednn_kernel.h"

#include <gtest/gtest.h>
#include <omp.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <random>

#include "base/error.h"
#include "base/json_text.h"
#include "reference/op.h"

namespace aoe::runtime {
namespace {

using nlohmann::json;
using reference::Attrs;
using Floats = std::vector<float>;

constexpr int kThreads = 2;

json dense(const Shape& dims) {
  const char* const tags[] = {"", "a", "ab", "abc", "abcd", "abcde"};
  return {{"dims", dims}, {"dtype", "f32"}, {"tag", tags[dims.size()]}};
}

Floats random_floats(std::int64_t count, unsigned seed) {
  std::mt19937 engine(seed);
  std::uniform_real_distribution<float> uniform(-1, 1);
  Floats values(static_cast<std::size_t>(count));
  for (float& value : values) value = uniform(engine);
  return values;
}

json params_of(const std::vector<json>& stages) {
  return {{"stages", stages}};
}

std::vector<std::size_t> bytes_of(const std::vector<Floats>& buffers) {
  std::vector<std::size_t> bytes;
  for (const Floats& buffer : buffers) bytes.push_back(buffer.size() * sizeof(float));
  return bytes;
}

void run(const json& params, std::vector<Floats>& buffers) {
  omp_set_num_threads(kThreads);
  std::vector<void*> addresses;
  for (Floats& buffer : buffers) addresses.push_back(buffer.data());
  OneDnnKernel::create(params, kThreads, bytes_of(buffers), addresses)->run(addresses);
}

void expect_near(const Floats& got, const Floats& expected) {
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t i = 0; i < got.size(); ++i)
    ASSERT_NEAR(got[i], expected[i], 1e-5 * (1 + std::fabs(expected[i]))) << "element " << i;
}

// ---- results ----

/// One primitive and the op that it stands for. Buffers are the op's inputs, in order, then its outputs.
struct PrimitiveCase {
  std::string name;
  json stage;
  reference::OpCall call;
  std::vector<Shape> inputs;
};

void PrintTo(const PrimitiveCase& each, std::ostream* out) {
  *out << each.name;
}

Attrs attrs(std::initializer_list<std::pair<const char*, reference::Attr>> values) {
  Attrs made;
  for (const auto& [name, value] : values) made.set(name, value);
  return made;
}

using Ints = std::vector<std::int64_t>;

json window_stage(const char* primitive, const char* algorithm) {
  return {{"primitive", primitive}, {"algorithm", algorithm}, {"strides", {2, 1}},
          {"dilations", {0, 0}},    {"padding_l", {1, 0}},    {"padding_r", {1, 0}}};
}

Attrs window_attrs() {
  return attrs({{"strides", Ints{2, 1}}, {"pads", Ints{1, 0, 1, 0}}, {"kernel_shape", Ints{3, 3}}});
}

json with(json stage, const json& more) {
  stage.update(more);
  return stage;
}

std::vector<PrimitiveCase> image_cases() {
  const json src = dense({2, 4, 7, 6}), dst = dense({2, 5, 4, 4});
  const json args = {{"src", 0}, {"weights", 1}, {"bias", 2}, {"dst", 3}};
  const json pooled = {{"src", src},
                       {"dst", dense({2, 4, 4, 4})},
                       {"kernel", {3, 3}},
                       {"args", {{"src", 0}, {"dst", 1}}}};
  return {
      {"convolution",
       with(window_stage("convolution", "convolution_direct"), {{"src", src},
                                                                {"weights", dense({5, 4, 3, 3})},
                                                                {"bias", dense({5})},
                                                                {"dst", dst},
                                                                {"args", args}}),
       {.type = "Conv2D", .attrs = window_attrs()},
       {{2, 4, 7, 6}, {5, 4, 3, 3}, {5}}},
      {"deconvolution",
       with(window_stage("deconvolution", "deconvolution_direct"),
            {{"src", src},
             {"weights", {{"dims", {5, 4, 3, 3}}, {"dtype", "f32"}, {"strides", {9, 45, 3, 1}}}},
             {"bias", dense({5})},
             {"dst", dense({2, 5, 13, 8})},
             {"args", args}}),
       {.type = "Conv2DTranspose", .attrs = window_attrs()},
       {{2, 4, 7, 6}, {4, 5, 3, 3}, {5}}},
      {"max_pooling",
       with(window_stage("pooling", "pooling_max"), pooled),
       {.type = "MaxPoolV3", .version = 12, .attrs = window_attrs()},
       {{2, 4, 7, 6}}},
      {"average_pooling",
       with(window_stage("pooling", "pooling_avg_exclude_padding"), pooled),
       {.type = "AvgPoolV2", .version = 11, .attrs = window_attrs()},
       {{2, 4, 7, 6}}},
      {"lrn",
       {{"primitive", "lrn"},
        {"algorithm", "lrn_across_channels"},
        {"src", src},
        {"size", 3},
        {"alpha", 0.5},
        {"beta", 0.75},
        {"k", 1.0},
        {"args", {{"src", 0}, {"dst", 1}}}},
       {.type = "LRN", .attrs = attrs({{"size", std::int64_t{3}}, {"alpha", 0.5f}})},
       {{2, 4, 7, 6}}},
  };
}

std::vector<PrimitiveCase> matrix_cases() {
  const json rows = dense({6, 33});
  const json in_out = {{"src", 0}, {"dst", 1}};
  const auto softmax = [&](const char* algorithm) {
    return json{{"primitive", "softmax"},
                {"algorithm", algorithm},
                {"axis", 1},
                {"src", rows},
                {"dst", rows},
                {"args", in_out}};
  };
  return {
      {"matmul",
       {{"primitive", "matmul"},
        {"src", dense({3, 5, 7})},
        {"weights", dense({3, 7, 9})},
        {"dst", dense({3, 5, 9})},
        {"args", {{"src", 0}, {"weights", 1}, {"dst", 2}}}},
       {.type = "MatMulV2"},
       {{3, 5, 7}, {3, 7, 9}}},
      {"softmax", softmax("softmax_accurate"), {.type = "SoftmaxV2", .version = 13}, {{6, 33}}},
      {"log_softmax", softmax("softmax_log"), {.type = "LogSoftmaxV2", .version = 13}, {{6, 33}}},
      {"layer_normalization",
       {{"primitive", "layer_normalization"},
        {"src", rows},
        {"epsilon", 1e-5},
        {"has_scale", true},
        {"has_shift", true},
        {"args", {{"src", 0}, {"scale", 1}, {"shift", 2}, {"dst", 3}}}},
       {.type = "LayerNorm", .version = 17},
       {{6, 33}, {33}, {33}}},
      {"binary",
       {{"primitive", "binary"},
        {"algorithm", "binary_sub"},
        {"src", rows},
        {"src1", dense({1, 33})},
        {"dst", rows},
        {"args", {{"src", 0}, {"src1", 1}, {"dst", 2}}}},
       {.type = "Sub", .version = 7},
       {{6, 33}, {1, 33}}},
      {"reorder",
       {{"primitive", "reorder"},
        {"src", rows},
        {"dst", {{"dims", {6, 33}}, {"dtype", "f32"}, {"strides", {1, 6}}}},
        {"args", in_out}},
       {.type = "Transpose", .attrs = attrs({{"perm", Ints{1, 0}}})},
       {{6, 33}}},
  };
}

class Primitives : public testing::TestWithParam<PrimitiveCase> {};

TEST_P(Primitives, ComputeWhatTheReferenceDoes) {
  const PrimitiveCase& each = GetParam();
  std::vector<Floats> buffers;
  std::vector<Tensor> inputs;
  for (const Shape& shape : each.inputs)
    buffers.push_back(random_floats(element_count(shape), static_cast<unsigned>(buffers.size())));
  for (std::size_t i = 0; i < each.inputs.size(); ++i)
    inputs.push_back({{.dtype = DataType::kFloat, .shape = each.inputs[i]}, buffers[i].data()});
  const TensorDesc desc = reference::infer(each.call, inputs, 1).front();
  Floats expected(static_cast<std::size_t>(element_count(desc.shape)));
  const Tensor output{desc, expected.data()};
  reference::run(each.call, inputs, std::span(&output, 1));
  buffers.emplace_back(expected.size(), std::nanf(""));
  run(params_of({each.stage}), buffers);
  expect_near(buffers.back(), expected);
}
INSTANTIATE_TEST_SUITE_P(OfImages, Primitives, testing::ValuesIn(image_cases()),
                         testing::PrintToStringParamName());
INSTANTIATE_TEST_SUITE_P(OfMatrices, Primitives, testing::ValuesIn(matrix_cases()),
                         testing::PrintToStringParamName());

/// With one unit, oneDNN's weights differ from ONNX's in the order of the gates alone.
struct RecurrentCase {
  std::string primitive;
  std::string type;
  std::vector<std::size_t> gates;  ///< by oneDNN's gate, ONNX's
  Attrs attributes;
};

void PrintTo(const RecurrentCase& each, std::ostream* out) {
  *out << each.primitive;
}

class Recurrent : public testing::TestWithParam<RecurrentCase> {};

TEST_P(Recurrent, ComputesWhatTheReferenceDoes) {
  const RecurrentCase& each = GetParam();
  constexpr std::int64_t kSteps = 5, kBatch = 3;
  const auto gates = static_cast<std::int64_t>(each.gates.size());
  Floats x = random_floats(kSteps * kBatch, 1), w = random_floats(gates, 2),
         r = random_floats(gates, 3);
  const auto tensor = [](const Shape& shape, Floats& values) {
    return Tensor{{.dtype = DataType::kFloat, .shape = shape}, values.data()};
  };
  const std::vector<Tensor> inputs = {tensor({kSteps, kBatch, 1}, x), tensor({1, gates, 1}, w),
                                      tensor({1, gates, 1}, r)};
  Floats expected(static_cast<std::size_t>(kSteps * kBatch));
  const Tensor y = tensor({kSteps, 1, kBatch, 1}, expected);
  reference::run({.type = each.type, .version = 7, .attrs = each.attributes}, inputs,
                 std::span(&y, 1));

  Floats packed_w, packed_r;
  for (const std::size_t gate : each.gates) {
    packed_w.push_back(w[gate]);
    packed_r.push_back(r[gate]);
  }
  const std::int64_t bias_gates = gates + (each.primitive == "lbr_gru" ? 1 : 0);
  std::vector<Floats> buffers = {x, packed_w, packed_r, Floats(bias_gates, 0.0f),
                                 Floats(expected.size(), std::nanf(""))};
  const json stage = {
      {"primitive", each.primitive},
      {"algorithm", "eltwise_tanh"},  // read by vanilla_rnn
      {"direction", "forward"},
      {"src", dense({kSteps, kBatch, 1})},
      {"weights", dense({1, 1, 1, gates, 1})},
      {"weights_iter", dense({1, 1, 1, gates, 1})},
      {"bias", dense({1, 1, bias_gates, 1})},
      {"dst", dense({kSteps, kBatch, 1})},
      {"args", {{"src", 0}, {"weights", 1}, {"weights_iter", 2}, {"bias", 3}, {"dst", 4}}}};
  run(params_of({stage}), buffers);
  expect_near(buffers.back(), expected);
}
INSTANTIATE_TEST_SUITE_P(Cells, Recurrent,
                         testing::Values(RecurrentCase{"lstm", "DynamicRNN", {0, 2, 3, 1}, {}},
                                         RecurrentCase{"gru", "DynamicGRUV2", {0, 1, 2}, {}},
                                         RecurrentCase{
                                             "lbr_gru",
                                             "DynamicGRUV2",
                                             {0, 1, 2},
                                             attrs({{"linear_before_reset", std::int64_t{1}}})},
                                         RecurrentCase{"vanilla_rnn", "CommonRNN", {0}, {}}),
                         testing::PrintToStringParamName());

// ---- stages, constants, residuals ----

json binary_add(std::size_t left, std::size_t right, std::size_t to, std::int64_t count) {
  return {{"primitive", "binary"}, {"algorithm", "binary_add"},
          {"src", dense({count})}, {"src1", dense({count})},
          {"dst", dense({count})}, {"args", {{"src", left}, {"src1", right}, {"dst", to}}}};
}

TEST(OneDnnKernel, RunsStagesOneBehindTheOther) {
  std::vector<Floats> buffers = {{1, 2, 3}, {10, 20, 30}, {0, 0, 0}, {0, 0, 0}};
  run(params_of({binary_add(0, 1, 2, 3), binary_add(2, 1, 3, 3)}), buffers);
  EXPECT_EQ(buffers[3], (Floats{21, 42, 63}));
}

TEST(OneDnnKernel, ReadsAndWritesFromAnOffset) {
  std::vector<Floats> buffers = {{9, 1, 2}, {10, 20}, {-1, 0, 0}};
  json stage = binary_add(0, 1, 2, 2);
  stage["args"]["src"] = {0, sizeof(float)};
  stage["args"]["dst"] = {2, sizeof(float)};
  run(params_of({stage}), buffers);
  EXPECT_EQ(buffers[2], (Floats{-1, 11, 22}));
}

/// Two tensors interleaved in one buffer: the second ends where the buffer does.
TEST(OneDnnKernel, TakesTheLastOfInterleavedTensors) {
  const json every_second = {{"dims", {3, 1}}, {"dtype", "f32"}, {"strides", {2, 1}}};
  json stage = {{"primitive", "reorder"},
                {"src", every_second},
                {"dst", dense({3, 1})},
                {"args", {{"src", {0, sizeof(float)}}, {"dst", 1}}}};
  std::vector<Floats> buffers = {{1, 2, 3, 4, 5, 6}, {0, 0, 0}};
  run(params_of({stage}), buffers);
  EXPECT_EQ(buffers[1], (Floats{2, 4, 6}));
}

json square_product() {
  return {{"primitive", "matmul"},
          {"src", dense({2, 2})},
          {"weights", dense({2, 2})},
          {"dst", dense({2, 2})},
          {"args", {{"src", 0}, {"weights", 1}, {"dst", 3}}}};
}

const json kSum = {{"post_ops", json::array({{{"kind", "sum"}}})}};

TEST(OneDnnKernel, AddsAResidualThatLiesElsewhere) {
  std::vector<Floats> buffers = {{1, 0, 0, 1}, {1, 2, 3, 4}, {10, 20, 30, 40}, {0, 0, 0, 0}};
  json params = params_of({with(square_product(), kSum)});
  params["residual"] = 2;
  run(params, buffers);
  EXPECT_EQ(buffers[3], (Floats{11, 22, 33, 44}));
}

TEST(OneDnnKernel, ProbeTellsTheLayoutThatRepackWrites) {
  const Shape dims = {40, 24};
  json stage = {{"primitive", "matmul"},
                {"src", dense({7, 40})},
                {"weights", {{"dims", dims}, {"dtype", "f32"}, {"tag", "any"}}},
                {"dst", dense({7, 24})}};
  const OneDnnLayout layout = probe(stage, kThreads).value().weights.at("weights");
  const Floats plain = random_floats(element_count(dims), 1);
  Floats packed(layout.size_bytes / sizeof(float)), back(plain.size());
  repack(dense(dims), plain.data(), layout.desc, packed.data());
  repack(layout.desc, packed.data(), dense(dims), back.data());
  EXPECT_EQ(back, plain);
}

TEST(OneDnnKernel, ProbeSaysNoToWhatOneDnnDoesNotHave) {
  json stage = square_product();
  stage["dst"] = dense({2, 3});
  EXPECT_FALSE(probe(stage, kThreads).has_value());
}

// ---- refusals ----

/// create() must throw Error(kOm) that says `why`.
void expect_refused(const json& params, const std::vector<std::size_t>& bytes,
                    const std::string& why) {
  try {
    OneDnnKernel::create(params, kThreads, bytes);
    ADD_FAILURE() << "accepted " << json_text(params);
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ExitCode::kOm);
    EXPECT_NE(std::string(e.what()).find(why), std::string::npos) << e.what();
  }
}

const std::vector<std::size_t> kFourMatrices(4, 4 * sizeof(float));

TEST(OneDnnKernelRefuses, BuffersThatAreTooSmall) {
  for (const std::size_t buffer : {0, 1, 3}) {
    std::vector<std::size_t> bytes = kFourMatrices;
    bytes[buffer] -= 1;
    expect_refused(params_of({square_product()}), bytes, "has 16 bytes, its place 15");
  }
  expect_refused(params_of({square_product()}), {16, 16}, "its place 0");
}

TEST(OneDnnKernelRefuses, OffsetsBeyondTheBuffer) {
  for (const std::uint64_t offset : {std::uint64_t{4}, std::uint64_t{17}, ~std::uint64_t{0}}) {
    json stage = square_product();
    stage["args"]["src"] = {0, offset};
    expect_refused(params_of({stage}), kFourMatrices, "its place");
  }
}

TEST(OneDnnKernelRefuses, AResidualThatIsTooSmall) {
  json params = params_of({with(square_product(), kSum)});
  params["residual"] = 2;
  std::vector<std::size_t> bytes = kFourMatrices;
  bytes[2] = 12;
  expect_refused(params, bytes, "residual");
}

TEST(OneDnnKernelRefuses, MalformedParameters) {
  const auto changed = [](const char* field, const json& value) {
    json stage = square_product();
    stage[field] = value;
    return params_of({stage});
  };
  const json no_stages = {{"residual", 0}};
  expect_refused(no_stages, kFourMatrices, "malformed");
  expect_refused(json::object(), kFourMatrices, "malformed");
  expect_refused(changed("primitive", "telepathy"), kFourMatrices, "unknown oneDNN word");
  expect_refused(changed("primitive", 7), kFourMatrices, "malformed");
  expect_refused(changed("src", 7), kFourMatrices, "malformed");
  expect_refused(changed("src", {{"dims", {2, 2}}, {"dtype", "f32"}, {"tag", "zz"}}), kFourMatrices,
                 "unknown oneDNN word");
  expect_refused(changed("args", {{"telepathy", 0}}), kFourMatrices, "unknown oneDNN argument");
  expect_refused(changed("args", {{"src", -1}}), kFourMatrices, "its place 0");
  expect_refused(changed("dst", dense({2, 3})), kFourMatrices, "cannot make a primitive");
}

/// A stage must name all buffers that its primitive touches.
TEST(OneDnnKernelRefuses, ArgumentsThatAreMissing) {
  for (const char* argument : {"src", "weights", "dst"}) {
    json stage = square_product();
    stage["args"].erase(argument);
    expect_refused(params_of({stage}), kFourMatrices, argument);
  }
}

TEST(OneDnnKernelRefuses, StridesThatLeaveTheBuffer) {
  json stage = square_product();
  stage["src"] = {{"dims", {2, 2}}, {"dtype", "f32"}, {"strides", {3, 1}}};
  expect_refused(params_of({stage}), kFourMatrices, "has 20 bytes, its place 16");
  stage["src"]["strides"] = {-2, 1};
  expect_refused(params_of({stage}), kFourMatrices, "");
}

json product_of_stored(const json& layout) {
  json stage = square_product();
  stage["weights"]["tag"] = "any";
  stage["stored"] = {{"weights", layout}};
  return params_of({stage});
}

/// Of another version, or of hexadecimal descriptors.
TEST(OneDnnKernelRefuses, LayoutsThatAreNone) {
  const auto refused = [](const json& layout, const std::string& why) {
    expect_refused(product_of_stored(layout), kFourMatrices, why);
  };
  refused({{"bytes", "00"}}, "malformed");
  refused({{"dims", {2, 2}}, {"dtype", "f32"}, {"tag", "zz"}}, "unknown oneDNN word");
  refused({{"dims", {2, 2}}, {"dtype", "f32"}, {"tag", "abc"}}, "cannot make a primitive");
  refused({{"dims", {4, 4}}, {"dtype", "f32"}, {"strides", {1, 4}}}, "has 64 bytes, its place 16");
  refused({{"dims", {2, 2}}, {"dtype", "f32"}, {"strides", {1, 2}}}, "is no constant");
  refused({{"dims", {1, 4}}, {"dtype", "f32"}, {"strides", {4, 1}}}, "other dimensions");
  refused({{"dims", {-2, 2}}, {"dtype", "f32"}, {"strides", {1, 2}}}, "");
}

TEST(OneDnnKernel, CopiesStoredWeightsIntoTheLayoutThatItWants) {
  const Floats matrix = {1, 2, 3, 4};
  const json plain = dense({2, 2});
  const json transposed = {{"dims", {2, 2}}, {"dtype", "f32"}, {"strides", {1, 2}}};
  json blocked = {{"dims", {2, 2}}, {"dtype", "f32"}, {"tag", "BA16a16b"}};
  for (const auto& [layout, expected] :
       {std::pair{plain, matrix}, std::pair{transposed, Floats{1, 3, 2, 4}}}) {
    std::vector<Floats> buffers = {{1, 0, 0, 1}, matrix, {}, Floats(4)};
    run(product_of_stored(layout), buffers);
    EXPECT_EQ(buffers[3], expected) << json_text(layout);
  }
  Floats packed(16 * 16);
  repack(plain, matrix.data(), blocked, packed.data());
  std::vector<Floats> buffers = {{1, 0, 0, 1}, packed, {}, Floats(4)};
  run(product_of_stored(blocked), buffers);
  EXPECT_EQ(buffers[3], matrix);
}

}  // namespace
}  // namespace aoe::runtime
