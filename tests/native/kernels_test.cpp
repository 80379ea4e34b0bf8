// Every native kernel against the reference: random calls, on one to four threads, in oms that know the shapes of results
// and in oms that do not.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <thread>
#include <tuple>

#include "base/error.h"
#include "base/json_text.h"
#include "base/random_tensor.h"
#include "native/kernel.h"
#include "native/lines/fourier_transform.h"
#include "native/scratch.h"
#include "reference/precision_attrs.h"
#include "reference/tensors/widen.h"
#include "runtime/executor.h"
#include "tests/compiler/guarded_buffer.h"
#include "tests/native/random_calls.h"
#include "tests/runtime/om_builder.h"

namespace aoe::native {
namespace {

using compiler::GuardedBuffer;
using runtime::tests::OmBuilder;

constexpr unsigned kCalls = 120;  ///< of each kernel

std::vector<Tensor> views_of(const RandomCall& drawn) {
  std::vector<Tensor> views;
  for (const ConstantPtr& input : drawn.inputs) views.push_back(input ? input->view() : Tensor{});
  return views;
}

/// What the reference says.
std::vector<std::shared_ptr<Constant>> expected_of(const RandomCall& drawn) {
  const std::vector<Tensor> inputs = views_of(drawn);
  std::vector<std::shared_ptr<Constant>> values;
  std::vector<Tensor> outputs;
  for (const TensorDesc& desc : reference::infer(drawn.call, inputs, drawn.outputs)) {
    values.push_back(std::make_shared<Constant>(desc));
    outputs.push_back({desc, values.back()->mutable_data()});
  }
  reference::run(drawn.call, inputs, outputs);
  return values;
}

/// Shapes of results that only a run can tell.
std::vector<TensorDesc> unknown(std::vector<TensorDesc> descs) {
  for (TensorDesc& desc : descs) std::ranges::fill(desc.shape, kUnknownDim);
  return descs;
}

constexpr std::size_t kNone = 100;  ///< more than there are inputs

/// One native step, whose inputs from number `weights` on are weights.
runtime::Om om_of(const RandomCall& drawn, const std::vector<TensorDesc>& results,
                  std::size_t weights = kNone) {
  OmBuilder builder;
  std::vector<int> inputs, outputs;
  for (std::size_t i = 0; i < drawn.inputs.size(); ++i) {
    const std::string name = "in" + std::to_string(i);
    const ConstantPtr& value = drawn.inputs[i];
    if (!value) {
      inputs.push_back(-1);
    } else if (i < weights) {
      inputs.push_back(builder.input(name, value->desc()));
    } else {
      const auto* const bytes = static_cast<const char*>(value->data());
      inputs.push_back(builder.weight(
          name, value->desc(), std::vector<char>(bytes, bytes + storage_bytes(value->desc()))));
    }
  }
  for (std::size_t i = 0; i < results.size(); ++i) {
    const std::string name = "out" + std::to_string(i);
    outputs.push_back(is_static(results[i].shape) ? builder.output(name, results[i])
                                                  : builder.dynamic_output(name, results[i]));
  }
  runtime::OmStep& step =
      builder.reference(drawn.call.type, inputs, outputs, drawn.call.attrs, drawn.call.version);
  step.call = drawn.call;  // with a body
  step.backend = &runtime::backend("native");
  return builder.om;
}

void expect_same(const Tensor& got, const Tensor& want, double tolerance) {
  ASSERT_EQ(to_string(got.desc), to_string(want.desc));
  const std::size_t bytes = storage_bytes(want.desc);
  if (tolerance == 0 && bytes > 0) {
    ASSERT_EQ(std::memcmp(got.data, want.data, bytes), 0);
    return;
  }
  const std::vector<double> a = reference::to_doubles(got), b = reference::to_doubles(want);
  double largest = 1;
  for (const double value : b)
    if (std::isfinite(value)) largest = std::max(largest, std::fabs(value));
  for (std::size_t i = 0; i < a.size(); ++i)
    ASSERT_TRUE(a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i])) ||
                std::fabs(a[i] - b[i]) <= tolerance * largest)
        << "element " << i << ": " << a[i] << ", expected " << b[i];
}

/// Memory that ends at a page which nobody may touch.
class Guarded {
 public:
  Tensor copy_of(const Tensor& from) {
    const Tensor to = of(from.desc);
    if (const std::size_t bytes = storage_bytes(from.desc); bytes > 0)
      std::memcpy(to.data, from.data, bytes);
    return to;
  }
  Tensor of(const TensorDesc& desc) {
    buffers_.push_back(std::make_unique<GuardedBuffer>(storage_bytes(desc)));
    std::memset(buffers_.back()->as<void>(), 0x55, buffers_.back()->size_bytes());
    return {desc, buffers_.back()->as<void>()};
  }

 private:
  std::vector<std::unique_ptr<GuardedBuffer>> buffers_;
};

void check(const RandomCall& drawn, int threads, bool knows_shapes, bool has_weights = false) {
  const auto expected = expected_of(drawn);
  std::vector<TensorDesc> results;
  for (const auto& value : expected) results.push_back(value->desc());
  const std::size_t weights = has_weights ? 1 : kNone;
  const runtime::Om om = om_of(drawn, knows_shapes ? results : unknown(results), weights);
  runtime::Executor executor(om, {.threads = threads});
  // What is kept of a run serves the next.
  for (int run = 0; run < (has_weights || !knows_shapes ? 2 : 1); ++run) {
    SCOPED_TRACE("run " + std::to_string(run));
    Guarded memory;
    std::vector<Tensor> inputs, outputs;
    for (std::size_t i = 0; i < std::min(weights, drawn.inputs.size()); ++i)
      if (drawn.inputs[i]) inputs.push_back(memory.copy_of(drawn.inputs[i]->view()));
    for (std::size_t i = 0; i < results.size(); ++i) {
      const bool is_given = is_static(executor.output(i).desc.shape);
      outputs.push_back(is_given ? memory.of(results[i])
                                 : Tensor{executor.output(i).desc, nullptr});
    }
    executor.run(inputs, outputs);
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      SCOPED_TRACE("output " + std::to_string(i));
      expect_same(outputs[i], expected[i]->view(), drawn.tolerance);
    }
  }
}

std::string text_of(const RandomCall& drawn) {
  std::string text = json_text(reference::to_json(drawn.call));
  for (const ConstantPtr& input : drawn.inputs)
    text += " " + (input ? to_string(input->desc()) : std::string("-"));
  return text;
}

class Kernels : public testing::TestWithParam<std::string> {};

TEST_P(Kernels, AgreeWithTheReference) {
  for (unsigned seed = 1; seed <= kCalls; ++seed) {
    const RandomCall drawn = draw_call(GetParam(), seed);
    SCOPED_TRACE("seed " + std::to_string(seed) + " " + text_of(drawn));
    std::vector<TensorDesc> descs;
    for (const Tensor& input : views_of(drawn)) descs.push_back(input.desc);
    const auto kernel = kernel_for({drawn.call, descs, drawn.outputs});
    ASSERT_TRUE(kernel) << kernel.error();
    check(drawn, 1 + static_cast<int>(seed % 4), seed % 3 != 0, seed % 5 == 0);
    if (HasFatalFailure()) return;
  }
}
INSTANTIATE_TEST_SUITE_P(Drawn, Kernels, testing::ValuesIn(drawn_types()),
                         [](const auto& each) { return each.param; });

ConstantPtr numbers(const std::vector<std::int64_t>& values) {
  const TensorDesc desc{.dtype = DataType::kInt64, .shape = {std::ssize(values)}};
  return std::make_shared<Constant>(desc, values.data());
}

RandomCall sparse_call(const reference::OpCall& call, const Shape& x,
                       std::vector<ConstantPtr> parameters = {}) {
  RandomCall drawn{.call = call, .inputs = std::move(parameters)};
  const TensorDesc desc{.dtype = DataType::kFloat, .shape = x};
  drawn.inputs.insert(drawn.inputs.begin(), std::make_shared<Constant>(desc));
  return drawn;
}

/// Sums around fewer products are off by 3 to 5 millionths of the largest here.
TEST(Kernels, AConvolutionOfHighPrecisionHasPlainSums) {
  RandomCall drawn{.call = {.type = "Conv2D", .version = 1}, .tolerance = 1e-6};
  drawn.call.attrs.set(reference::kHighPrecision, std::int64_t{1});
  for (const Shape& shape : {Shape{1, 64, 24, 24}, Shape{64, 64, 3, 3}})
    drawn.inputs.push_back(
        random_tensor({.dtype = DataType::kFloat, .shape = shape}, drawn.inputs.size()));
  check(drawn, 1, true);
}

/// Of float32 by float32: as long as lanes add up, longer, and of numbers whose sums on the way are more than it holds.
TEST(Kernels, LinesThatFollowEachOtherAreSummedAsByTheReference) {
  for (const char* const type : {"ReduceSum", "ReduceMean"})
    for (const std::int64_t length : {33, 49, 64, 2048, 5000}) {
      RandomCall drawn{.call = {.type = type, .version = 18}, .tolerance = 1e-6};
      for (const float largest : {1.0F, 3e38F}) {
        const auto x =
            std::make_shared<Constant>(TensorDesc{.dtype = DataType::kFloat, .shape = {7, length}});
        for (std::int64_t i = 0; i < 7 * length; ++i)
          static_cast<float*>(x->mutable_data())[i] =
              i % length / 40 % 2 == 0 ? largest : -largest / static_cast<float>(1 + i % 3);
        const auto axis =
            std::make_shared<Constant>(TensorDesc{.dtype = DataType::kInt64, .shape = {1}});
        *static_cast<std::int64_t*>(axis->mutable_data()) = 1;
        drawn.inputs = {x, axis};
        SCOPED_TRACE(text_of(drawn) + (largest > 1 ? " large" : ""));
        check(drawn, 1, true);
      }
    }
}

RandomCall product_call(const std::string& type, DataType dtype, const Shape& x,
                        const Shape& weights) {
  RandomCall drawn{.call = {.type = type, .version = 10}, .tolerance = 1e-5};
  for (const Shape& shape : {x, weights})
    drawn.inputs.push_back(random_tensor({.dtype = dtype, .shape = shape}, drawn.inputs.size()));
  return drawn;
}

RandomCall image_call(const std::string& type, DataType dtype) {
  return product_call(type, dtype, {1, 64, 16, 16}, {64, 64, 3, 3});
}

RandomCall matrix_call(const std::string& type, std::int64_t rows) {
  return product_call(type, DataType::kFloat, {rows, 30}, {30, 140});
}

/// So many that threads share them; whole vectors are read and written.
TEST(Kernels, StacksOfSmallProductsAgree) {
  for (const DataType type : {DataType::kFloat, DataType::kDouble})
    for (const auto& [left, right] : {std::pair{Shape{4000, 3, 3}, Shape{4000, 3, 3}},
                                      {Shape{4000, 4, 4}, Shape{4000, 4, 1}},
                                      {Shape{2, 3}, Shape{9000, 3, 2}},
                                      {Shape{60, 1, 5, 7}, Shape{40, 7, 8}},
                                      {Shape{2, 8, 9}, Shape{2, 9, 7}},
                                      {Shape{3, 900, 0}, Shape{3, 0, 8}},
                                      {Shape{3, 0, 700}, Shape{3, 700, 8}}})
      for (const int threads : {1, 3})
        check(product_call("MatMulV2", type, left, right), threads, true);
}

TEST(Kernels, TransposedConvolutionsOfNoPlacesAgree) {
  for (const std::int64_t window : {1, 3, 40}) {
    RandomCall drawn{.call = {.type = "Conv2DTranspose", .version = 11}};
    for (const Shape& shape : {Shape{2, 3, 0}, Shape{3, 5, window}, Shape{5}})
      drawn.inputs.push_back(
          random_tensor({.dtype = DataType::kFloat, .shape = shape}, drawn.inputs.size()));
    check(drawn, 1, true);
  }
}

/// Windows so wide that rows of taps read nothing but padding, for some outputs; of more channels than are read at once.
TEST(Kernels, ConvolutionsOfWideDilationsAgree) {
  RandomCall drawn = product_call("Conv2D", DataType::kFloat, {2, 40, 19, 17}, {26, 40, 3, 3});
  drawn.call.attrs.set("pads", std::vector<std::int64_t>{9, 9, 9, 9});
  drawn.call.attrs.set("dilations", std::vector<std::int64_t>{9, 9});
  for (const int threads : {1, 3})
    for (const bool has_weights : {false, true}) check(drawn, threads, true, has_weights);
}

/// Of few places these are rows, of more they read quads of channels; in groups, with borders and zero points for each channel.
TEST(Kernels, ConvolutionsOfBytesOfManyChannelsAgree) {
  for (const auto& [x, w, width] : {std::tuple{DataType::kUint8, DataType::kInt8, 9},
                                    {DataType::kInt8, DataType::kUint8, 9},
                                    {DataType::kUint8, DataType::kInt8, 43},
                                    {DataType::kInt8, DataType::kUint8, 43}}) {
    RandomCall drawn{.call = {.type = "ConvInteger", .version = 10}};
    drawn.call.attrs.set("group", std::int64_t{2});
    drawn.call.attrs.set("pads", std::vector<std::int64_t>{1, 0, 2, 1});
    drawn.call.attrs.set("strides", std::vector<std::int64_t>{1, 2});
    drawn.call.attrs.set("dilations", std::vector<std::int64_t>{2, 1});
    for (const auto& [dtype, shape] :
         {std::pair{x, Shape{2, 116, 11, width}}, std::pair{w, Shape{140, 58, 3, 3}},
          std::pair{x, Shape{}}, std::pair{w, Shape{140}}})
      drawn.inputs.push_back(random_tensor({.dtype = dtype, .shape = shape}, drawn.inputs.size()));
    for (int threads : {1, 3}) check(drawn, threads, true, true);
  }
}

/// Nobody looks at them in the second run.
TEST(Kernels, MakeWhatTheyMakeOfWeightsOnce) {
  std::vector<RandomCall> calls = {image_call("ConvInteger", DataType::kUint8),
                                   image_call("Conv2D", DataType::kFloat),
                                   image_call("Conv2DTranspose", DataType::kFloat),
                                   matrix_call("MatMulV2", 20), matrix_call("Gemm", 3)};
  for (const char* type : {"MatMulInteger", "QuantMatMul", "QuantConv2D", "DynamicRNN"})
    calls.push_back(draw_call(type, 1));
  for (const RandomCall& drawn : calls) {
    SCOPED_TRACE(text_of(drawn));
    const auto expected = expected_of(drawn);
    std::vector<TensorDesc> results;
    for (const auto& value : expected) results.push_back(value->desc());
    runtime::Executor executor(om_of(drawn, results, 1), {.threads = 2});
    const runtime::Om& om = executor.om();
    char* const weights = const_cast<char*>(om.weights_view.data()) + om.tensors[1].offset;
    for (int run = 0; run < 2; ++run) {
      Guarded memory;
      std::vector<Tensor> outputs;
      for (const TensorDesc& result : results) outputs.push_back(memory.of(result));
      const Tensor inputs[] = {drawn.inputs[0]->view()};
      executor.run(inputs, outputs);
      expect_same(outputs[0], expected[0]->view(), drawn.tolerance);
      std::memset(weights, 0, drawn.inputs[1]->size_bytes());
    }
  }
}

/// Threads share the channels of a small image: the last of them, fewer than a vector, with those in front of them.
TEST(Kernels, ThreadsShareTheChannelsOfTiles) {
  RandomCall drawn{.call = {.type = "NhwcConv2D"}, .tolerance = 8e-5};
  drawn.inputs = {random_tensor({.dtype = DataType::kFloat, .shape = {1, 14, 14, 64}}, 1),
                  random_tensor({.dtype = DataType::kFloat, .shape = {72, 64, 3, 3}}, 2)};
  for (const int threads : {2, 3, 4}) check(drawn, threads, true, true);
}

/// Large ones have other weights than small ones (tiled_channels.h), from one run to the next.
TEST(Kernels, ImagesOfAllSizesTakeTurns) {
  const TensorDesc open{.dtype = DataType::kFloat, .shape = {1, kUnknownDim, kUnknownDim, 32}};
  const ConstantPtr weights =
      random_tensor({.dtype = DataType::kFloat, .shape = {32, 32, 3, 3}}, 1);
  RandomCall drawn{.call = {.type = "NhwcConv2D"}, .tolerance = 8e-5};
  OmBuilder builder;
  const auto* const bytes = static_cast<const char*>(weights->data());
  const int x = builder.input("x", open);
  const int w =
      builder.weight("w", weights->desc(), std::vector<char>(bytes, bytes + weights->size_bytes()));
  runtime::OmStep& step =
      builder.reference(drawn.call.type, {x, w}, {builder.dynamic_output("y", open)});
  step.backend = &runtime::backend("native");
  runtime::Executor executor(builder.om, {.threads = 2});
  for (const std::int64_t size : {40, 3, 40, 4, 3}) {
    SCOPED_TRACE(size);
    drawn.inputs = {random_tensor({.dtype = DataType::kFloat, .shape = {1, size, size, 32}}, 2),
                    weights};
    const Tensor inputs[] = {drawn.inputs[0]->view()};
    Tensor outputs[] = {{open, nullptr}};
    executor.run(inputs, outputs);
    expect_same(outputs[0], expected_of(drawn)[0]->view(), drawn.tolerance);
  }
}

/// Nor for padding around next to nothing.
TEST(Kernels, TakeNoMemoryForDimensionsBesideOneOfZero) {
  constexpr std::int64_t kHuge = std::int64_t{1} << 40, kFar = (std::int64_t{1} << 31) - 1;
  std::vector<RandomCall> calls = {
      sparse_call({.type = "PadV3", .version = 11}, {0, 3}, {numbers({0, kHuge, 0, 0})}),
      sparse_call({.type = "Resize", .version = 13}, {0, 3}, {{}, {}, numbers({0, kHuge})}),
      sparse_call({.type = "TopKV2", .version = 10}, {0, kHuge}, {numbers({2})}),
      sparse_call({.type = "Unique"}, {0, kHuge}),
      sparse_call({.type = "Conv2D"}, {1, 1, 1, 1, 0}, {numbers({})})};
  calls[2].outputs = 2;
  calls[3].call.attrs.set("axis", std::int64_t{1});
  const TensorDesc weight{.dtype = DataType::kFloat, .shape = {1, 1, 1, 1, 2}};
  calls[4].inputs[1] = std::make_shared<Constant>(weight);
  calls[4].call.attrs.set("pads", std::vector<std::int64_t>{0, 0, kFar, 0, 0, 5});
  calls[4].call.attrs.set("dilations", std::vector<std::int64_t>{1, 1, kFar});
  for (const RandomCall& call : calls) {
    SCOPED_TRACE(text_of(call));
    for (const bool knows_shapes : {false, true}) check(call, 2, knows_shapes);
  }
}

TEST(FourierTransform, OfALengthIsKeptForTheNextRun) {
  const auto first = fourier_transform(400);
  EXPECT_EQ(fourier_transform(400), first);
  for (std::int64_t length = 100'000; length < 100'003; ++length)  // more than is kept
    EXPECT_EQ(fourier_transform(length)->length(), length);
  EXPECT_NE(fourier_transform(400), first);
  EXPECT_EQ(first->length(), 400);
}

/// Of a thread that has none yet.
void check_kept_scratch() {
  constexpr std::size_t kBytes = std::size_t{1} << 20;
  const auto place = [](std::size_t bytes) {
    const Scratch scratch(bytes);
    std::memset(scratch.as<char>(), 1, bytes);
    return reinterpret_cast<std::uintptr_t>(scratch.as<char>());
  };
  const std::uintptr_t first = place(kBytes);
  EXPECT_EQ(first % 64, 0U);
  EXPECT_EQ(place(kBytes), first);
  EXPECT_EQ(place(kBytes / 2), first);
  {
    const Scratch used(kBytes);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(used.as<char>()), first);
    EXPECT_NE(place(kBytes), first);
  }
  for (std::size_t i = 0; i < 100; ++i) const Scratch larger(i * kBytes / 2);
}

TEST(Scratch, IsKeptForTheNextRunUpToSomeMegabytes) {
  std::thread(check_kept_scratch).join();
}

TEST(KernelRegistry, EveryKernelIsDrawn) {
  const std::vector<std::string> drawn = drawn_types();
  for (const Kernel& kernel : kernels().all())
    EXPECT_TRUE(std::ranges::count(drawn, kernel.type) == 1 || kernel.type == "Upsample")
        << kernel.type;
}

/// What is thrown on any thread reaches the caller, who learns which step it was.
TEST(NativeBackend, NamesTheStepThatRefusesItsValues) {
  RandomCall drawn{.call = {.type = "GatherV2"}};
  const auto data = std::make_shared<Constant>(TensorDesc{.dtype = DataType::kInt64, .shape = {4}});
  const auto index =
      std::make_shared<Constant>(TensorDesc{.dtype = DataType::kInt64, .shape = {1}});
  std::memset(data->mutable_data(), 0, data->size_bytes());
  *static_cast<std::int64_t*>(index->mutable_data()) = 4;
  drawn.inputs = {data, index};
  runtime::Executor executor(om_of(drawn, {index->desc()}), {.threads = 2});
  Guarded memory;
  std::vector<Tensor> outputs = {memory.of(index->desc())};
  try {
    executor.run(views_of(drawn), outputs);
    FAIL() << "index 4 of 4 elements";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ExitCode::kFailure);
    EXPECT_NE(e.where().find("step0_GatherV2"), std::string::npos) << e.where();
    EXPECT_NE(std::string(e.what()).find("index 4"), std::string::npos) << e.what();
  }
}

/// As many as channels, or one: a model may say otherwise.
TEST(NativeBackend, RefusesZeroPointsThatAreTooFew) {
  const auto bytes = [](const Shape& shape) {
    return std::make_shared<Constant>(TensorDesc{.dtype = DataType::kUint8, .shape = shape});
  };
  const TensorDesc result{.dtype = DataType::kInt32, .shape = {1, 4, 5, 5}};
  for (const std::int64_t zeros : {0, 3}) {
    RandomCall drawn{.call = {.type = "ConvInteger", .version = 10}};
    drawn.inputs = {bytes({1, 2, 5, 5}), bytes({4, 2, 1, 1}), bytes({}), bytes({zeros})};
    runtime::Executor executor(om_of(drawn, {result}), {.threads = 2});
    Guarded memory;
    std::vector<Tensor> outputs = {memory.of(result)};
    EXPECT_THROW(executor.run(views_of(drawn), outputs), Error) << zeros;
  }
}

TEST(NativeBackend, RefusesOmsThatContradictThemselves) {
  RandomCall drawn = draw_call("TopKV2", 1);
  const auto expected = expected_of(drawn);
  TensorDesc values = expected[0]->desc(), wrong = expected[1]->desc();
  wrong.dtype = DataType::kFloat;
  EXPECT_THROW(runtime::Executor(om_of(drawn, {values, wrong}), {.threads = 1}), Error);
  drawn.call.type = "ConcatV2";
  EXPECT_THROW(runtime::Executor(om_of(drawn, {values}), {.threads = 1}), Error);
}

/// What only changes its shape lies where it lay; what the caller gets does not.
TEST(NativeBackend, CopiesReshapedElementsOnlyForTheCaller) {
  const TensorDesc desc{.dtype = DataType::kFloat, .shape = {2, 6}};
  OmBuilder builder;
  const int x = builder.input("x", desc);
  const int rows = builder.input("rows", {.dtype = DataType::kInt64, .shape = {2}});
  const int y = builder.dynamic("y", {.dtype = DataType::kFloat, .shape = {-1, -1}});
  const int z = builder.dynamic_output("z", {.dtype = DataType::kFloat, .shape = {-1}});
  const int flat = builder.weight<std::int64_t>("flat", {.dtype = DataType::kInt64, .shape = {1}},
                                                std::vector<std::int64_t>{-1});
  for (const auto& [inputs, output] :
       {std::pair{std::vector{x, rows}, y}, std::pair{std::vector{y, flat}, z}})
    builder.reference("Reshape", inputs, {output}).backend = &runtime::backend("native");
  runtime::Executor executor(builder.om, {.threads = 1});
  std::vector<float> values(12);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  std::vector<std::int64_t> shape = {4, 3};
  const Tensor inputs[] = {{desc, values.data()},
                           {{.dtype = DataType::kInt64, .shape = {2}}, shape.data()}};
  Tensor outputs[] = {{{.dtype = DataType::kFloat, .shape = {-1}}, nullptr}};
  executor.run(inputs, outputs);
  ASSERT_EQ(outputs[0].desc.shape, Shape{12});
  EXPECT_NE(outputs[0].data, values.data());
  std::ranges::fill(values, -1.0f);
  for (std::int64_t i = 0; i < 12; ++i) EXPECT_EQ(outputs[0].as<float>()[i], static_cast<float>(i));
}

/// So many that threads share them.
TEST(Random, WithASeedNumbersAreTheReferencesHoweverManyThreadsMakeThem) {
  for (const char* const type : {"RandomNormal", "RandomUniform"}) {
    RandomCall drawn{.call = {.type = type}, .tolerance = 2e-7};
    drawn.call.attrs.set("shape", std::vector<std::int64_t>{300, 1001});
    drawn.call.attrs.set("seed", 5.0f);
    for (const int threads : {1, 3}) check(drawn, threads, true);
  }
}

TEST(Random, WithoutASeedNumbersDifferAndAreSpreadAsAsked) {
  RandomCall drawn{.call = {.type = "RandomNormal"}};
  drawn.call.attrs.set("shape", std::vector<std::int64_t>{100, 1000});
  drawn.call.attrs.set("mean", 3.0f);
  drawn.call.attrs.set("scale", 2.0f);
  const TensorDesc desc{.dtype = DataType::kFloat, .shape = {100, 1000}};
  runtime::Executor executor(om_of(drawn, {desc}), {.threads = 3});
  std::vector<std::vector<double>> runs;
  for (int run = 0; run < 2; ++run) {
    Guarded memory;
    std::vector<Tensor> outputs = {memory.of(desc)};
    executor.run({}, outputs);
    runs.push_back(reference::to_doubles(outputs[0]));
  }
  EXPECT_NE(runs[0], runs[1]);
  double sum = 0, squares = 0;
  for (const double value : runs[0]) sum += value, squares += value * value;
  const auto count = static_cast<double>(runs[0].size());
  const double mean = sum / count, deviation = std::sqrt(squares / count - mean * mean);
  EXPECT_NEAR(mean, 3.0, 0.1);  // 15 standard errors
  EXPECT_NEAR(deviation, 2.0, 0.1);
  // Of numbers within one, two and four deviations, so many are expected.
  const auto share_within = [&](double distance) {
    const auto is_within = [&](double value) { return std::fabs(value - 3) < 2 * distance; };
    return static_cast<double>(std::ranges::count_if(runs[0], is_within)) / count;
  };
  EXPECT_NEAR(share_within(1), 0.6827, 0.02);
  EXPECT_NEAR(share_within(2), 0.9545, 0.01);
  EXPECT_NEAR(share_within(4), 0.99994, 0.0005);
  EXPECT_LT(share_within(3.7), 1);  // the tail is there
}

}  // namespace
}  // namespace aoe::native
