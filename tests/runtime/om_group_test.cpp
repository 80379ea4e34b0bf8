// Groups of steps in an om: written and read, refused when they are not independent, run side by
// side with the same results, and recorded one step behind the other.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <numeric>

#include "base/error.h"
#include "base/file.h"
#include "profiler/recorder.h"
#include "runtime/executor.h"
#include "tests/runtime/om_builder.h"

namespace aoe::runtime {
namespace {

using tests::floats;
using tests::OmBuilder;

constexpr std::int64_t kCount = 1000;  // as in kernels.c

/// Three branches behind one step and before one join: of one stage, of two, of one iteration.
Om branches(GroupShare share) {
  OmBuilder b("branches");
  const int x = b.input("x", floats({kCount}));
  const int first = b.arena("first", floats({kCount}));
  const int one = b.arena("one", floats({kCount}));
  const int two = b.arena("two", floats({kCount}));
  const int sum = b.arena("sum", floats({1}));
  const int work = b.arena("work", floats({kCount}));
  const int half = b.arena("half", floats({kCount}));
  const int y = b.output("y", floats({kCount}));
  b.jit({{"reverse_plus_one", kCount}}, {x}, {first});
  b.jit({{"reverse_plus_one", kCount}}, {first}, {one});
  b.jit({{"reverse_into_work", kCount}, {"reverse_from_work", kCount}}, {first}, {two}).workspace =
      work;
  b.jit({{"sum_all", 1}}, {first}, {sum});
  b.reference("Add", {one, two}, {half});
  b.reference("Add", {half, sum}, {y});
  b.om.groups = {{{1, 2, 3}, {10, 20, 8}, share}};
  b.om.code = read_file(AOE_TEST_KERNELS, ExitCode::kFailure);
  return b.om;
}

/// What branches() makes of x = 0, 1, 2 ...
std::vector<float> expected_result() {
  std::vector<float> y(kCount);
  const float sum = static_cast<float>(kCount) * (kCount + 1) / 2;
  for (std::int64_t i = 0; i < kCount; ++i) {
    const auto one = static_cast<float>(i + 2);
    const auto two = static_cast<float>(kCount - i + 2);
    y[static_cast<std::size_t>(i)] = one + two + sum;
  }
  return y;
}

std::vector<float> run(Executor& model) {
  std::vector<float> x(kCount), y(kCount);
  std::iota(x.begin(), x.end(), 0.0f);
  const Tensor inputs[] = {{model.input(0).desc, x.data()}};
  Tensor outputs[] = {{model.output(0).desc, y.data()}};
  model.run(inputs, outputs);
  return y;
}

Om parsed(const Om& om) {
  const std::string bytes = om.serialize();
  void* const memory = std::aligned_alloc(4096, (bytes.size() + 4095) / 4096 * 4096);
  std::memcpy(memory, bytes.data(), bytes.size());
  return Om::parse({static_cast<const char*>(memory), bytes.size()},
                   std::shared_ptr<const void>(memory, std::free), "groups.om");
}

TEST(OmGroup, ComputesWhatItsStepsDoOneAfterAnother) {
  Om plain = branches(GroupShare::kCutEach);
  plain.groups.clear();
  Executor one_after_another(plain, {.threads = 2});
  ASSERT_EQ(run(one_after_another), expected_result());
  for (const GroupShare share : {GroupShare::kCutEach, GroupShare::kCutList}) {
    for (const int threads : {1, 2, 4}) {
      Executor model(branches(share), {.threads = threads});
      for (int repeat = 0; repeat < 50; ++repeat) ASSERT_EQ(run(model), expected_result());
    }
  }
}

TEST(OmGroup, WorksWhereOpenMpGivesNoTeam) {
  Executor model(branches(GroupShare::kCutList), {.threads = 4});
  std::vector<float> y;
#pragma omp parallel num_threads(2)
#pragma omp single
  y = run(model);  // nested regions get one thread
  EXPECT_EQ(y, expected_result());
}

TEST(OmGroup, RecordsItsStepsBackToBack) {
  for (const GroupShare share : {GroupShare::kCutEach, GroupShare::kCutList}) {
    Om om = branches(share);
    om.steps.resize(4);  // the group ends the parallel region
    om.outputs.clear();
    om.tensors.pop_back();
    Executor model(om, {.threads = 2});
    std::vector<float> x(kCount, 1.0f);
    const Tensor inputs[] = {{model.input(0).desc, x.data()}};
    profiler::stop();
    profiler::drain();
    profiler::start();
    model.run(inputs, {});
    profiler::stop();
    const std::vector<profiler::Event> events = profiler::drain();
    ASSERT_EQ(events.size(), 4u);
    for (std::size_t i = 0; i < events.size(); ++i) {
      EXPECT_EQ(profiler::op_index_of(events[i].value), i);
      EXPECT_EQ(profiler::name_of(events[i].name_id), om.steps[i].name);
      EXPECT_LE(events[i].begin_ticks, events[i].end_ticks);
      if (i > 0) {
        EXPECT_EQ(events[i].begin_ticks, events[i - 1].end_ticks);
      }
    }
  }
}

TEST(OmGroup, IsReadBackAsWritten) {
  const Om om = parsed(branches(GroupShare::kCutList));
  ASSERT_EQ(om.groups.size(), 1u);
  EXPECT_EQ(om.groups[0].steps, (std::vector<int>{1, 2, 3}));
  EXPECT_EQ(om.groups[0].costs, (std::vector<double>{10, 20, 8}));
  EXPECT_EQ(om.groups[0].share, GroupShare::kCutList);
  Om older = branches(GroupShare::kCutList);
  older.groups.clear();  // then the section does not name groups at all
  EXPECT_TRUE(parsed(older).groups.empty());
}

TEST(OmGroup, IsRefusedWhenItsStepsAreNotIndependent) {
  struct Case {
    const char* cause;
    std::function<void(Om&)> spoil;
  };
  constexpr int kX = 0, kFirst = 1, kOne = 2, kTwo = 3, kSum = 4, kWork = 5;  // tensor ids
  const Case cases[] = {
      {"fewer than two steps",
       [](Om& om) {
         om.groups[0] = {{1}, {1.0}};
       }},
      {"cost of each step", [](Om& om) { om.groups[0].costs.pop_back(); }},
      {"not positive", [](Om& om) { om.groups[0].costs[1] = 0; }},
      {"not positive", [](Om& om) { om.groups[0].costs[1] = NAN; }},
      {"out of order",
       [](Om& om) {
         om.groups[0].steps = {2, 1, 3};
       }},
      {"out of order",
       [](Om& om) {
         om.groups[0].steps = {1, 1, 3};
       }},
      {"names step 99",
       [](Om& om) {
         om.groups[0].steps = {1, 2, 99};
       }},
      {"names step -1",
       [](Om& om) {
         om.groups[0].steps = {-1, 2, 3};
       }},
      {"no generated code",
       [](Om& om) {
         om.groups[0].steps = {1, 2, 4};
       }},
      {"in its middle",
       [](Om& om) {
         om.groups[0] = {{1, 3}, {1, 1}};
       }},
      {"another group",
       [](Om& om) {
         om.groups[0] = {{1, 2}, {1, 1}};
         om.groups.push_back({{2, 3}, {1, 1}});
       }},
      {"uses what it writes", [](Om& om) { om.steps[2].inputs = {kOne}; }},
      {"uses what it writes", [](Om& om) { om.steps[1].inputs = {kSum}; }},
      {"uses what it writes", [](Om& om) { om.steps[3].outputs = {kTwo}; }},
      {"uses what it writes",
       [](Om& om) { om.tensors[kTwo].offset = om.tensors[kOne].offset + 64; }},
      {"uses what it writes", [](Om& om) { om.tensors[kWork].offset = om.tensors[kFirst].offset; }},
      {"uses what it writes", [](Om& om) { om.steps[3].workspace = kWork; }},
      {"uses what it writes",
       [](Om& om) {
         om.steps[1].outputs = {kX};
         om.steps[2].inputs = {kX};
       }},
  };
  EXPECT_NO_THROW(parsed(branches(GroupShare::kCutEach)));
  for (const Case& each : cases) {
    SCOPED_TRACE(each.cause);
    Om om = branches(GroupShare::kCutEach);
    each.spoil(om);
    try {
      parsed(om);
      ADD_FAILURE() << "was accepted";
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ExitCode::kOm);
      EXPECT_NE(std::string(e.what()).find(each.cause), std::string::npos) << e.what();
    }
  }
}

TEST(OmGroup, MayHaveStepsThatDoNothingInItsMiddle) {
  Om om = branches(GroupShare::kCutEach);
  om.steps.insert(om.steps.begin() + 2, om.steps[1]);
  om.steps[2].kind = StepKind::kNone;
  om.steps[2].stages.clear();
  om.groups[0].steps = {1, 3, 4};
  Executor model(om, {.threads = 2});
  EXPECT_EQ(run(model), expected_result());
}

}  // namespace
}  // namespace aoe::runtime
