// Calls: errors with their operator's name, epilogues, the JSON forms, and the registry itself.
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "op_runner.h"

namespace aoe::reference {
namespace {

using Kind = Operand::Kind;

std::string error_of(const OpCall& call, const std::vector<ConstantPtr>& inputs,
                     std::size_t outputs = 1) {
  try {
    run_checked(call, inputs, outputs);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::kModel);
    return error.what();
  }
  return "no error";
}

TEST(Call, NamesOperatorAndContradiction) {
  struct Case {
    OpCall call;
    std::vector<ConstantPtr> inputs;
    std::string message;
  };
  const ConstantPtr two_by_three = floats({2, 3}, std::vector<double>(6));
  const ConstantPtr four = floats({4}, std::vector<double>(4));
  const Case cases[] = {
      {{.type = "Add"}, {two_by_three, four}, "Add: shapes 2x3 and 4 do not broadcast"},
      {{.type = "Add"},
       {four, ints({4}, {1, 2, 3, 4})},
       "Add: input 1 is int64 4, needs float32 as the input before it"},
      {{.type = "Add"}, {four}, "Add: needs 2 inputs, but input 1 is missing"},
      {{.type = "Exp"}, {ints({1}, {1})}, "Exp: input 0 is int64 1, needs floating point"},
      {{.type = "Nonsense"}, {four}, "operator 'Nonsense' is unknown"},
      {{.type = "Reshape"},
       {four, ints({2}, {3, -1})},
       "Reshape: a shape of 4 elements has no dimension that completes 3x1"},
      {{.type = "GatherV2"},
       {four, ints({1}, {4})},
       "GatherV2: index 4 is outside a dimension of 4"},
  };
  for (const Case& test : cases) EXPECT_EQ(error_of(test.call, test.inputs), test.message);
}

TEST(Call, RefusesMoreOutputsThanTheOperatorHas) {
  EXPECT_EQ(error_of({.type = "Relu"}, {floats({1}, {1})}, 2),
            "Relu: has 1 outputs, the model asks for 2");
}

TEST(Call, RefusesTrainingAndOtherwiseIgnoresIt) {
  const OpCall dropout{.type = "Dropout", .version = 12};
  const ConstantPtr x = floats({1}, {1});
  EXPECT_NE(error_of(dropout, {x, floats({}, {0.5}), bools({}, {1})}).find("training_mode"),
            std::string::npos);
  EXPECT_EQ(error_of(dropout, {x, floats({}, {0}), bools({}, {1})}), "no error");
}

/// ReduceSum(x, axes) * y + relu of it: the epilogue stretches the anchor.
OpCall fused_call() {
  OpCall call{.type = "ReduceSum", .version = 13, .anchor_inputs = 2};
  call.epilogue.push_back({.type = "Mul", .operands = {{Kind::kAnchor}, {Kind::kInput, 2}}});
  call.epilogue.push_back({.type = "Relu", .operands = {{Kind::kStep, 0}}});
  call.epilogue.push_back({.type = "Add", .operands = {{Kind::kStep, 0}, {Kind::kStep, 1}}});
  return call;
}

TEST(Epilogue, RunsBehindTheAnchorWithBroadcasting) {
  const auto outputs = run_checked(
      fused_call(), {floats({2, 2}, {1, 2, 3, 4}), ints({1}, {1}), floats({1, 3}, {1, -1, 2})});
  EXPECT_EQ(outputs[0].desc.shape, (Shape{2, 3}));
  EXPECT_EQ(outputs[0].values, (std::vector<double>{6, -3, 12, 14, -7, 28}));
}

TEST(Epilogue, OfNoAnchorIsAnElementwiseChain) {
  OpCall call{.type = "FusedElementwise"};
  call.epilogue.push_back({.type = "Sub", .operands = {{Kind::kInput, 0}, {Kind::kInput, 1}}});
  call.epilogue.push_back({.type = "Abs", .operands = {{Kind::kStep, 0}}});
  const auto outputs = run_checked(call, {floats({3}, {1, 2, 3}), floats({}, {2})});
  EXPECT_EQ(outputs[0].values, (std::vector<double>{1, 0, 1}));
  EXPECT_EQ(op_types(call), (std::vector<std::string>{"Sub", "Abs"}));
}

TEST(Epilogue, LeavesTheAnchorsOtherOutputs) {
  OpCall call{.type = "TopKV2", .version = 10, .anchor_inputs = 2};
  call.epilogue.push_back({.type = "Neg", .operands = {{Kind::kAnchor}}});
  const auto outputs = run_checked(call, {floats({3}, {1, 3, 2}), ints({1}, {2})}, 2);
  EXPECT_EQ(outputs[0].values, (std::vector<double>{-3, -2}));
  EXPECT_EQ(outputs[1].values, (std::vector<double>{1, 2}));
}

TEST(Json, BringsCallsBackUnchanged) {
  OpCall call = fused_call();
  call.attrs.set("int", std::int64_t{INT64_MIN});
  call.attrs.set("float", 1.0f);
  call.attrs.set("nan", NAN);
  call.attrs.set("string", std::string("text"));
  call.attrs.set("no_ints", std::vector<std::int64_t>{});
  call.attrs.set("no_floats", std::vector<float>{});
  call.attrs.set("floats", std::vector<float>{0.1f, -INFINITY, INFINITY});
  call.attrs.set("strings", std::vector<std::string>{"a", "b"});
  call.attrs.set("tensor", make_tensor(DataType::kFloat16, {2}, {1, 0.5}));
  call.epilogue[0].attrs.set("alpha", 0.3f);
  const auto bytes = nlohmann::json::to_cbor(to_json(call));
  EXPECT_TRUE(op_call_from_json(nlohmann::json::from_cbor(bytes)) == call);
}

TEST(Attrs, CompareTensorsByTheirBytes) {
  Attrs a, b;
  a.set("value", floats({2}, {1, 2}));
  b.set("value", floats({2}, {1, 2}));
  EXPECT_TRUE(a == b);
  b.set("value", floats({2}, {1, 3}));
  EXPECT_FALSE(a == b);
  b.set("value", floats({1, 2}, {1, 2}));
  EXPECT_FALSE(a == b);
}

TEST(Attrs, NameTheKindTheyHave) {
  Attrs attrs;
  attrs.set("axis", 1.0f);
  EXPECT_EQ(attrs.get_int("absent", 7), 7);
  try {
    attrs.get_int("axis", 0);
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "attribute 'axis' is of kind float, expected int");
  }
}

TEST(Registry, HasVersionsInOrderAndOneOutputForElementwise) {
  ASSERT_GT(ops().all().size(), 100u);
  for (const OpDef* def : ops().all()) {
    EXPECT_TRUE(std::ranges::is_sorted(def->versions)) << def->type;
    EXPECT_EQ(ops().find(def->type), def);
    if (def->onnx_type.empty()) continue;
    EXPECT_EQ(ops().find_onnx(def->onnx_domain, def->onnx_type), def);
  }
  EXPECT_EQ(ops().find("Nonsense"), nullptr);
  EXPECT_EQ(ops().find_onnx("", ""), nullptr);
}

}  // namespace
}  // namespace aoe::reference
