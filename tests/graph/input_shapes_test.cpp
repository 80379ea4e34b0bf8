// --input_shape: reading it and applying it to what a model declares.
#include "graph/import/input_shapes.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "graph/graph.h"
#include "graph/import/onnx_import.h"

namespace aoe::graph {
namespace {

TEST(ParseInputShapes, ReadsNamesAndDimensions) {
  EXPECT_EQ(parse_input_shapes("a:1,3,224,224;b:1,128"),
            (std::map<std::string, Shape>{{"a", {1, 3, 224, 224}}, {"b", {1, 128}}}));
  EXPECT_EQ(parse_input_shapes("scalar:"), (std::map<std::string, Shape>{{"scalar", {}}}));
  EXPECT_EQ(parse_input_shapes("input:0:1,0"), (std::map<std::string, Shape>{{"input:0", {1, 0}}}));
  EXPECT_TRUE(parse_input_shapes("").empty());
}

TEST(ParseInputShapes, RefusesMalformedTexts) {
  for (const char* text :
       {"a", ":1,2", "a:1,x", "a:1,,2", "a:-1,3", "a:1,", "a:1;a:2", "a:99999999999999999999"}) {
    try {
      parse_input_shapes(text);
      ADD_FAILURE() << text << " is accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::kUsage) << text;
    }
  }
}

TEST(ParseInputShapes, TakesOpenSizesWhereAsked) {
  EXPECT_EQ(parse_input_shapes("a:-1,3;b:2", OpenSizes::kTaken),
            (std::map<std::string, Shape>{{"a", {kUnknownDim, 3}}, {"b", {2}}}));
}

DeclaredInput declared(const std::string& name, const Shape& shape,
                       const std::vector<std::string>& dims) {
  return {.name = name, .desc = {.dtype = DataType::kFloat, .shape = shape}, .dim_names = dims};
}

std::string message_of(std::vector<DeclaredInput> inputs,
                       const std::map<std::string, Shape>& given) {
  try {
    resolve_input_shapes(inputs, given);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(ResolveInputShapes, BindsADimensionNameForAllInputs) {
  std::vector<DeclaredInput> inputs = {declared("a", {-1, 3}, {"batch", ""}),
                                       declared("b", {-1}, {"batch"})};
  resolve_input_shapes(inputs, {{"a", {4, 3}}});
  EXPECT_EQ(inputs[0].desc.shape, (Shape{4, 3}));
  EXPECT_EQ(inputs[1].desc.shape, (Shape{4}));
}

TEST(ResolveInputShapes, LeavesOpenWhatIsGivenAsOpenAndAllOfItsName) {
  std::vector<DeclaredInput> inputs = {declared("a", {-1, -1}, {"batch", "length"}),
                                       declared("b", {-1}, {"length"})};
  resolve_input_shapes(inputs, {{"a", {4, kUnknownDim}}});
  EXPECT_EQ(inputs[0].desc.shape, (Shape{4, kUnknownDim}));
  EXPECT_EQ(inputs[1].desc.shape, (Shape{kUnknownDim}));
  inputs.push_back(declared("c", {-1}, {"width"}));
  EXPECT_THROW(resolve_input_shapes(inputs, {{"a", {4, kUnknownDim}}}), Error);
}

TEST(ResolveInputShapes, AQuestionMarkNamesNothing) {
  std::vector<DeclaredInput> inputs = {declared("a", {-1, 3, -1}, {"?", "", "?"})};
  resolve_input_shapes(inputs, {{"a", {4, 3, 5}}});
  EXPECT_EQ(inputs[0].desc.shape, (Shape{4, 3, 5}));
}

TEST(ResolveInputShapes, TakesAnyShapeWhereNoneIsDeclared) {
  std::vector<DeclaredInput> inputs = {declared("a", kUnknownRankShape, {})};
  resolve_input_shapes(inputs, {{"a", {2, 0}}});
  EXPECT_EQ(inputs[0].desc.shape, (Shape{2, 0}));
}

TEST(ResolveInputShapes, ShowsTheFlagToGive) {
  EXPECT_EQ(
      message_of({declared("data", {-1, 3, -1, -1}, {"N", "", "", ""}),
                  declared("ids", {1, -1}, {"", "len"})},
                 {}),
      "dynamic dimensions need a definite size: input 'data' has dimensions (N, 3, ?, ?), input "
      "'ids' has "
      "dimensions (1, len); give them, for example --input_shape=\"data:1,3,224,224;ids:1,128\"; "
      "-1 leaves a size to gears or, for atc, open");
}

TEST(ResolveInputShapes, SuggestsOneSizeForADimensionOfOneName) {
  const std::vector<DeclaredInput> inputs = {declared("input", {-1, -1}, {"batch", ""}),
                                             declared("state", {2, -1, 128}, {"", "batch", ""})};
  EXPECT_EQ(
      message_of(inputs, {}),
      "dynamic dimensions need a definite size: input 'input' has dimensions (batch, ?), "
      "input 'state' has dimensions (2, batch, 128); give them, for example "
      "--input_shape=\"input:1,128;state:2,1,128\"; -1 leaves a size to gears or, for atc, open");
  std::vector<DeclaredInput> resolved = inputs;
  resolve_input_shapes(resolved, parse_input_shapes("input:1,128;state:2,1,128"));
  EXPECT_EQ(resolved[1].desc.shape, (Shape{2, 1, 128}));
}

TEST(ResolveInputShapes, NamesTheInputsWhenAskedForAnother) {
  EXPECT_EQ(message_of({declared("a", {1}, {""}), declared("b", {1}, {""})}, {{"c", {1}}}),
            "--input_shape: the model has no input 'c'; its inputs are: a, b");
}

TEST(ResolveInputShapes, RefusesContradictions) {
  EXPECT_EQ(message_of({declared("a", {-1, 3}, {"N", ""})}, {{"a", {1, 4}}}),
            "input 'a': contradictory shapes: the model declares dimensions (N, 3), --input_shape "
            "gives 1x4");
  EXPECT_EQ(message_of({declared("a", {-1, 3}, {"N", ""})}, {{"a", {1}}}),
            "input 'a': contradictory shapes: the model declares dimensions (N, 3), --input_shape "
            "gives 1");
  EXPECT_EQ(message_of({declared("a", {-1}, {"N"}), declared("b", {-1}, {"N"})},
                       {{"a", {1}}, {"b", {2}}}),
            "input 'b': contradictory shapes: dimension 'N' is 2 here and 1 in another input");
}

}  // namespace
}  // namespace aoe::graph
