// Mutants of models of single operators, of a few, of make_model's networks and of tests/conformance/cases: each is imported or refused in one line,
// and what is imported passes, compiles and runs; nothing crashes, hangs or is a bug of ours by its own words.
// AOE_FIRST_SEED=n and AOE_MUTANTS=n choose others: one seed is AOE_FIRST_SEED=n AOE_MUTANTS=1, shard 0.
// AOE_KEEP_MODEL=FILE.onnx writes the (last) mutant there.
#include "tests/robustness/onnx_mutants.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>

#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "graph/evaluation.h"
#include "graph/import/onnx_import.h"
#include "graph/passes.h"
#include "runtime/executor.h"
#include "tests/compiler/compiled_model.h"
#include "tests/compiler/machine_code.h"
#include "tests/conformance/own_case.h"
#include "tests/graph/interpret.h"
#include "tests/graph/model_text.h"
#include "tests/robustness/crash_note.h"
#include "tests/robustness/model_draw.h"
#include "tests/seeds.h"
#include "tests/temp_dir.h"
#include "tools/make_model/models.h"

namespace aoe::tests {
namespace {

constexpr double kMostWork = 2e8;  ///< of a run: a mutant may ask for years

const std::vector<onnx::ModelProto>& networks() {
  static const std::vector<onnx::ModelProto> models = [] {
    std::vector<onnx::ModelProto> written;
    for (const make_model::Model& model : make_model::models()) {
      const make_model::ModelOptions small = {
          .batch = 1, .image = 64, .sequence = 5, .is_small = true};
      make_model::OnnxWriter writer(model.name, {.opset = model.opset, .seed = small.seed});
      model.write(writer, small);
      written.emplace_back().ParseFromString(writer.serialize());
    }
    return written;
  }();
  return models;
}

const std::vector<onnx::ModelProto>& cases() {
  static const std::vector<onnx::ModelProto> models = [] {
    std::vector<onnx::ModelProto> written;
    const TempDir directory;
    for (const std::string& name : conformance::own_case_names())
      written.emplace_back().ParseFromString(
          read_file(conformance::load_own_case(name, directory.path()).model, ExitCode::kData));
    return written;
  }();
  return models;
}

struct Original {
  onnx::ModelProto model;
  bool compiles;  ///< in no time
};

Original original_of(std::uint32_t seed, std::mt19937& random) {
  switch (seed % 8) {
    case 0:
      return {networks()[random() % networks().size()], false};
    case 1:
      return {cases()[random() % cases().size()], true};
    default:
      return {random_onnx(seed), true};
  }
}

/// How much work and memory a run would be.
bool is_small(const graph::Graph& graph) {
  double work = 0;
  for (const graph::ValueId input : graph.inputs) {  // drawn, whether a node reads them or not
    const Shape& shape = graph.values[input].desc.shape;
    if (is_static(shape)) work += static_cast<double>(element_count(shape));
  }
  for (const graph::NodeId id : graph.topological_order()) {
    const graph::Node& node = graph.nodes[id];
    std::vector<Tensor> inputs;
    std::vector<TensorDesc> outputs;
    for (const graph::ValueId input : node.inputs)
      inputs.push_back(input == graph::kNone ? Tensor{}
                                             : Tensor{graph.values[input].desc, nullptr});
    for (const graph::ValueId output : node.outputs)
      if (output != graph::kNone) outputs.push_back(graph.values[output].desc);
    work += graph::evaluation_work(node.op, inputs, outputs);
  }
  return work < kMostWork;
}

bool has_bodies(const graph::Graph& graph) {
  return std::ranges::any_of(graph.nodes, [](const auto& node) { return !node.bodies.empty(); });
}

void run(const runtime::Om& om, const graph::Graph& graph) {
  runtime::Executor executor(om, {.threads = 2});
  std::vector<Tensor> inputs, outputs;
  const auto values = random_inputs(graph, 1);
  for (const ConstantPtr& value : values) inputs.push_back(value->view());
  std::vector<std::shared_ptr<Constant>> memory;
  for (std::size_t i = 0; i < executor.output_count(); ++i) {
    outputs.push_back({executor.output(i).desc, nullptr});
    if (!is_static(outputs.back().desc.shape)) continue;
    memory.push_back(std::make_shared<Constant>(outputs.back().desc));
    outputs.back().data = memory.back()->mutable_data();
  }
  executor.run(inputs, outputs);
}

/// How far it came.
const char* fate_of(const std::string& bytes, bool compiles, std::uint32_t seed) {
  const char* stage = "refused by the import";
  try {
    graph::Graph graph = import_bytes(bytes);
    stage = "refused by the passes";
    graph::run_passes(graph, {});
    if (!compiles) return "passed";
    if (has_bodies(graph)) return "has bodies, which may run for ever";
    if (!is_small(graph)) return "too large to run";
    stage = "refused by the compiler";
    const auto socs = compiler::loopnest::test_socs();
    const auto om = compiler::compile(graph, compiler::options_for(socs[seed % socs.size()], 2)).om;
    stage = "refused its inputs";
    run(om, graph);
    return "ran";
  } catch (const Error& error) {
    EXPECT_TRUE(error.code() == ExitCode::kModel || error.code() == ExitCode::kFailure)
        << stage << ": " << error.what();
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
    return stage;
  } catch (const OutOfMemory&) {
    return "too large for this machine";
  }
}

class OnnxMutants : public testing::TestWithParam<std::uint32_t> {};

TEST_P(OnnxMutants, AreRefusedOrRun) {
  const Seeds seeds("AOE_MUTANTS", 300);
  std::cout << seeds.text();
  std::map<std::string, int> fates;
  for (const std::uint32_t seed : seeds.of_shard(GetParam())) {
    std::mt19937 random(seed);
    Original original = original_of(seed, random);
    const std::string what = mutate(original.model, random);
    const std::string bytes = original.model.SerializeAsString();
    if (const char* const kept = std::getenv("AOE_KEEP_MODEL")) write_file_atomically(kept, bytes);
    const std::string name = seeds.again(seed) + ": " + what;
    SCOPED_TRACE(name);
    note_for_crash(name, kHangSeconds);
    try {
      ++fates[fate_of(bytes, original.compiles, seed)];
    } catch (const std::exception& e) {
      ADD_FAILURE() << e.what();
    }
    if (HasFailure()) break;
  }
  note_for_crash("behind the mutants", 0);
  for (const auto& [fate, count] : fates) std::cout << count << " " << fate << "\n";
  if (seeds.are_few()) return;
  EXPECT_GT(fates["refused by the import"], 0);
  EXPECT_GT(fates["ran"], 0);
}
INSTANTIATE_TEST_SUITE_P(Shards, OnnxMutants, testing::Range(0u, Seeds::kShards));

}  // namespace
}  // namespace aoe::tests
