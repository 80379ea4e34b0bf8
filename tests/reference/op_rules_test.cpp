// The signatures of operators: complete, and what they and the InferFns refuse.
#include "reference/op_rules.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "tests/reference/op_runner.h"

namespace aoe::reference {
namespace {

using Ints = std::vector<std::int64_t>;

TEST(OpRules, AreStatedByEveryOperatorOfOnnx) {
  for (const OpDef* def : ops().all()) {
    EXPECT_TRUE(def->onnx_type.empty() || def->signature.inputs != OpSignature().inputs)
        << def->type;
  }
}

TEST(OpRules, KnowWhichAttributesAnOperatorHas) {
  EXPECT_TRUE(has_attribute("Gemm", "transA"));
  EXPECT_TRUE(has_attribute("Multinomial", "sample_size"));
  EXPECT_FALSE(has_attribute("Relu", "transA"));
  EXPECT_FALSE(has_attribute("Nothing", "axis"));
}

struct Refused {
  const char* name;
  OpCall call;
  std::vector<TensorDesc> inputs;
  const char* words;  ///< of the message
};

OpCall call_of(const std::string& type, std::map<std::string, Attr> attrs = {}) {
  OpCall made{.type = type, .version = ops().find(type)->versions.back()};
  for (auto& [name, value] : attrs) made.attrs.set(name, value);
  return made;
}

OpCall old_call(const std::string& type) {
  return {.type = type, .version = 1};
}

TensorDesc of(DataType dtype, const Shape& shape) {
  return {.dtype = dtype, .shape = shape};
}
TensorDesc f(const Shape& shape) {
  return of(DataType::kFloat, shape);
}

TEST(OpRules, RefuseWhatOnnxDoesNotKnow) {
  const std::int64_t two_to_32 = std::int64_t{1} << 32;
  const DataType i64 = DataType::kInt64;
  const std::vector<Refused> cases = {
      {"a size of -2",
       call_of("LRN", {{"size", std::int64_t{-2}}}),
       {f({1, 3, 4, 4})},
       "'size' is -2"},
      {"axes that are an input before they were one",
       old_call("ReduceSum"),
       {f({2, 3}), of(i64, {1})},
       "has an input 1, which there is since opset 13"},
      {"a bound that is an input before it was one",
       old_call("ClipByValue"),
       {f({2, 3}), {}, f({})},
       "has an input 2, which there is since opset 11"},
      {"no size", call_of("LRN"), {f({1, 3, 4, 4})}, "'size' is missing"},
      {"a huge block",
       call_of("DepthToSpace", {{"blocksize", two_to_32}}),
       {f({1, 4, 2, 2})},
       "'blocksize' is 4294967296"},
      {"a kernel of 0",
       call_of("MaxPoolV3", {{"kernel_shape", Ints{0, 2}}}),
       {f({1, 3, 4, 4})},
       "'kernel_shape' is 0"},
      {"negative pads",
       call_of("Conv2D", {{"pads", Ints{0, 0, -1, 0}}}),
       {f({1, 3, 4, 4}), f({2, 3, 3, 3})},
       "'pads' is -1"},
      {"a kernel_shape unlike the weights",
       call_of("Conv2D", {{"kernel_shape", Ints{5, 5}}}),
       {f({1, 3, 8, 8}), f({2, 3, 3, 3})},
       "attribute 'kernel_shape' has shape 5x5, needs 3x3"},
      {"weights of another rank",
       call_of("Conv2D"),
       {f({1, 3, 8, 8}), f({2, 3, 3})},
       "1-dimensional kernel"},
      {"a stride of 0",
       call_of("AvgPoolV2", {{"kernel_shape", Ints{2, 2}}, {"strides", Ints{0, 1}}}),
       {f({1, 3, 4, 4})},
       "'strides' is 0"},
      {"another axis",
       call_of("SoftmaxV2", {{"axis", std::int64_t{1000}}}),
       {f({2, 3})},
       "axis 1000"},
      {"starts of type double",
       call_of("Slice"),
       {f({4}), of(DataType::kDouble, {1}), of(i64, {1})},
       "input 1 is float64 1, needs int32 or int64"},
      {"a group of 0",
       call_of("Conv2D", {{"group", std::int64_t{0}}}),
       {f({1, 3, 4, 4}), f({2, 3, 3, 3})},
       "'group' is 0"},
      {"an unknown auto_pad",
       call_of("Conv2D", {{"auto_pad", std::string("SAME")}}),
       {f({1, 3, 4, 4}), f({2, 3, 3, 3})},
       "needs one of NOTSET, VALID, SAME_UPPER, SAME_LOWER"},
      {"an attribute of another kind",
       call_of("SoftmaxV2", {{"axis", 1.0f}}),
       {f({2, 3})},
       "attribute 'axis' is of kind float"},
      {"types that differ", call_of("MatMulV2"), {f({2, 2}), of(i64, {2, 2})}, "needs float32"},
      {"bool in arithmetic",
       call_of("Add"),
       {of(DataType::kBool, {2}), of(DataType::kBool, {2})},
       "needs numbers"},
      {"too many inputs", call_of("Relu"), {f({2}), f({2})}, "has 2 inputs, takes at most 1"},
      {"rank 3 in Gemm", call_of("Gemm"), {f({1, 2, 2}), f({2, 2})}, "needs a rank of 2"},
      {"no groups",
       call_of("GroupNorm", {{"num_groups", std::int64_t{3}}}),
       {f({1, 4, 2}), f({4}), f({4})},
       "4 channels do not divide into 3 groups"},
      {"a scale of another size",
       call_of("InstanceNorm"),
       {f({1, 4, 2}), f({3}), f({4})},
       "the scale has shape 3, needs 4"},
      {"indices of another batch",
       call_of("GatherNd", {{"batch_dims", std::int64_t{1}}}),
       {f({2, 3}), of(i64, {3, 1})},
       "the batch of the indices has shape 3, needs 2"},
      {"indices without coordinates",
       call_of("GatherNd"),
       {f({2, 3}), of(i64, {3, 0})},
       "choose along no axis"},
      {"labels of another shape",
       call_of("NLLLoss"),
       {f({3, 5, 2}), of(i64, {3, 7})},
       "the tensor of labels has shape 3x7, needs 3x2"},
      {"a grid for another batch",
       call_of("GridSample"),
       {f({2, 1, 4, 4}), f({3, 2, 2, 2})},
       "a batch of 2 with a grid of 3"},
      {"no pixels", call_of("GridSample"), {f({1, 1, 0, 4}), f({1, 2, 2, 2})}, "has no pixels"},
      {"boxes of another batch",
       call_of("NonMaxSuppressionV7"),
       {f({1, 6, 4}), f({2, 1, 6})},
       "boxes 1x6x4 with scores 2x1x6"},
      {"negative scale",
       call_of("RandomNormal", {{"shape", Ints{2}}, {"scale", -1.0f}}),
       {},
       "needs at least 0"},
      {"a negative dimension", call_of("RandomNormal", {{"shape", Ints{-5}}}), {}, "'shape' is -5"},
      {"activations of nobody",
       call_of("CommonRNN", {{"activations", std::vector<std::string>{"Nothing"}}}),
       {f({2, 1, 3}), f({1, 4, 3}), f({1, 4, 4})},
       "activation \"nothing\" is unknown"},
      {"hidden_size unlike R",
       call_of("CommonRNN", {{"hidden_size", std::int64_t{7}}}),
       {f({2, 1, 3}), f({1, 4, 3}), f({1, 4, 4})},
       "contradicts R"},
      {"labels twice in the output",
       call_of("Einsum", {{"equation", std::string("ij->ii")}}),
       {f({2, 2})},
       "each once"},
      {"scales for no axis",
       call_of("Dequantize", {{"axis", std::int64_t{0}}}),
       {of(DataType::kInt8, {4, 2}), f({3})},
       "has shape 3, needs 4"},
      {"quantised to float",
       call_of("Quantize", {{"output_dtype", std::int64_t{1}}}),
       {f({2}), f({})},
       "quantised type is float32"},
      {"parts as axis",
       {.type = "DFT", .version = 17},
       {f({4, 1})},
       "the axis is the one that holds the parts"},
      {"2^48 bytes",
       call_of("FlattenV2"),
       {f({1 << 20, 1 << 20, 1 << 20})},
       "is larger than 2^48 bytes"},
  };
  for (const Refused& c : cases) {
    std::vector<Tensor> inputs;
    for (const TensorDesc& desc : c.inputs) inputs.push_back({desc, nullptr});
    try {
      infer(c.call, inputs, 1);
      ADD_FAILURE() << c.name << " is taken";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::kModel) << c.name;
      EXPECT_NE(std::string(error.what()).find(c.words), std::string::npos)
          << c.name << ": " << error.what();
    }
  }
}

TEST(OpRules, RefuseValuesThatNoShapeHas) {
  struct Case {
    const char* name;
    OpCall call;
    std::vector<ConstantPtr> inputs;
    const char* words;
  };
  const double huge = 0x1p62;
  const std::vector<Case> cases = {
      {"pads that wrap", call_of("PadV3"), {floats({2}, {1, 2}), ints({2}, {huge, huge})}, "2^48"},
      {"repeats that wrap",
       call_of("Tile"),
       {floats({2, 2}, {1, 2, 3, 4}), ints({2}, {0x1p40, 0x1p40})},
       "2^48"},
      {"a negative repeat",
       call_of("Tile"),
       {floats({2}, {1, 2}), ints({1}, {-1})},
       "repeats hold -1"},
      {"a negative size",
       call_of("SplitV"),
       {floats({2}, {1, 2}), ints({1}, {-1})},
       "sizes hold -1"},
      {"a range to nowhere",
       call_of("Range"),
       {floats({}, {0}), floats({}, {1e30}), floats({}, {1})},
       "the range has"},
      {"sizes of nothing",
       call_of("Resize"),
       {floats({0}, {}), nullptr, nullptr, ints({1}, {4})},
       "cannot be stretched"},
      {"a scale that is none",
       call_of("Resize"),
       {floats({2}, {1, 2}), nullptr, floats({1}, {NAN})},
       "needs more than 0"},
      {"an infinite scale",
       call_of("Resize"),
       {floats({2}, {1, 2}), nullptr, floats({1}, {INFINITY})},
       "scale inf"},
      {"a shape of terabytes", call_of("Fill"), {ints({2}, {0x1p30, 0x1p30})}, "2^48"},
      {"a running sum along nothing",
       call_of("Cumsum"),
       {floats({2}, {1, 2}), ints({}, {1})},
       "axis 1 is outside"},
  };
  for (const Case& c : cases) {
    std::vector<Tensor> inputs;
    for (const ConstantPtr& each : c.inputs) inputs.push_back(each ? each->view() : Tensor{});
    try {
      infer(c.call, inputs, 1);
      ADD_FAILURE() << c.name << " is taken";
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(c.words), std::string::npos)
          << c.name << ": " << error.what();
    }
  }
}

}  // namespace
}  // namespace aoe::reference
