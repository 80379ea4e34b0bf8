// Mutants of oms of all kinds: gears, bodies, quantised, of 16 bits, of random operators. Each is refused when it is read or
// loaded, in one line, or it runs; nothing leaves its buffers, which end at pages that nobody may touch.
// AOE_FIRST_SEED=n and AOE_MUTANTS=n choose others, as for *OnnxMutants*. AOE_KEEP_OM=FILE.om writes the (last) mutant there.
#include "tests/robustness/om_mutants.h"

#include <gtest/gtest.h>

#include <iostream>
#include <map>
#include <memory>

#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "compiler/lowering/gear_split.h"
#include "graph/import/gears.h"
#include "graph/passes.h"
#include "runtime/backend.h"
#include "runtime/geared_executor.h"
#include "tests/compiler/compiled_model.h"
#include "tests/compiler/guarded_buffer.h"
#include "tests/compiler/machine_code.h"
#include "tests/compiler/random_candidates.h"
#include "tests/conformance/own_case.h"
#include "tests/graph/model_text.h"
#include "tests/robustness/crash_note.h"
#include "tests/robustness/model_draw.h"
#include "tests/robustness/random_control.h"
#include "tests/seeds.h"
#include "tests/temp_dir.h"

namespace aoe::tests {
namespace {

constexpr double kMostRunWork = 1e8;  ///< of a reference step: a mutant may ask for years
constexpr std::uint64_t kMostRunBytes = std::uint64_t{1} << 28;  ///< of a mutant that is run

using compiler::GuardedBuffer;
using runtime::GearedOm;
using runtime::Om;
using runtime::OmStep;

/// Convolutions of several algorithms, pooling, concatenation, a product, a table.
constexpr const char* kNetwork = R"(
  g (float[N,8,H,W] x) => (float[N,K] y, float[N,C,T,U] large)
    <float[16,8,3,3] w, float[16,8,1,1] v, float[32,5] m, float[4] scales = {1, 1, 2, 2}> {
    a = Conv <pads = [1,1,1,1]> (x, w)
    a2 = Relu (a)
    b = Conv (x, v)
    c = Concat <axis = 1> (a2, b)
    large = Resize <mode = "linear"> (c, , scales)
    p = GlobalAveragePool (c)
    f = Flatten (p)
    s = MatMul (f, m)
    y = Softmax <axis = 1> (s)
  })";

/// Rows that a mask chooses, in parts of several lengths.
constexpr const char* kRows = R"(
  g (float[50,6] x, bool[50] chosen) => (y, z) <float[6,8] w, float[2,1,3,3] k> {
    r = Compress <axis = 0> (x, chosen)
    a = MatMul (r, w)
    y = Softmax (a)
    image = Constant <value_ints = [-1, 1, 2, 4]> ()
    i = Reshape (a, image)
    c = Conv <pads = [1,1,1,1]> (i, k)
    z = Exp (c)
  })";

std::string compiled(graph::Graph graph, std::uint32_t seed) {
  Random random(seed);
  const auto socs = compiler::loopnest::test_socs();
  graph::run_passes(graph, {});
  auto options = compiler::options_for(socs[seed % socs.size()], 1 + static_cast<int>(seed % 2));
  if (seed % 3 != 0) options.fixed = compiler::random_candidates(graph, options.soc, random);
  return compiler::compile(graph, options).om.serialize();
}

std::string compiled_gears(const TempDir& directory) {
  const auto path = directory / "gears.onnx";
  write_file_atomically(path, model_bytes(kNetwork));
  const auto model =
      import_gears(path, graph::parse_gears(GearKind::kBatch, "1,3", "x:-1,8,12,12"));
  auto options = compiler::options_for(compiler::loopnest::test_socs().front(), 2);
  return compiler::om_model(compiler::compile(model.graph, options).om, model.gears).serialize();
}

/// What is mutated; made once.
const std::vector<std::string>& originals() {
  static const std::vector<std::string> oms = [] {
    const TempDir directory;
    std::vector<std::string> made = {compiled_gears(directory)};
    for (std::uint32_t seed = 1; seed <= 3; ++seed)
      made.push_back(
          compiled(import_text(kNetwork, 13, {.input_shapes = {{"x", {1, 8, 12, 12}}}}), seed));
    made.push_back(compiled(import_text(kRows), 1));
    for (const Shape& open : {Shape{kUnknownDim, 8, 12, 12}, Shape{1, 8, kUnknownDim, kUnknownDim}})
      made.push_back(compiled(import_text(kNetwork, 13, {.input_shapes = {{"x", open}}}), 1));
    for (const char* name :
         {"matmul_int4_blocks", "dequantize_int4_blocks", "attention_4d_float16", "if_true",
          "loop_cell", "loop_while_growing", "loop_in_if", "deform_conv", "flex_attention",
          "ml_label_encoder_of_texts", "ml_svm_classifier_probabilities_rbf", "ms_inverse_batch",
          "ms_dynamic_time_warping_real", "ms_qmoe_4_bits_16", "ms_sparse_attention_token"})
      made.push_back(
          compiled(import_bytes(read_file(conformance::load_own_case(name, directory.path()).model,
                                          ExitCode::kData)),
                   1));
    for (std::uint32_t seed = 1; seed <= 12; ++seed) {
      const onnx::ModelProto model = seed % 3 == 0 ? random_control_flow(seed) : random_onnx(seed);
      if (model.graph().output_size() > 0)
        made.push_back(compiled(import_bytes(model.SerializeAsString()), seed));
    }
    return made;
  }();
  return oms;
}

/// What is fed where a size is open.
TensorDesc with_open_sizes(TensorDesc desc) {
  constexpr std::int64_t kFed = 2;
  std::ranges::replace(desc.shape, kUnknownDim, kFed);
  return desc;
}

std::uint64_t bytes_of(const runtime::OmTensor& tensor) {
  if (tensor.place == runtime::Place::kInput) {
    const TensorDesc fed = with_open_sizes(tensor.desc);
    double bytes = static_cast<double>(size_bytes(fed.dtype));  // more than integers count, perhaps
    for (const std::int64_t dim : fed.shape) bytes *= static_cast<double>(dim);
    return static_cast<std::uint64_t>(std::min(bytes, static_cast<double>(kMostRunBytes)));
  }
  return is_static(tensor.desc.shape) ? storage_bytes(tensor.desc) : 0;
}

/// Whether a run ends soon, as far as can be told.
bool is_small(const Om& om) {
  std::uint64_t bytes = om.arena_bytes;
  for (const runtime::OmTensor& tensor : om.tensors)
    bytes += std::min(bytes_of(tensor), kMostRunBytes);
  if (bytes >= kMostRunBytes) return false;
  for (const OmStep& step : om.steps) {
    if (step.backend->traits().name != "reference") continue;
    std::vector<TensorDesc> inputs, outputs;
    for (const int id : step.inputs) inputs.push_back(id < 0 ? TensorDesc{} : om.tensors[id].desc);
    for (const int id : step.outputs)
      outputs.push_back(id < 0 ? TensorDesc{} : om.tensors[id].desc);
    const auto is_unknown = [](const TensorDesc& desc) { return !is_static(desc.shape); };
    if (std::ranges::any_of(inputs, is_unknown) || std::ranges::any_of(outputs, is_unknown))
      continue;
    if (reference::work(step.call, inputs, outputs) > kMostRunWork) return false;
  }
  return true;
}

/// Such an om may run for ever, as its values say; bodies for slices run as often as there are slices.
bool has_loops(const Om& om) {
  return std::ranges::any_of(om.steps, [](const OmStep& step) {
    return step.backend->traits().has_bodies && step.call.type != "MapSlices";
  });
}

void run(runtime::Executor& executor, std::mt19937& random) {
  std::vector<std::unique_ptr<GuardedBuffer>> memory;
  const auto guarded = [&](const TensorDesc& desc) -> Tensor {
    memory.push_back(std::make_unique<GuardedBuffer>(storage_bytes(desc)));
    const auto bytes = memory.back()->size_bytes();
    // Small numbers of any type: of indices and counts some are legal.
    for (std::size_t i = 0; i < bytes; ++i)
      memory.back()->as<char>()[i] =
          i % size_bytes(desc.dtype) == 0 ? static_cast<char>(random() % 3) : '\0';
    return {desc, memory.back()->as<void>()};
  };
  std::vector<Tensor> inputs, outputs;
  for (std::size_t i = 0; i < executor.input_count(); ++i) {
    inputs.push_back(guarded(with_open_sizes(executor.input(i).desc)));
  }
  for (std::size_t i = 0; i < executor.output_count(); ++i) {
    const TensorDesc& desc = executor.output(i).desc;
    outputs.push_back(is_static(desc.shape) ? guarded(desc) : Tensor{desc, nullptr});
  }
  executor.run(inputs, outputs);
}

/// How far it came.
const char* fate_of(const OmMutant& mutant, std::mt19937& random, std::string* why = nullptr) {
  const char* stage = "refused when read";
  try {
    const auto copy =
        std::make_shared<const std::vector<char>>(mutant.bytes.begin(), mutant.bytes.end());
    const GearedOm file = GearedOm::parse({copy->data(), copy->size()}, copy, "mutant.om");
    for (const Om& om : file.oms)
      if (!is_small(om)) return "too large to run";
    stage = "refused when loaded";
    std::vector<std::unique_ptr<GuardedBuffer>> arenas;
    std::vector<runtime::Executor> executors;
    executors.reserve(file.oms.size());
    for (const Om& om : file.oms) {
      arenas.push_back(std::make_unique<GuardedBuffer>((om.arena_bytes + 63) / 64 * 64));
      executors.emplace_back(
          om, runtime::ExecutorOptions{
                  .threads = std::min(om.threads, 3),
                  .arena = {arenas.back()->as<std::byte>(), arenas.back()->size_bytes()},
                  .sibling = executors.empty() ? nullptr : &executors.front()});
    }
    if (std::ranges::any_of(file.oms, has_loops)) return "loaded";
    stage = "refused its values";
    for (runtime::Executor& executor : executors) run(executor, random);
    return "ran";
  } catch (const Error& error) {
    if (why != nullptr) *why = error.what();
    const bool is_run = std::string(stage) == "refused its values";
    EXPECT_EQ(error.code(), is_run ? ExitCode::kFailure : ExitCode::kOm)
        << stage << ": " << error.what();
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
    return stage;
  } catch (const OutOfMemory&) {
    return "too large for this machine";
  }
}

class OmMutants : public testing::TestWithParam<std::uint32_t> {};

TEST_P(OmMutants, AreRefusedOrRunInTheirBuffers) {
  const Seeds seeds("AOE_MUTANTS", 1200);
  std::cout << seeds.text();
  std::map<std::string, int> fates;
  for (const std::uint32_t seed : seeds.of_shard(GetParam())) {
    std::mt19937 random(seed);
    const OmMutant mutant = mutate_om(originals()[random() % originals().size()], random);
    if (const char* const kept = std::getenv("AOE_KEEP_OM"))
      write_file_atomically(kept, mutant.bytes);
    const std::string name = seeds.again(seed) + ": " + mutant.what;
    SCOPED_TRACE(name);
    note_for_crash(name, kHangSeconds);
    try {
      ++fates[fate_of(mutant, random)];
    } catch (const std::exception& e) {
      ADD_FAILURE() << e.what();
    }
    if (testing::UnitTest::GetInstance()->current_test_info()->result()->total_part_count() > 5)
      break;
  }
  note_for_crash("behind the mutants", 0);
  for (const auto& [fate, count] : fates) std::cout << count << " " << fate << "\n";
  if (seeds.are_few()) return;
  EXPECT_GT(fates["refused when read"], 0);
  EXPECT_GT(fates["ran"], 0);
}
INSTANTIATE_TEST_SUITE_P(Shards, OmMutants, testing::Range(0u, Seeds::kShards));

/// Nothing is wrong with them, so that what is refused above is refused for its change.
TEST(OmMutants, AreMadeOfOmsThatLoadAndRun) {
  std::mt19937 random(1);
  for (std::size_t i = 0; i < originals().size(); ++i) {
    const OmMutant whole{.bytes = originals()[i]};
    std::string why;
    const std::string fate = fate_of(whole, random, &why);
    EXPECT_TRUE(fate == "ran" || fate == "loaded" || fate == "refused its values")
        << "om " << i << ": " << fate << ": " << why;
  }
}

}  // namespace
}  // namespace aoe::tests
