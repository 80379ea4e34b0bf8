// The executor on models put together by hand: reference steps, generated code on teams of threads,
// shapes found on the way, buffers of the caller, and the profile.
#include "runtime/executor.h"

#include <gtest/gtest.h>
#include <omp.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>
#include <numeric>

#include "base/descriptor.h"
#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "profiler/recorder.h"
#include "runtime/backend.h"
#include "runtime/jit_module.h"
#include "runtime/threads/host_cores.h"
#include "tests/runtime/memory_limit.h"
#include "tests/runtime/om_builder.h"

namespace aoe::runtime {
namespace {

using tests::counting;
using tests::floats;
using tests::OmBuilder;
using tests::small_om;

constexpr std::int64_t kCount = 1000;  // as in kernels.c

std::string kernels_code() {
  return read_file(AOE_TEST_KERNELS, ExitCode::kFailure);
}

/// Runs a model of one input and one output, both float.
std::vector<float> run_on(Executor& model, std::vector<float> x) {
  std::vector<float> y(static_cast<std::size_t>(element_count(model.output(0).desc.shape)));
  const Tensor inputs[] = {{model.input(0).desc, x.data()}};
  Tensor outputs[] = {{model.output(0).desc, y.data()}};
  model.run(inputs, outputs);
  return y;
}

ExitCode code_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& e) {
    return e.code();
  }
  return ExitCode::kSuccess;
}

TEST(Executor, RunsReferenceSteps) {
  OmBuilder b;
  b.om = small_om();
  b.om.code.clear();
  Executor model(b.om, {});
  EXPECT_EQ(run_on(model, {0, 0, 0, 0, 0, 0}), (std::vector<float>{1, 0, 3, 0, 5, 0}));
  EXPECT_EQ(run_on(model, {1, 3, -4, 5, -6, 7}), (std::vector<float>{2, 1, 0, 1, 0, 1}));
}

/// A chain of steps of one and of two stages, where each stage reads what other threads wrote in
/// the one before.
Om reversing_chain(int pairs_of_steps) {
  OmBuilder b;
  const int x = b.input("x", floats({kCount}));
  const int middle[2] = {b.arena("m0", floats({kCount})), b.arena("m1", floats({kCount}))};
  const int y = b.output("y", floats({kCount}));
  const int work = b.arena("work", floats({kCount}));
  int from = x;
  for (int i = 0; i < pairs_of_steps; ++i) {
    b.jit({{"reverse_plus_one", kCount}}, {from}, {middle[i % 2]});
    from = middle[i % 2];
  }
  b.jit({{"reverse_into_work", kCount}, {"reverse_from_work", kCount}}, {from}, {y}).workspace =
      work;
  b.om.code = kernels_code();
  return b.om;
}

TEST(Executor, StagesWaitForEachOther) {
  constexpr int kSteps = 50;
  std::vector<float> expected = counting(kCount);  // reversed an even number of times
  for (float& value : expected) value += kSteps + 2;
  for (const int threads : {1, 2, 3, 7}) {
    SCOPED_TRACE(std::to_string(threads) + " threads");
    Executor model(reversing_chain(kSteps), {.threads = threads});
    EXPECT_EQ(model.threads(), threads);
    for (int repeat = 0; repeat < 20; ++repeat)
      ASSERT_EQ(run_on(model, counting(kCount)), expected);
  }
}

TEST(Executor, RoundsOfAStageWaitForEachOther) {
  constexpr std::int64_t kRounds = 50;
  OmBuilder b;
  const int x = b.input("x", floats({kCount}));
  const int y = b.output("y", floats({kRounds * kCount}));
  b.jit({{"reverse_round_by_round", kCount, kRounds}}, {x}, {y});
  b.om.code = kernels_code();
  for (const int threads : {1, 2, 3, 7}) {
    Executor model(b.om, {.threads = threads});
    for (int repeat = 0; repeat < 20; ++repeat) {
      const std::vector<float> all = run_on(model, counting(kCount));
      // Reversed an even number of times.
      for (std::size_t i = 0; i < kCount; ++i)
        ASSERT_EQ(all[(kRounds - 1) * kCount + i], static_cast<float>(i + kRounds))
            << i << ", " << threads << " threads";
    }
  }
}

TEST(Executor, WorksWhereOpenMpGivesNoTeam) {
  Executor model(reversing_chain(2), {.threads = 4});
  std::vector<float> y;
#pragma omp parallel num_threads(2)
#pragma omp single
  y = run_on(model, counting(kCount));  // nested regions get one thread
  EXPECT_EQ(y[10], 14.0f);
}

TEST(Executor, PassesConstantsScratchAndSingleIterations) {
  for (const int threads : {1, 2, 5}) {
    OmBuilder b;
    const int x = b.input("x", floats({kCount}));
    const int w = b.weight<float>("w", floats({1}), {3});
    const int scaled = b.arena("scaled", floats({kCount}));
    const int y = b.output("y", floats({1}));
    OmStep& scale = b.jit({{"scale_by_constant", kCount}}, {x, -1}, {scaled});
    scale.constants = {w};
    scale.scratch_bytes = kCount * sizeof(float);
    b.jit({{"sum_all", 1}}, {scaled}, {y});
    b.om.code = kernels_code();
    Executor model(b.om, {.threads = threads});
    EXPECT_EQ(run_on(model, counting(kCount))[0], 3.0f * kCount * (kCount - 1) / 2);
  }
}

TEST(Executor, MixesGeneratedAndReferenceSteps) {
  OmBuilder b;
  const int x = b.input("x", floats({kCount}));
  const int reversed = b.arena("reversed", floats({kCount}));
  const int negated = b.arena("negated", floats({kCount}));
  const int y = b.output("y", floats({kCount}));
  b.jit({{"reverse_plus_one", kCount}}, {x}, {reversed});
  b.reference("Neg", {reversed}, {negated});
  b.jit({{"reverse_plus_one", kCount}}, {negated}, {y});
  b.om.code = kernels_code();
  Executor model(b.om, {.threads = 2});
  std::vector<float> expected = counting(kCount);
  for (float& value : expected) value = -(value + 1) + 1;
  EXPECT_EQ(run_on(model, counting(kCount)), expected);
}

TEST(Executor, SeveralModelsWithCodeLiveTogether) {
  // The loader knows shared objects by name: two of them must not be mistaken for one another.
  OmBuilder sum;
  const int x = sum.input("x", floats({kCount}));
  const int y = sum.output("y", floats({1}));
  sum.jit({{"sum_all", 1}}, {x}, {y});
  sum.om.code = kernels_code();
  auto first = std::make_unique<Executor>(sum.om, ExecutorOptions{});
  Executor second(reversing_chain(2), {});
  first.reset();
  Executor third(sum.om, {});
  EXPECT_EQ(run_on(second, counting(kCount))[0], 4.0f);
  EXPECT_EQ(run_on(third, counting(kCount))[0], kCount * (kCount - 1) / 2);
}

TEST(Executor, FindsShapesOnTheWay) {
  OmBuilder b;
  const int x = b.input("x", floats({2, 3}));
  const int relu = b.arena("relu", floats({2, 3}));
  const int where = b.dynamic("where", {.dtype = DataType::kInt64, .shape = {2, kUnknownDim}});
  const int y = b.dynamic_output("y", {.dtype = DataType::kInt64, .shape = {kUnknownDim, 2}});
  b.reference("Relu", {x}, {relu});
  b.reference("NonZero", {relu}, {where});
  b.reference("Transpose", {where}, {y});
  Executor model(b.om, {});
  EXPECT_EQ(model.output(0).desc.shape, (Shape{kUnknownDim, 2}));

  const auto positions_of = [&](std::vector<float> values) {
    const Tensor inputs[] = {{model.input(0).desc, values.data()}};
    Tensor outputs[] = {{model.output(0).desc, nullptr}};
    model.run(inputs, outputs);
    const auto* data = outputs[0].as<std::int64_t>();
    return std::pair(outputs[0].desc.shape,
                     std::vector<std::int64_t>(data, data + outputs[0].elements()));
  };
  using Positions = std::vector<std::int64_t>;
  EXPECT_EQ(positions_of({0, 1, -1, 2, 0, 0}), std::pair(Shape{2, 2}, Positions{0, 1, 1, 0}));
  EXPECT_EQ(positions_of({1, 1, 1, 1, 1, 1}).first, (Shape{6, 2}));
  EXPECT_EQ(positions_of({0, 0, 0, 0, 0, 0}), std::pair(Shape{0, 2}, Positions{}));
}

TEST(Executor, RefusesAResultThatIsNotAsLargeAsTheOmSays) {
  OmBuilder b;
  const int x = b.input("x", floats({2, 3}));
  const TensorDesc all{.dtype = DataType::kInt64, .shape = {2, 6}};
  b.reference("NonZero", {x}, {b.dynamic_output("y", all)});
  Executor model(b.om, {});
  const auto run = [&](std::vector<float> values) {
    std::vector<std::int64_t> places(12);
    const Tensor inputs[] = {{model.input(0).desc, values.data()}};
    Tensor outputs[] = {{all, places.data()}};
    model.run(inputs, outputs);
    return places;
  };
  EXPECT_EQ(run({1, 1, 1, 1, 1, 1}).back(), 2);
  EXPECT_THROW(run({0, 1, 0, 0, 0, 0}), Error);
}

/// Indices 2 x 3 into what has a column for each number of x that is not 0.
Om gathering_om(const std::string& backend_name) {
  OmBuilder b;
  const TensorDesc indices{.dtype = DataType::kInt64, .shape = {2, 3}};
  const int x = b.input("x", floats({2, 3}));
  const int where = b.dynamic("where", {.dtype = DataType::kInt64, .shape = {2, kUnknownDim}});
  const int which = b.weight<std::int64_t>("which", indices, std::vector<std::int64_t>(6));
  const int y = b.output("y", indices);
  b.reference("NonZero", {x}, {where});
  b.reference("GatherElements", {where, which}, {y}).backend = &backend(backend_name);
  return b.om;
}

/// What a step gives may have its size whatever it reads, which then must fit all the same.
TEST(Executor, ComparesSizesThatOnlyARunTells) {
  for (const char* backend_name : {"reference", "native"}) {
    Executor model(gathering_om(backend_name), {});
    const auto code_with = [&](std::vector<float> values) {
      std::vector<std::int64_t> got(6);
      const Tensor inputs[] = {{model.input(0).desc, values.data()}};
      Tensor outputs[] = {{model.output(0).desc, got.data()}};
      return code_of([&] { model.run(inputs, outputs); });
    };
    EXPECT_EQ(code_with({1, 0, 1, 0, 0, 1}), ExitCode::kSuccess) << backend_name;
    EXPECT_EQ(code_with({0, 0, 0, 0, 0, 1}), ExitCode::kFailure) << backend_name;
    EXPECT_EQ(code_with({0, 0, 0, 0, 0, 0}), ExitCode::kFailure) << backend_name;
  }
}

/// Its result has a size whatever it reads, so only a look at what is given tells that it cannot be made.
TEST(Executor, ComparesSizesThatItsCallersGive) {
  OmBuilder b("flat");
  const int x = b.input("x", floats({kUnknownDim}));
  const int one = b.weight<std::int64_t>("one", {.dtype = DataType::kInt64, .shape = {1}}, {1});
  b.reference("Reshape", {x, one}, {b.output("y", floats({1}))});
  Executor model(b.om, {});
  std::vector<float> values(2), result(1);
  Tensor outputs[] = {{floats({1}), result.data()}};
  const Tensor fits[] = {{floats({1}), values.data()}}, too_long[] = {{floats({2}), values.data()}};
  model.run(fits, outputs);
  try {
    model.run(too_long, outputs);
    FAIL() << "ran";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::kFailure) << error.what();
  }
}

TEST(Executor, HandsOverOutputsThatNoStepWrites) {
  OmBuilder b;
  const int x = b.input("x", floats({2}));
  const int w = b.weight<float>("w", floats({2}), {8, 9});
  const int y = b.output("y", floats({2}));
  b.reference("Neg", {x}, {y});
  b.om.outputs = {y, x, w, y};  // besides y: an input, a constant, and y again
  Executor model(b.om, {});
  std::vector<float> given{1, 2};
  std::vector<std::vector<float>> got(4, std::vector<float>(2));
  const Tensor inputs[] = {{floats({2}), given.data()}};
  std::vector<Tensor> outputs;
  for (std::vector<float>& each : got) outputs.push_back({floats({2}), each.data()});
  model.run(inputs, outputs);
  EXPECT_EQ(got, (std::vector<std::vector<float>>{{-1, -2}, {1, 2}, {8, 9}, {-1, -2}}));
}

TEST(Executor, RefusesBuffersThatDoNotFit) {
  Om om = small_om();
  om.code.clear();
  Executor model(om, {});
  std::vector<float> bytes(12);
  const Tensor good{floats({2, 3}), bytes.data()};
  const auto run = [&](std::vector<Tensor> inputs, std::vector<Tensor> outputs) {
    return code_of([&] { model.run(inputs, outputs); });
  };
  const Tensor bad[] = {{floats({3, 2}), bytes.data()},
                        {floats({6}), bytes.data()},
                        {{.dtype = DataType::kInt32, .shape = {2, 3}}, bytes.data()},
                        {floats({2, 3}), nullptr}};
  for (const Tensor& each : bad) {
    EXPECT_EQ(run({each}, {good}), ExitCode::kData) << to_string(each.desc);
    EXPECT_EQ(run({good}, {each}), ExitCode::kData) << to_string(each.desc);
  }
  EXPECT_EQ(run({}, {good}), ExitCode::kData);
  EXPECT_EQ(run({good}, {good, good}), ExitCode::kData);
  EXPECT_EQ(run({good}, {good}), ExitCode::kSuccess);
}

TEST(Executor, NamesTheStepThatRefusesItsValues) {
  OmBuilder b;
  const int x = b.input("x", floats({2}));
  const int shape = b.input("shape", {.dtype = DataType::kInt64, .shape = {1}});
  const int y = b.dynamic_output("y", floats({kUnknownDim}));
  b.reference("Reshape", {x, shape}, {y});
  Executor model(b.om, {});
  float values[2] = {};
  std::int64_t wanted = 5;
  const Tensor inputs[] = {{floats({2}), values}, {model.input(1).desc, &wanted}};
  Tensor outputs[] = {{floats({kUnknownDim}), nullptr}};
  try {
    model.run(inputs, outputs);
    FAIL() << "two elements reshaped to five";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ExitCode::kFailure);
    EXPECT_NE(std::string(e.what()).find("step0_Reshape"), std::string::npos) << e.what();
  }
}

TEST(Executor, RefusesCodeThatDoesNotLoad) {
  Om chain = reversing_chain(1);
  chain.steps[0].stages[0].symbol = "no_such_function";
  EXPECT_EQ(code_of([&] { Executor(chain, {}); }), ExitCode::kOm);
  chain = reversing_chain(1);
  chain.code = "not an ELF file";
  EXPECT_EQ(code_of([&] { Executor(chain, {}); }), ExitCode::kOm);
  chain.code.clear();
  EXPECT_EQ(code_of([&] { Executor(chain, {}); }), ExitCode::kOm);
}

TEST(Executor, ThreadsComeFromOptionThenEnvironmentThenOm) {
  Om om = small_om();
  om.code.clear();
  om.threads = 3;
  const int compiled = std::min(3, host_cores().usable());  // no more than have a core
  ::unsetenv("OMP_NUM_THREADS");
  EXPECT_EQ(Executor(om, {}).threads(), compiled);
  ::setenv("OMP_NUM_THREADS", "5,2", 1);
  EXPECT_EQ(Executor(om, {}).threads(), 5);
  EXPECT_EQ(Executor(om, {.threads = 2}).threads(), 2);
  ::setenv("OMP_NUM_THREADS", "many", 1);
  EXPECT_EQ(Executor(om, {}).threads(), compiled);
  ::unsetenv("OMP_NUM_THREADS");
}

TEST(Executor, LeavesTheCallersThreadCountAlone) {
  omp_set_num_threads(2);
  Executor model(reversing_chain(1), {.threads = 3});
  run_on(model, counting(kCount));
  EXPECT_EQ(omp_get_max_threads(), 2);
}

TEST(Executor, RecordsOneTaskPerStep) {
  for (const int threads : {1, 2}) {
    Om om = reversing_chain(3);
    om.steps.insert(om.steps.begin() + 1, om.steps[0]);  // the same work twice
    om.steps[1].backend = &backend("reference");
    om.steps[1].call.type = "Neg";
    om.steps[1].name = "neg";
    Executor model(om, {.threads = threads});
    profiler::stop();
    profiler::drain();
    profiler::start();
    run_on(model, counting(kCount));
    profiler::stop();
    const std::vector<profiler::Event> events = profiler::drain();
    ASSERT_EQ(events.size(), om.steps.size());
    for (std::size_t i = 0; i < events.size(); ++i) {
      EXPECT_EQ(events[i].kind, profiler::EventKind::kTask);
      EXPECT_EQ(events[i].value, i);
      EXPECT_EQ(profiler::name_of(events[i].name_id), om.steps[i].name);
      EXPECT_LE(events[i].begin_ticks, events[i].end_ticks);
      if (i > 0) {
        EXPECT_LE(events[i - 1].end_ticks, events[i].begin_ticks);
      }
    }
  }
}

#ifdef AOE_CAN_LIMIT_MEMORY

TEST(Executor, AsksForWhatTheReferenceComputesIn) {
  constexpr std::int64_t kElements = 1 << 25;
  const TensorDesc desc{.dtype = DataType::kFloat16, .shape = {1, kElements}};
  OmBuilder b("wide");
  b.reference("LpNorm", {b.input("x", desc)}, {b.output("y", desc)}).name = "norm";
  Executor model(b.om, {});
  std::vector<std::uint16_t> x(kElements), y(kElements);
  const Tensor inputs[] = {{desc, x.data()}};
  Tensor outputs[] = {{desc, y.data()}};
  const tests::MemoryLimit limit(std::uint64_t{200} << 20);
  try {
    model.run(inputs, outputs);
    FAIL() << "it needs 256 MiB for the numbers that it reads";
  } catch (const OutOfMemory& e) {
    const std::string what = e.what();
    EXPECT_EQ(what.find("op 'norm' (LpNorm): its numbers in float64: needs 256 MiB"), 0U) << what;
  }
}

/// The code is as sound as it was.
TEST(Executor, CodeWithoutRoomInMemoryIsNoDamagedOm) {
  const std::string code = kernels_code();
  const tests::MemoryLimit limit(0);
  try {
    const JitModule module(code, "m.om");
    FAIL() << "it was loaded";
  } catch (const OutOfMemory& e) {
    const std::string what = e.what();
    EXPECT_EQ(what.find("m.om: its generated code: no room for "), 0U) << what;
  }
}

TEST(Executor, CodeWithoutDescriptorsIsNoDamagedOm) {
  const std::string code = kernels_code();
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  std::string what;
  for (const int left : {0, 1}) {
    const Descriptor next(::dup(0));  // the lowest that is free
    rlimit limit = before;
    limit.rlim_cur = static_cast<rlim_t>(next.number()) + 1 + static_cast<rlim_t>(left);
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &limit), 0);
    try {
      const JitModule module(code, "m.om");
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ExitCode::kFailure);
      what = e.what();
    }
    ::setrlimit(RLIMIT_NOFILE, &before);
    EXPECT_NE(what.find("Too many open files"), std::string::npos) << left << ": " << what;
  }
}

#endif

}  // namespace
}  // namespace aoe::runtime
