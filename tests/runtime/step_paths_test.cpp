// How steps run, their shares, and the sentence on those that run on the reference path.
#include "runtime/om/step_paths.h"

#include <gtest/gtest.h>

#include "runtime/backend.h"
#include "tests/runtime/om_builder.h"

namespace aoe::runtime::tests {
namespace {

/// A generated step of this work, and what `add` adds.
template <typename Add>
GearedOm model_with(double generated_work, Add&& add) {
  OmBuilder b;
  const int x = b.input("x", floats({4}));
  const int y = b.output("y", floats({4}));
  b.jit({}, {x}, {y}).flops = generated_work;
  add(b, x);
  GearedOm model;
  model.oms.push_back(std::move(b.om));
  return model;
}

OmStep& slow_step(OmBuilder& b, int x, const std::string& type, double work) {
  OmStep& step = b.reference(type, {x}, {b.arena(type, floats({4}))});
  step.flops = work;
  return step;
}

TEST(StepPaths, SayHowEachRunsAndWhatItTakes) {
  const GearedOm model = model_with(60, [](OmBuilder& b, int x) {
    slow_step(b, x, "Atan", 10).bytes = 40;
    b.reference("Reshape", {x}, {b.arena("z", floats({4}))}).backend = &backend("none");
    b.om.steps.back().bytes = 32;
    b.reference("NonZero", {x}, {b.dynamic("d", {DataType::kInt64, {1, kUnknownDim}})});
  });
  const std::vector<StepPath> paths = step_paths(model.oms.front());
  ASSERT_EQ(paths.size(), 4u);
  EXPECT_EQ(paths[0].path, "generated");
  EXPECT_EQ(paths[0].work, 60);
  EXPECT_EQ(paths[1].path, "reference");
  EXPECT_EQ(paths[1].types, "Atan");
  EXPECT_EQ(paths[1].work, 40) << "bytes, which are more";
  EXPECT_EQ(paths[2].path, "view");
  EXPECT_EQ(paths[2].work, 0) << "nothing runs";
  EXPECT_TRUE(paths[3].is_open);
  EXPECT_FALSE(paths[0].is_open || paths[1].is_open || paths[2].is_open);
}

TEST(ReferencePart, IsSilentOfNothingAndOfLittle) {
  EXPECT_EQ(reference_part(model_with(60, [](OmBuilder&, int) {})), "");
  EXPECT_EQ(
      reference_part(model_with(99999, [](OmBuilder& b, int x) { slow_step(b, x, "Atan", 50); })),
      "");
  EXPECT_NE(
      reference_part(model_with(99999, [](OmBuilder& b, int x) { slow_step(b, x, "Atan", 500); })),
      "");
}

TEST(ReferencePart, NamesTypesByTheirShare) {
  const GearedOm model = model_with(50, [](OmBuilder& b, int x) {
    slow_step(b, x, "Atan", 10);
    slow_step(b, x, "Mod", 30);
    b.reference("Atan", {x}, {b.arena("a2", floats({4}))}).flops = 10;
  });
  EXPECT_EQ(reference_part(model),
            "3 of 4 operators, 50.0% of the model's work, run on the reference path, which is "
            "slow: Mod (30.0%), Atan x2 (20.0%)");
}

TEST(ReferencePart, KnowsThatSizesMayBeUnknown) {
  const GearedOm model = model_with(50, [](OmBuilder& b, int x) {
    slow_step(b, x, "Atan", 50);
    b.reference("NonZero", {x}, {b.dynamic("d", {DataType::kInt64, {1, kUnknownDim}})});
  });
  EXPECT_EQ(reference_part(model),
            "2 of 3 operators, at least 50.0% of the model's work, run on the reference path, "
            "which is slow: NonZero (of sizes known only when it runs), Atan (50.0%)");
}

TEST(ReferencePart, SaysNoShareWhereAllThatIsKnownIsElsewhere) {
  const GearedOm model = model_with(50, [](OmBuilder& b, int x) {
    b.reference("NonZero", {x}, {b.dynamic("d", {DataType::kInt64, {1, kUnknownDim}})});
  });
  EXPECT_EQ(
      reference_part(model),
      "1 of 2 operators, a share of the work that only a run tells, run on the reference path, "
      "which is slow: NonZero (of sizes known only when it runs)");
}

TEST(ReferencePart, NamesEightTypesAndCountsTheRest) {
  const GearedOm model = model_with(0, [](OmBuilder& b, int x) {
    for (int i = 0; i < 11; ++i) slow_step(b, x, "Type" + std::to_string(10 + i), 100 - i);
  });
  const std::string text = reference_part(model);
  EXPECT_NE(text.find("Type17 ("), std::string::npos) << text;
  EXPECT_EQ(text.find("Type18"), std::string::npos) << text;
  EXPECT_TRUE(text.ends_with(" and 3 more types")) << text;
}

}  // namespace
}  // namespace aoe::runtime::tests
