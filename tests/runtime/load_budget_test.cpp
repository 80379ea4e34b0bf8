// Oms that ask for very much before anything of them runs.
#include "runtime/om/load_budget.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "runtime/executor.h"
#include "runtime/om/geared_om.h"
#include "tests/runtime/om_bodies.h"

namespace aoe::runtime::tests {
namespace {

constexpr TensorDesc kPlace{.dtype = DataType::kInt64}, kFound{.dtype = DataType::kBool};

/// Empty: it is not refused.
std::string refusal(const Om& om, const LoadBudget& budget = {}) {
  const auto bytes = std::make_shared<const std::string>(om.serialize());
  try {
    GearedOm::parse(*bytes, bytes, "test.om", budget);
    return "";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ExitCode::kOm) << e.what();
    return e.what();
  }
}

void expect_refused(const Om& om, const std::string& why, const LoadBudget& budget = {}) {
  EXPECT_NE(refusal(om, budget).find(why), std::string::npos) << refusal(om, budget);
}

reference::Attrs matching(const std::string& pattern) {
  reference::Attrs attrs;
  attrs.set("pattern", pattern);
  return attrs;
}

reference::Attrs splitting(const std::vector<std::string>& separators) {
  reference::Attrs attrs;
  attrs.set("separators", separators);
  attrs.set("mark", std::int64_t{0});
  attrs.set("mincharnum", std::int64_t{1});
  attrs.set("pad_value", std::string());
  return attrs;
}

Om matches(const std::vector<std::string>& patterns) {
  OmBuilder b("matches");
  const int x = b.input("x", kPlace);
  for (const std::string& pattern : patterns)
    b.reference("RegexFullMatch", {x}, {b.output(pattern, kFound)}, matching(pattern));
  return b.om;
}

Om tokens(const std::vector<std::string>& separators) {
  OmBuilder b("tokens");
  const int x = b.input("x", {.dtype = DataType::kInt64, .shape = {1}});
  b.reference("Tokenizer", {x},
              {b.dynamic_output("y", {.dtype = DataType::kInt64, .shape = {1, kUnknownDim}})},
              splitting(separators));
  return b.om;
}

double steps_of(const reference::Attrs& match) {
  LoadBudget budget;
  budget.take_expressions({.type = "RegexFullMatch", .attrs = match});
  return LoadBudget().steps - budget.steps;
}

/// An If that runs `body` in both cases.
Om either(const Om& body) {
  OmBuilder b("either");
  const int condition = b.input("c", kFound);
  const int both = add_body(b, "body", body);
  control(b, "If", {condition}, {b.output("y", floats({}))}, {both, both});
  return b.om;
}

Om leaf() {
  OmBuilder b("leaf");
  b.reference("Identity", {b.weight<float>("w", floats({}), {1})}, {b.output("y", floats({}))});
  return b.om;
}

Om nested(int depth) {
  OmBuilder b("nested");
  const int condition = b.weight<char>("c", kFound, {1});
  const int body = add_body(b, "body", depth == 0 ? leaf() : nested(depth - 1));
  control(b, "If", {condition}, {b.output("y", floats({}))}, {body, body});
  return b.om;
}

TEST(LoadBudget, ExpressionsAreCounted) {
  const std::string large = "[a-z]{100}";
  const LoadBudget little{.steps = steps_of(matching(large)) * 1.5};
  EXPECT_EQ(refusal(matches({large}), little), "");
  EXPECT_EQ(refusal(tokens({"a", large}), little), "");
  expect_refused(matches({large, large}), "regular expressions that are too many", little);
  expect_refused(tokens({large, large}), "regular expressions that are too many", little);
  expect_refused(tokens({"a", "("}), "is refused by its operator");
}

TEST(LoadBudget, ExpressionsOfAllBodiesAreCounted) {
  OmBuilder b("leaf");
  const int x = b.weight<std::int64_t>("x", kPlace, {0});
  b.reference("RegexFullMatch", {x}, {b.output("y", kFound)}, matching("a+"));
  const LoadBudget three{.steps = 3.5 * steps_of(matching("a+"))};
  EXPECT_EQ(refusal(b.om, three), "");
  EXPECT_EQ(refusal(either(b.om), three), "");
  expect_refused(either(either(b.om)), "regular expressions that are too many", three);
}

TEST(LoadBudget, BodiesAreCountedEachTimeTheyRun) {
  EXPECT_EQ(refusal(nested(3)), "");
  expect_refused(nested(5), "bodies that are too many or too large", {.body_bytes = 100'000});
}

TEST(LoadBudget, BodiesNestALittle) {
  EXPECT_EQ(refusal(nested(2), {.depth = 3}), "");
  expect_refused(nested(2), "bodies that are nested too deeply", {.depth = 2});
}

/// Unique of so many zeros, which says that they are two.
Om two_of_zeros(std::int64_t count) {
  OmBuilder b("two_of_zeros");
  const int zeros = b.weight<float>("zeros", floats({count}),
                                    std::vector<float>(static_cast<std::size_t>(count)));
  b.reference("Unique", {zeros}, {b.output("y", floats({2}))});
  return b.om;
}

TEST(LoadBudget, WhatIsDearToInferIsLeftToTheRun) {
  expect_refused(two_of_zeros(10), "gives float32 1 ND where");
  Executor model(two_of_zeros(10'000), {});
  std::vector<float> y(2);
  Tensor outputs[] = {{floats({2}), y.data()}};
  EXPECT_THROW(model.run({}, outputs), Error);
}

}  // namespace
}  // namespace aoe::runtime::tests
