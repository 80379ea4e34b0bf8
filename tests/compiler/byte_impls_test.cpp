// What Impls of bytes take, and in which Formats; that their results are right is tested on the lines of shapes/quant.txt and native.txt.
#include <gtest/gtest.h>

#include "tests/compiler/impl_check.h"
#include "tests/compiler/machine_code.h"
#include "tests/compiler/shape_line.h"

namespace aoe::compiler {
namespace {

Soc vnni_soc() {
  Soc soc = loopnest::test_socs().back();
  soc.features = {Feature::kVnni};
  soc.target = find_target("avx512");
  return soc;
}

Task convolution(const std::string& channels, const std::string& weight_zero) {
  return parse_shape_line("QuantConv2D in=1x" + channels + "x6x6:uint8:below=256 in=8x" + channels +
                          "x3x3:uint8:const:below=256 in=- in=scalar:uint8:below=255 "
                          "in=scalar:uint8:value=" +
                          weight_zero + " in=8:const")
      .task;
}

TEST(WinogradOfBytes, TakesWeightsOfAnyZeroPointAsLongAsSumsFit) {
  const Impl& winograd = *impls().find("winograd_f43_int8");
  for (const char* zero : {"0", "128", "143", "255"})
    EXPECT_TRUE(winograd.supports(convolution("917", zero), vnni_soc())) << zero;
  EXPECT_FALSE(winograd.supports(convolution("918", "255"), vnni_soc()));
  EXPECT_TRUE(winograd.supports(convolution("918", "143"), vnni_soc()));
}

bool multiplies_quads(const std::string& x, const std::string& zero, const std::string& weights,
                      const std::string& attributes) {
  const Task task =
      parse_shape_line("QuantConv2D in=1x16x9x9:" + x + " in=16x1x3x3:" + weights +
                       " in=- in=scalar:" + zero + " in=- in=16:const group=16" + attributes)
          .task;
  const Impl& depthwise = *impls().find("depthwise_int8");
  const auto plan = depthwise.plan(task, depthwise.formats(task, vnni_soc()).at(0), vnni_soc());
  return plan->build(plan->heuristic()).needs.has(Feature::kVnni);
}

TEST(DepthwiseOfBytes, MultipliesQuadsWhereNeighboursAreUnsignedAndWeightsSigned) {
  const std::string x = "uint8:below=256", zero = "uint8:value=3", weights = "int8:const:below=127";
  EXPECT_TRUE(multiplies_quads(x, zero, weights, ""));
  EXPECT_TRUE(multiplies_quads(x, zero, weights, " dilations=[2,1]"));
  EXPECT_FALSE(multiplies_quads(x, zero, weights, " dilations=[1,2]"));
  EXPECT_FALSE(multiplies_quads(x, zero, "uint8:const:below=256", ""));
  EXPECT_FALSE(multiplies_quads(x, "uint8:below=255", weights, ""));
  EXPECT_FALSE(multiplies_quads("int8:below=127", "int8:value=3", weights, ""));
}

std::int64_t pixels_outermost(const std::string& image, const std::string& weights, int threads) {
  const Task task = parse_shape_line("QuantConv2D in=" + image + ":uint8:below=256 in=" + weights +
                                     ":int8:const:below=127 in=- in=scalar:uint8:value=3 in=- in=" +
                                     weights.substr(0, weights.find('x')) + ":const")
                        .task;
  Soc soc = vnni_soc();
  soc.threads = threads;
  const Impl& conv = *impls().find("conv_int8");
  return conv.plan(task, conv.formats(task, soc).at(0), soc)->heuristic().at("pixels_outer");
}

TEST(ConvolutionOfBytes, ThreadsHavePixelsOfTheirOwnWhereThoseAreMoreThanWeights) {
  EXPECT_EQ(pixels_outermost("1x64x56x56", "64x64x1x1", 2), 1);
  EXPECT_EQ(pixels_outermost("1x64x56x56", "64x64x1x1", 1), 0);
  EXPECT_EQ(pixels_outermost("1x512x7x7", "512x512x3x3", 2), 0);
}

/// The reference, which is all there was, takes many times as long.
TEST(Native, IsOfferedWhereGeneratedCodeLacksAValue) {
  const Impl& native = *impls().find("native");
  EXPECT_FALSE(
      native.supports(parse_shape_line("Cumsum in=3x20 in=scalar:int64:value=1").task, vnni_soc()));
  EXPECT_TRUE(
      native.supports(parse_shape_line("Cumsum in=3x20 in=scalar:int64:below=1").task, vnni_soc()));
}

std::vector<std::string> native_formats(const std::string& shape) {
  const Task task = parse_shape_line("DynamicQuantizeLinear in=" + shape + " outputs=3").task;
  std::vector<std::string> names;
  for (const FormatChoice& choice : impls().find("native")->formats(task, vnni_soc()))
    names.push_back(choice.name);
  return names;
}

TEST(NativeFormats, AreThoseInWhichNoElementStandsForPadding) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(native_formats("2x32x5x7"), (Names{"ND", "NHWC", "NC1HWC0"}));
  EXPECT_EQ(native_formats("2x30x5x7"), (Names{"ND", "NHWC"}));
  EXPECT_EQ(native_formats("2x30x35"), (Names{"ND"}));
}

}  // namespace
}  // namespace aoe::compiler
