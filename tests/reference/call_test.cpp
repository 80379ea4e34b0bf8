// Calls: errors with their operator's name, epilogues, the JSON forms, and the registry itself.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>

#include "base/json_text.h"
#include "op_runner.h"

namespace aoe::reference {
namespace {

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

TEST(Call, RefusesAShareThatIsNone) {
  const OpCall dropout{.type = "Dropout", .version = 12};
  const ConstantPtr x = floats({1}, {1});
  EXPECT_NE(error_of(dropout, {x, floats({}, {1}), bools({}, {1})}).find("ratio"),
            std::string::npos);
  EXPECT_EQ(error_of(dropout, {x, floats({}, {0}), bools({}, {1})}), "no error");
}

/// ReduceSum(x, axes) * y + relu of it: what stands behind the anchor stretches it. Values 0 to 2 are x, axes, y.
Body stretched_sum() {
  return {.inputs = 3,
          .steps = {{{.type = "ReduceSum", .version = 13}, {0, 1}},
                    {{.type = "Mul"}, {3, 2}},
                    {{.type = "Relu"}, {4}},
                    {{.type = "Add"}, {4, 5}}}};
}

/// |x - y|
Body distance() {
  return {.inputs = 2, .steps = {{{.type = "Sub"}, {0, 1}}, {{.type = "Abs"}, {2}}}};
}

/// Sum of squares of the distance, the distance being a body of its own.
Body nested() {
  return {.inputs = 3,
          .steps = {{fused_call(distance()), {2, 0}},
                    {fused_call({.inputs = 2,
                                 .steps = {{{.type = "Mul"}, {0, 0}},
                                           {{.type = "ReduceSum", .version = 13}, {2, 1}}}}),
                     {3, 1}}}};
}

TEST(Body, RunsStepByStepWithBroadcasting) {
  const auto outputs =
      run_checked(fused_call(stretched_sum()),
                  {floats({2, 2}, {1, 2, 3, 4}), ints({1}, {1}), floats({1, 3}, {1, -1, 2})});
  EXPECT_EQ(outputs[0].desc.shape, (Shape{2, 3}));
  EXPECT_EQ(outputs[0].values, (std::vector<double>{6, -3, 12, 14, -7, 28}));
}

TEST(Body, OfElementwiseOpsAloneHasNoAnchor) {
  const OpCall call = fused_call(distance());
  const auto outputs = run_checked(call, {floats({3}, {1, 2, 3}), floats({}, {2})});
  EXPECT_EQ(outputs[0].values, (std::vector<double>{1, 0, 1}));
  EXPECT_EQ(op_types(call), (std::vector<std::string>{"Sub", "Abs"}));
  EXPECT_TRUE(is_elementwise(call));
  EXPECT_EQ(&anchor(call), &call);
  EXPECT_EQ(epilogue(call).size(), 2u);
  EXPECT_EQ(type_name(call), "FusedElementwise");
}

TEST(Body, TellsItsAnchorByWhatIsNotElementwise) {
  OpCall call = fused_call(stretched_sum());
  EXPECT_EQ(anchor(call).type, "ReduceSum");
  EXPECT_EQ(anchor_inputs(call, 3), 2u);
  EXPECT_EQ(epilogue(call).size(), 3u);
  EXPECT_FALSE(is_elementwise(call) || is_chain(call));
  EXPECT_EQ(type_name(call), "ReduceSum");

  const OpCall before = call;
  edit_anchor(call).attrs.set("keepdims", std::int64_t{0});
  EXPECT_FALSE(anchor(before).attrs.has("keepdims")) << "copies share a body until one changes";
  EXPECT_FALSE(call == before);
}

TEST(Body, HoldsBodies) {
  const OpCall call = fused_call(nested());
  const auto outputs =
      run_checked(call, {floats({2}, {5, 1}), ints({1}, {0}), floats({2}, {2, 3})});
  EXPECT_EQ(outputs[0].values, (std::vector<double>{13}));
  EXPECT_EQ(op_types(call), (std::vector<std::string>{"Sub", "Abs", "Mul", "ReduceSum"}));
  EXPECT_EQ(flat_steps(call)[3].operands, (std::vector<int>{5, 1}));
  const std::vector<TensorDesc> inputs = {{.dtype = DataType::kFloat, .shape = {2}},
                                          {.dtype = DataType::kInt64, .shape = {1}},
                                          {.dtype = DataType::kFloat, .shape = {2}}};
  const std::vector<TensorDesc> output = {{.dtype = DataType::kFloat, .shape = {1}}};
  EXPECT_EQ(flops(call, inputs, output), 2 + 2 + 2 + 2);
  EXPECT_GE(work(call, inputs, output), flops(call, inputs, output));
}

TEST(Call, AQuantisedConvolutionCountsTheProductsOfItsChannels) {
  const TensorDesc scale{.dtype = DataType::kFloat, .shape = {}},
      zero_point{.dtype = DataType::kUint8, .shape = {}};
  const std::vector<TensorDesc> inputs = {{.dtype = DataType::kUint8, .shape = {1, 8, 5, 5}},
                                          scale,
                                          zero_point,
                                          {.dtype = DataType::kUint8, .shape = {4, 8, 3, 3}},
                                          scale,
                                          zero_point,
                                          scale,
                                          zero_point};
  const std::vector<TensorDesc> output = {{.dtype = DataType::kUint8, .shape = {1, 4, 3, 3}}};
  const OpCall call{.type = "QLinearConv", .version = 10};
  EXPECT_EQ(flops(call, inputs, output), 2 * (8 * 3 * 3) * (4 * 3 * 3));
  EXPECT_GE(work(call, inputs, output), flops(call, inputs, output) / 2)
      << "a step is a product and its sum";
}

TEST(Body, IsRefusedWhereItReadsWhatIsNotThere) {
  const auto refused = [](Body body) { return check_call(fused_call(std::move(body))).error(); };
  EXPECT_TRUE(check_call(fused_call(nested())));
  Body later = distance();
  later.steps[0].operands[1] = 2;
  EXPECT_NE(refused(later).find("reads value 2"), std::string::npos);
  later.steps[0].operands[1] = -1;
  EXPECT_NE(refused(later).find("reads value -1"), std::string::npos);
  Body given = nested();
  given.steps[0].operands.pop_back();
  EXPECT_NE(refused(given).find("of 2 inputs is given 1"), std::string::npos);
  Body unknown = distance();
  unknown.steps[1].call.type = "NoSuchOp";
  EXPECT_NE(refused(unknown).find("NoSuchOp"), std::string::npos);
  EXPECT_NE(refused({}).find("no steps"), std::string::npos);

  Body deep = nested();
  deep = {.inputs = 3, .steps = {{fused_call(std::move(deep)), {0, 1, 2}}}};
  EXPECT_NE(refused(deep).find("deep"), std::string::npos);
}

OpCall chain() {
  Body convolution{.inputs = 3,
                   .steps = {{{.type = "Conv2D", .version = 11}, {0, 1}},
                             {{.type = "Relu", .version = 6}, {3}},
                             {{.type = "Add", .version = 7}, {4, 2}}}};
  return fused_call({.inputs = 3,
                     .steps = {{{.type = "MaxPoolV3", .version = 12}, {0}},
                               {fused_call(convolution), {3, 1, 0}},
                               {fused_call(convolution), {4, 2, 0}}}});
}

TEST(Json, BringsCallsBackUnchanged) {
  Body body = stretched_sum();
  for (BodyStep& step : body.steps) {
    Attrs& attrs = step.call.attrs;
    attrs.set("int", std::int64_t{INT64_MIN});
    attrs.set("float", 1.0f);
    attrs.set("nan", NAN);
    attrs.set("string", std::string("text"));
    attrs.set("no_ints", std::vector<std::int64_t>{});
    attrs.set("no_floats", std::vector<float>{});
    attrs.set("floats", std::vector<float>{0.1f, -INFINITY, INFINITY});
    attrs.set("strings", std::vector<std::string>{"a", "b"});
    attrs.set("tensor", make_tensor(DataType::kFloat16, {2}, {1, 0.5}));
  }
  for (const OpCall& call :
       {body.steps[0].call, fused_call(body), fused_call(distance()), chain()}) {
    EXPECT_TRUE(op_call_from_json(parse_cbor(cbor_bytes(to_json(call)))) == call)
        << type_name(call);
  }
}

TEST(Json, RefusesWhatNoBodyIs) {
  const auto refused = [](const std::function<void(nlohmann::json&)>& spoil,
                          const OpCall& call = fused_call(stretched_sum())) {
    nlohmann::json json = to_json(call);
    spoil(json);
    EXPECT_THROW(op_call_from_json(json), Error) << json;
  };
  for (const std::int64_t index : {std::int64_t{-1}, std::int64_t{2}, INT64_MAX})
    refused([&](auto& json) { json["epilogue"][0]["operands"][0] = {"step", index}; });
  for (const std::int64_t index : {std::int64_t{-1}, INT64_MAX})
    refused([&](auto& json) { json["epilogue"][0]["operands"][0] = {"input", index}; });
  for (const int count : {-1, kMostBodyOps + 1})
    refused([&](auto& json) { json["anchor_inputs"] = count; });
  refused([](auto& json) { json["epilogue"][0]["operands"][0] = {"output", 0}; });
  refused([](auto& json) { json["epilogue"][0]["type"] = "NoSuchOp"; });
  refused([](auto& json) { json["type"] = "NoSuchOp"; });
  refused([](auto& json) {
    json["epilogue"] = nlohmann::json::array();
    json["type"] = kChainName;
  });
  refused([](auto& json) {
    const nlohmann::json op = json["epilogue"][2];
    for (int i = 0; i < kMostBodyOps; ++i) json["epilogue"].push_back(op);
  });
  // What a member of a chain makes on its way is nobody else's.
  refused([](auto& json) { json["epilogue"][4]["operands"][0] = {"step", 2}; }, chain());
}

/// What banks hold; the text must not change.
TEST(Json, IsThatOfKeys) {
  EXPECT_EQ(json_text(to_json(OpCall{.type = "Relu", .version = 6})),
            R"({"anchor_inputs":-1,"attrs":{},"type":"Relu","version":6})");
  EXPECT_EQ(json_text(to_json(fused_call(stretched_sum()))),
            R"({"anchor_inputs":2,"attrs":{},"epilogue":[)"
            R"({"attrs":{},"operands":[["anchor",0],["input",2]],"type":"Mul","version":1},)"
            R"({"attrs":{},"operands":[["step",0]],"type":"Relu","version":1},)"
            R"({"attrs":{},"operands":[["step",0],["step",1]],"type":"Add","version":1}],)"
            R"("type":"ReduceSum","version":13})");
  EXPECT_EQ(json_text(to_json(fused_call(distance()))),
            R"({"anchor_inputs":-1,"attrs":{},"epilogue":[)"
            R"({"attrs":{},"operands":[["input",0],["input",1]],"type":"Sub","version":1},)"
            R"({"attrs":{},"operands":[["step",0]],"type":"Abs","version":1}],)"
            R"("type":"FusedElementwise","version":1})");
  const nlohmann::json json = to_json(chain());
  EXPECT_EQ(json["type"], "FusedChain");
  EXPECT_EQ(json["anchor_inputs"], -1);
  const char* operands[] = {R"([["input",0]])",
                            R"([["step",0],["input",1]])",
                            R"([["step",1]])",
                            R"([["step",2],["input",0]])",
                            R"([["step",3],["input",2]])",
                            R"([["step",4]])",
                            R"([["step",5],["input",0]])"};
  ASSERT_EQ(json["epilogue"].size(), std::size(operands));
  for (std::size_t i = 0; i < std::size(operands); ++i)
    EXPECT_EQ(json_text(json["epilogue"][i]["operands"]), operands[i]) << i;
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
