// What om_verify looks at beyond single fields (om_test.cpp): what backends say of their steps, the limits of generated
// code, and the flow of values through the arena.
#include <gtest/gtest.h>

#include <functional>

#include "base/error.h"
#include "base/hash.h"
#include "runtime/kernel_limits.h"
#include "tests/runtime/om_builder.h"

namespace aoe::runtime {
namespace {

using tests::floats;
using tests::OmBuilder;

std::string refusal(const Om& om) {
  const auto bytes = std::make_shared<const std::string>(om.serialize());
  try {
    Om::parse(*bytes, bytes, "test.om");
    return "";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ExitCode::kOm) << e.what();
    return e.what();
  }
}

struct Case {
  const char* name;
  std::function<void(Om&)> spoil;
  const char* cause;
};

void expect_refused(const Om& sound, std::span<const Case> cases) {
  ASSERT_EQ(refusal(sound), "");
  for (const Case& each : cases) {
    Om om = sound;
    each.spoil(om);
    EXPECT_NE(refusal(om).find(each.cause), std::string::npos) << each.name << ": " << refusal(om);
  }
}

/// y = scale(x) by table and scratch, z = scale(y) over y's place.
struct Generated {
  int x, table, other_table, y, z, work;
  Om om;
};

Generated generated() {
  OmBuilder b;
  Generated g;
  g.x = b.input("x", floats({10}));
  g.table = b.weight<int>("table", {.dtype = DataType::kInt32, .shape = {4}}, {0, 1, 2, 3});
  g.other_table = b.weight<int>("other", {.dtype = DataType::kInt32, .shape = {4}}, {0, 1, 2, 99});
  g.y = b.arena("y", floats({10}));
  g.work = b.arena("work", floats({32}));
  g.z = b.output("z", floats({10}));
  OmStep& first = b.jit({{"k0", 10}}, {g.x}, {g.y});
  first.constants = {g.table};
  first.scratch_bytes = 128;
  b.jit({{"k1", 5, 2}}, {g.y}, {g.z}).workspace = g.work;
  const std::uint32_t crc = crc32c(b.om.weights.data(), 16);
  b.om.code = code_with_limits(
      "code", {{"k0", {10, 128, {{{40, 40, 16}, {1}, {{2, crc}}}}}},
               {"k1", {10, 0, {{{800, 8, 8}, {1}, {}}, {{40, 40, 128}, {1, 2}, {}}}, 2}}});
  g.om = b.om;
  return g;
}

TEST(OmVerify, GeneratedCodeKeepsToItsLimits) {
  const Generated g = generated();
  const Case cases[] = {
      {"a function that is none", [](Om& om) { om.steps[0].stages[0].symbol = "memcpy"; },
       "runs 'memcpy', which its code does not have"},
      {"more iterations", [](Om& om) { om.steps[0].stages[0].extent = 11; },
       "for 11 iterations, it has 10"},
      {"all iterations at once",
       [](Om& om) {
         om.steps[1].stages = {{"k1", 5, 1}};
       },
       "in 1 rounds, it has 2"},
      {"more iterations a round", [](Om& om) { om.steps[1].stages[0].extent = 10; },
       "for 10 iterations, it has 5"},
      {"another function",
       [](Om& om) {
         om.steps[0].stages = {{"k1", 5, 2}};
       },
       "on 3 buffers that it was not generated for"},
      {"less scratch", [](Om& om) { om.steps[0].scratch_bytes = 64; },
       "with 64 bytes of scratch, it needs 128"},
      {"scratch beyond reason", [](Om& om) { om.steps[0].scratch_bytes = std::uint64_t{1} << 40; },
       "bytes of scratch"},
      {"a smaller input", [&](Om& om) { om.tensors[g.x].desc.shape = {9}; }, "not generated for"},
      {"a smaller output", [&](Om& om) { om.tensors[g.z].desc.shape = {9}; }, "not generated for"},
      {"a smaller workspace", [&](Om& om) { om.tensors[g.work].desc.shape = {31}; },
       "not generated for"},
      {"one buffer less", [](Om& om) { om.steps[0].constants.clear(); }, "not generated for"},
      {"one buffer more", [&](Om& om) { om.steps[0].inputs.push_back(g.x); }, "not generated for"},
      {"an output that is an input",
       [&](Om& om) {
         om.steps[0].inputs = {g.x, g.y};
         om.steps[0].outputs.clear();
       },
       "not generated for"},
      {"a table of other positions", [&](Om& om) { om.steps[0].constants = {g.other_table}; },
       "not generated for"},
      {"a table that is written", [&](Om& om) { om.steps[0].constants = {g.work}; },
       "not generated for"},
  };
  expect_refused(g.om, cases);
}

TEST(OmVerify, LimitsAreReadBackAndChecked) {
  const LimitsBySymbol limits = {{"f", {7, 64, {{{1, 2}, {1}, {{0, 5}}}}}}};
  const std::string code = code_with_limits("elf", limits);
  EXPECT_TRUE(code.starts_with("elf"));
  ASSERT_TRUE(limits_of(code));
  EXPECT_EQ(limits_of(code)->at("f").uses, limits.at("f").uses);
  EXPECT_EQ(limits_of(code)->at("f").rounds, 1);
  EXPECT_EQ(limits_of(code_with_limits("", {{"f", {6, 0, {}, 3}}}))->at("f").rounds, 3);
  EXPECT_THROW(limits_of(code_with_limits("", {{"f", {6, 0, {}, 0}}})), Error);
  EXPECT_FALSE(limits_of("elf"));
  EXPECT_FALSE(limits_of(""));
  Om om = generated().om;
  om.code.replace(om.code.size() - 16, 8, std::string(8, '\xff'));
  EXPECT_NE(refusal(om).find("limits in the code section"), std::string::npos);
  om = generated().om;
  om.code[4] = '\xff';  // the first byte of the CBOR
  EXPECT_NE(refusal(om).find("limits in the code section"), std::string::npos);
}

/// Of older compilers: only what every step must keep to is checked.
TEST(OmVerify, CodeWithoutLimitsIsBelieved) {
  Om om = generated().om;
  om.code = "code";
  om.steps[0].stages[0].extent = 1000;
  EXPECT_EQ(refusal(om), "");
}

TEST(OmVerify, ReferenceStepsWriteWhatTheirOperatorGives) {
  constexpr int kX = 0, kSum = 2, kY = 3;  // tensor ids of small_om()
  const Case cases[] = {
      {"a smaller output",
       [](Om& om) {
         om.tensors[kSum].desc.shape = {2, 2};
       },
       "gives float32 2x3"},
      {"another type", [](Om& om) { om.tensors[kY].desc.dtype = DataType::kInt32; },
       "gives float32 2x3"},
      {"inputs that do not go together",
       [](Om& om) {
         om.tensors[kX].desc.shape = {2, 4};
       },
       "refused by its operator"},
      {"an operator of other inputs", [](Om& om) { om.steps[0].call.type = "Conv2D"; },
       "refused by its operator"},
      {"more outputs than it has",
       [](Om& om) {
         om.steps[0].outputs = {kSum, -1, -1};
       },
       "refused by its operator"},
  };
  expect_refused(tests::small_om(), cases);
}

TEST(OmVerify, MemoriesAreThoseOfBackends) {
  const Case cases[] = {{"a device's", [](Om& om) { om.tensors[0].memory = Memory::kDevice; },
                         "lies in the memory of a device, which nothing here has"}};
  expect_refused(tests::small_om(), cases);
}

TEST(OmVerify, ValuesFlowInOrder) {
  constexpr int kX = 0, kW = 1, kSum = 2;
  const Case cases[] = {
      {"steps swapped", [](Om& om) { std::swap(om.steps[0], om.steps[1]); },
       "reads tensor 2 'sum' before it is written"},
      {"an output that nobody writes", [](Om& om) { om.steps.pop_back(); },
       "the model's output reads tensor 3 'y' before it is written"},
      {"a step that writes an input", [](Om& om) { om.steps[0].outputs = {kX}; }, "only read"},
      {"a step that writes a constant", [](Om& om) { om.steps[0].outputs = {kW}; }, "only read"},
      {"a workspace in the weights", [](Om& om) { om.steps[0].workspace = kW; }, "only read"},
      {"a workspace over the output", [](Om& om) { om.steps[0].workspace = kSum; }, "over"},
      {"an arena far too large", [](Om& om) { om.arena_bytes = std::uint64_t{1} << 47; },
       "the arena has"},
      {"a tensor between two elements", [](Om& om) { om.tensors[kSum].offset = 2; },
       "does not begin where an element may"},
      {"a view of nothing", [](Om& om) { om.steps[0].backend = &backend("none"); },
       "finds nothing where tensor 2"},
      {"a view in the caller's buffer", [](Om& om) { om.steps[1].backend = &backend("none"); },
       "which nobody wrote"},
      {"more threads than there are", [](Om& om) { om.threads = 1 << 20; }, "threads"},
  };
  expect_refused(tests::small_om(), cases);
}

/// a and b are needed at once; c may lie where a was.
TEST(OmVerify, NothingIsOverwrittenWhileItIsNeeded) {
  OmBuilder builder;
  const int x = builder.input("x", floats({16}));
  const int a = builder.arena("a", floats({16})), b = builder.arena("b", floats({16}));
  const int c = builder.arena("c", floats({16})), y = builder.output("y", floats({16}));
  builder.reference("Relu", {x}, {a});
  builder.reference("Neg", {a}, {b});
  builder.reference("Add", {a, b}, {c});
  builder.reference("Neg", {c}, {y});
  const Case cases[] = {
      {"b over a", [&](Om& om) { om.tensors[b].offset = om.tensors[a].offset; },
       "reads tensor 1 'a', which was overwritten"},
      {"b over half of a", [&](Om& om) { om.tensors[b].offset = 32; }, "into the middle of"},
      {"c over half of b", [&](Om& om) { om.tensors[c].offset = om.tensors[b].offset + 32; },
       "into the middle of"},
  };
  expect_refused(builder.om, cases);
  Om in_place = builder.om;
  in_place.tensors[c].offset = in_place.tensors[a].offset;
  EXPECT_EQ(refusal(in_place), "");
}

TEST(OmVerify, ViewsHoldWhatOthersWrote) {
  OmBuilder builder;
  const int x = builder.input("x", floats({8}));
  const int both = builder.arena("both", floats({16}));
  const int a = builder.arena("a", floats({8})), b = builder.arena("b", floats({8}));
  const int y = builder.output("y", floats({16}));
  builder.reference("Relu", {x}, {a});
  builder.reference("Neg", {x}, {b});
  builder.reference("ConcatV2", {a, b}, {both}).backend = &backend("none");
  builder.reference("Relu", {both}, {y});
  builder.om.tensors[a].offset = builder.om.tensors[both].offset;
  builder.om.tensors[b].offset = builder.om.tensors[both].offset + 32;
  builder.om.arena_bytes = 64;
  const Case cases[] = {
      {"one half is not there",
       [&](Om& om) {
         om.arena_bytes = 128;
         om.tensors[b].offset = 96;
       },
       "finds nothing where"},
  };
  expect_refused(builder.om, cases);
}

TEST(OmVerify, OneDnnWritesOnlyWhatIsWritten) {
  OmBuilder builder;
  const nlohmann::json desc = {{"dims", {1, 4}}, {"dtype", "f32"}, {"tag", "ab"}};
  const int x = builder.input("x", floats({1, 4})), z = builder.input("z", floats({1, 4}));
  const int y = builder.output("y", floats({1, 4}));
  OmStep& step = builder.reference("Add", {x, z}, {y});
  step.backend = &backend("onednn");
  step.params = {{"stages",
                  {{{"primitive", "binary"},
                    {"algorithm", "binary_add"},
                    {"src", desc},
                    {"src1", desc},
                    {"dst", desc},
                    {"args", {{"src", 0}, {"src1", 1}, {"dst", 2}}}}}}};
  const Case cases[] = {
      {"the result over an input",
       [](Om& om) { om.steps[0].params["stages"][0]["args"]["dst"] = 0; }, "'dst' in buffer 0"},
      {"a buffer that there is not",
       [](Om& om) { om.steps[0].params["stages"][0]["args"]["src"] = 3; }, "'src' in buffer 3"},
      {"no primitive", [](Om& om) { om.steps[0].params["stages"] = nlohmann::json::array(); },
       "has no primitive"},
      {"no parameters", [](Om& om) { om.steps[0].params = nullptr; }, "malformed parameters"},
  };
  expect_refused(builder.om, cases);
}

TEST(OmVerify, StepsWithBodiesHaveThem) {
  OmBuilder builder;
  const int condition = builder.input("c", {.dtype = DataType::kBool, .shape = {}});
  const int y = builder.output("y", floats({1}));
  OmStep& step = builder.reference("If", {condition}, {y});
  step.backend = &backend("control");
  EXPECT_NE(refusal(builder.om).find("lacks its bodies"), std::string::npos);
  step.call.type = "Relu";
  EXPECT_NE(refusal(builder.om).find("has no bodies to run"), std::string::npos);
}

}  // namespace
}  // namespace aoe::runtime
