// Ops of bodies in profiles: how they are numbered and named, that an execution records each trip, and that memory bounds them.
#include "runtime/om/om_bodies.h"

#include <gtest/gtest.h>

#include <map>
#include <stop_token>
#include <thread>

#include "base/error.h"
#include "base/memory.h"
#include "base/stop_scope.h"
#include "profiler/recorder.h"
#include "runtime/executor.h"
#include "runtime/om/op_table.h"
#include "tests/runtime/memory_limit.h"
#include "tests/runtime/om_bodies.h"

namespace aoe::runtime::tests {
namespace {

constexpr TensorDesc kCount{.dtype = DataType::kInt64}, kCondition{.dtype = DataType::kBool};

/// A loop's body with `ops` of one input and one output, in a row; it goes on as long as it is counted.
OmBuilder loop_body(const std::vector<std::string>& ops) {
  OmBuilder b("body");
  b.input("trip", kCount);
  const int goes_on = b.input("goes_on", kCondition);
  int x = b.input("x", floats({2}));
  b.reference("Identity", {goes_on}, {b.output("still", kCondition)}).name = "loop/still";
  for (const std::string& op : ops) {
    const bool is_last = &op == &ops.back();
    const int y = is_last ? b.output("y", floats({2})) : b.arena(op, floats({2}));
    b.reference(op, {x}, {y});
    x = y;
  }
  return b;
}

/// Neg, a loop of 3 trips over Abs and Neg, a loop of as many over Relu.
Om two_loops() {
  OmBuilder b("two");
  const int x = b.input("x", floats({2}));
  const int count = b.weight<std::int64_t>("count", kCount, {3});
  const int start = b.weight<char>("start", kCondition, {1});
  const int a = b.arena("a", floats({2})), c = b.arena("c", floats({2}));
  b.reference("Neg", {x}, {a});
  control(b, "Loop", {count, start, a}, {c}, {add_body(b, "one", loop_body({"Abs", "Neg"}).om)})
      .name = "loop";
  control(b, "Loop", {count, start, c}, {b.output("y", floats({2}))},
          {add_body(b, "other", loop_body({"Relu"}).om)})
      .name = "last";
  return b.om;
}

TEST(OmBodies, AreCountedBehindTheStepsAndNamedByTheirPath) {
  const Om om = two_loops();
  std::vector<std::string> names;
  for_each_om(om, [&](const Om& own, const std::string& path) {
    for (const OmStep& step : own.steps) names.push_back(op_name(path, step));
  });
  EXPECT_EQ(names,
            (std::vector<std::string>{"step0_Neg", "loop", "last", "loop/still", "loop/step1_Abs",
                                      "loop/step2_Neg", "last/loop/still", "last/step1_Relu"}));
  EXPECT_EQ(op_count(om), names.size());
  const Om* const gears[] = {&om};
  const nlohmann::json table = op_table(gears, {});
  ASSERT_EQ(table["ops"].size(), names.size());
  for (std::size_t i = 0; i < names.size(); ++i) EXPECT_EQ(table["ops"][i]["name"], names[i]);
}

/// A branch that adds its weight to what it captures.
Om adding_branch(float added) {
  OmBuilder b("branch");
  const int x = b.input("x", floats({2}));
  const int w = b.weight<float>("w", floats({2}), {added, added});
  b.reference("Add", {x, w}, {b.output("y", floats({2}))});
  return b.om;
}

/// If, whose branches have their weights in the om around them: `lent` of them.
Om borrowing_if(std::size_t lent) {
  OmBuilder b("model");
  const int go = b.input("go", kCondition), x = b.input("x", floats({2}));
  std::vector<int> constants;
  for (const float added : {1.f, 5.f}) {
    const std::string file = file_without_weights(adding_branch(added));
    constants.push_back(b.weight<char>(
        "file", {.dtype = DataType::kUint8, .shape = {static_cast<std::int64_t>(file.size())}},
        {file.begin(), file.end()}));
  }
  for (std::size_t i = 0; i < lent; ++i) {
    const float added = i == 0 ? 1 : 5;
    constants.push_back(b.weight<float>("w", floats({2}), {added, added}));
  }
  OmStep& step = control(b, "If", {go, x, x}, {b.output("y", floats({2}))}, std::move(constants));
  step.call.attrs.set("captures", std::vector<std::int64_t>{1, 1});
  step.call.attrs.set("bodies", std::int64_t{2});
  return b.om;
}

TEST(OmBodies, MayHaveTheirWeightsInTheOmAroundThem) {
  const std::string bytes = borrowing_if(2).serialize();
  Executor model(Om::parse(bytes, nullptr, "model"), {});
  for (const bool go : {true, false}) {
    bool condition = go;
    std::vector<float> x = {1, -2}, y(2);
    const Tensor inputs[] = {{kCondition, &condition}, {floats({2}), x.data()}};
    Tensor outputs[] = {{floats({2}), y.data()}};
    model.run(inputs, outputs);
    EXPECT_EQ(y, go ? (std::vector<float>{2, -1}) : (std::vector<float>{6, 3}));
  }
}

TEST(OmBodies, WhoseWeightsAreTooFewOrTooManyAreRefused) {
  for (const std::size_t lent : {1, 3}) {
    const std::string bytes = borrowing_if(lent).serialize();
    try {
      Om::parse(bytes, nullptr, "model");
      FAIL() << lent;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::kOm);
      EXPECT_NE(std::string(error.what()).find("weights"), std::string::npos) << error.what();
    }
  }
}

TEST(OmBodies, AnExecutionRecordsEachTrip) {
  Executor model(two_loops(), {.first_op = 100});
  EXPECT_EQ(model.op_count(), 8);
  std::vector<float> x = {1, -2}, y(2);
  const Tensor inputs[] = {{floats({2}), x.data()}};
  Tensor outputs[] = {{floats({2}), y.data()}};
  profiler::drain();
  profiler::start();
  model.run(inputs, outputs);
  profiler::stop();
  EXPECT_EQ(y, (std::vector<float>{0, 0})) << "-1 and -2";
  std::map<std::uint32_t, int> calls;
  std::uint64_t end = 0;
  for (const profiler::Event& event : profiler::drain()) {
    if (event.kind != profiler::EventKind::kTask) continue;
    ++calls[profiler::op_index_of(event.value)];
    EXPECT_GE(event.begin_ticks, end) << "tasks lie beside each other";
    end = event.end_ticks;
  }
  // A loop of three trips has its own time before each and behind the last.
  EXPECT_EQ(calls,
            (std::map<std::uint32_t, int>{
                {100, 1}, {101, 4}, {102, 4}, {103, 3}, {104, 3}, {105, 3}, {106, 3}, {107, 3}}));
}

TEST(OmBodies, ABodyThatIsNoConstantIsRefused) {
  Om om = two_loops();
  om.steps[1].constants = {om.inputs[0]};
  EXPECT_THROW(op_count(om), Error);
}

/// Whose condition stays true, and which nothing counts.
Om idle_loop() {
  OmBuilder body("body");
  body.input("trip", kCount);
  const int goes_on = body.input("goes_on", kCondition);
  body.reference("Identity", {goes_on}, {body.output("still", kCondition)});
  body.reference("Identity", {body.input("x", kCount)}, {body.output("y", kCount)});
  OmBuilder b("endless");
  control(b, "Loop", {-1, b.weight<char>("start", kCondition, {1}), b.input("x", kCount)},
          {b.output("y", kCount)}, {add_body(b, "one", body.om)})
      .name = "forever";
  return b.om;
}

TEST(OmBodies, ALoopThatTakesTooLongEndsWhereThatIsAskedFor) {
  Executor model(idle_loop(), {.longest_loop_s = 0.05});
  std::int64_t x = 1, y = 0;
  const Tensor inputs[] = {{kCount, &x}};
  Tensor outputs[] = {{kCount, &y}};
  try {
    model.run(inputs, outputs);
    FAIL() << "it has an end";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ExitCode::kFailure);
    EXPECT_STREQ(e.what(), "op 'forever' (Loop): it still runs after 0.05 s");
  }
}

TEST(OmBodies, ALoopEndsWhenItsThreadIsAskedToStop) {
  Executor model(idle_loop(), {});
  std::stop_source stop;
  const StopScope scope(stop.get_token());
  const std::jthread later([&] { stop.request_stop(); });
  std::int64_t x = 1, y = 0;
  const Tensor inputs[] = {{kCount, &x}};
  Tensor outputs[] = {{kCount, &y}};
  try {
    model.run(inputs, outputs);
    FAIL() << "it has an end";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ExitCode::kInterrupted);
  }
}

#ifdef AOE_CAN_LIMIT_MEMORY

/// Whose condition stays true, and which nothing counts. It collects what it carries.
Om endless_loop(const TensorDesc& carried) {
  OmBuilder body("body");
  body.input("trip", kCount);
  const int goes_on = body.input("goes_on", kCondition);
  const int x = body.input("x", carried);
  body.reference("Identity", {goes_on}, {body.output("still", kCondition)});
  body.reference("Identity", {x}, {body.output("y", carried)});
  body.reference("Identity", {x}, {body.output("each", carried)});
  OmBuilder b("endless");
  TensorDesc all = carried;
  all.shape.insert(all.shape.begin(), kUnknownDim);
  control(b, "Loop", {-1, b.weight<char>("start", kCondition, {1}), b.input("x", carried)},
          {b.output("y", carried), b.dynamic_output("all", all)}, {add_body(b, "one", body.om)})
      .name = "forever";
  return b.om;
}

TEST(OmBodies, WhatALoopCollectsForEverEndsBeforeMemoryDoes) {
  constexpr std::int64_t kElements = 1 << 20;
  Executor model(endless_loop(floats({kElements})), {});
  std::vector<float> x(kElements), y(kElements);
  const Tensor inputs[] = {{floats({kElements}), x.data()}};
  Tensor outputs[] = {{floats({kElements}), y.data()}, {}};
  const MemoryLimit limit(std::uint64_t{400} << 20);
  try {
    model.run(inputs, outputs);
    FAIL() << "it has an end";
  } catch (const OutOfMemory& e) {
    const std::string what = e.what();
    EXPECT_EQ(what.find("op 'forever' (Loop): what it has collected in "), 0U) << what;
  }
}

#endif

}  // namespace
}  // namespace aoe::runtime::tests
