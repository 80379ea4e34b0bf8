// Models with gears: compiled as one graph, split into an om per gear, each of which computes what
// the model does at that size. And the section of weights that they share.
#include "graph/import/gears.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <set>
#include <stdexcept>

#include "base/file.h"
#include "compiler/compiler.h"
#include "compiler/lowering/gear_split.h"
#include "compiler/lowering/weights_section.h"
#include "runtime/aligned_memory.h"
#include "runtime/geared_executor.h"
#include "tests/compiler/compiled_model.h"
#include "tests/graph/interpret.h"
#include "tests/graph/model_text.h"
#include "tests/temp_dir.h"

namespace aoe::compiler {
namespace {

using graph::GearedGraph;
using runtime::GearedOm;
using runtime::Om;

/// Branches, a concatenation that may need no copy, a view, a table that does not depend on the gear,
/// an output that other nodes read, and one that is a constant.
constexpr const char* kModel = R"(
  g (float[N,8,H,W] x) => (float[N,K] y, float[N,16,H,W] both, float[3] fixed)
    <float[16,8,3,3] w, float[16,8,1,1] v, float[32,5] m, float[3] table> {
    a = Conv <pads = [1,1,1,1]> (x, w)
    a2 = Relu (a)
    b = Conv (x, v)
    both = Add (a2, b)
    c = Concat <axis = 1> (both, a2)
    p = GlobalAveragePool (c)
    f = Flatten (p)
    s = MatMul (f, m)
    y = Softmax <axis = 1> (s)
    fixed = Identity (table)
  })";

class CompiledGears : public testing::Test {
 protected:
  CompiledGears() { write_file_atomically(path_, aoe::tests::model_bytes(kModel)); }

  GearedGraph import(GearKind kind, const std::string& values, const std::string& shapes) const {
    return aoe::tests::import_gears(path_, graph::parse_gears(kind, values, shapes));
  }
  /// The same gear without the others.
  graph::Graph alone(const Shape& shape, bool has_passes) const {
    graph::ImportOptions options;
    options.input_shapes["x"] = shape;
    graph::Graph graph = graph::import_onnx(path_, options);
    if (has_passes) graph::run_passes(graph, {});
    return graph;
  }
  GearedOm compiled(const GearedGraph& model) const {
    return loaded(om_model(compile(model.graph, options_).om, model.gears).serialize());
  }
  static GearedOm loaded(const std::string& bytes) {
    const auto copy = std::make_shared<const runtime::AlignedMemory>(bytes.size());
    std::memcpy(copy->data(), bytes.data(), bytes.size());
    return GearedOm::parse({static_cast<const char*>(copy->data()), bytes.size()}, copy, "test.om");
  }

  const aoe::tests::TempDir dir_;
  const std::filesystem::path path_ = dir_ / "m.onnx";
  const CompileOptions options_ = options_for(detect_soc(2), 2);
};

void expect_gear_like_reference(runtime::Executor& executor, const graph::Graph& meaning,
                                const std::string& what) {
  const auto inputs = aoe::tests::random_inputs(meaning, 3);
  const auto expected = aoe::tests::interpret(meaning, inputs);
  std::vector<Tensor> given, got;
  std::vector<std::unique_ptr<Constant>> memory;
  for (const ConstantPtr& input : inputs) given.push_back(input->view());
  for (std::size_t i = 0; i < executor.output_count(); ++i) {
    memory.push_back(std::make_unique<Constant>(executor.output(i).desc));
    got.push_back(memory.back()->view());
  }
  executor.run(given, got);
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    ASSERT_EQ(got[i].desc.shape, expected[i]->desc().shape) << what;
    const auto* wanted = static_cast<const float*>(expected[i]->data());
    for (std::int64_t e = 0; e < got[i].elements(); ++e)
      ASSERT_NEAR(got[i].as<float>()[e], wanted[e], 1e-4 * (1 + std::abs(wanted[e])))
          << what << ", output " << i << ", element " << e;
  }
}

TEST_F(CompiledGears, ComputeWhatTheModelDoesAtEachSize) {
  const GearedGraph model = import(GearKind::kDims, "1,9,7;3,6,6;2,12,5", "x:-1,8,-1,-1");
  runtime::GearedExecutor executor(compiled(model), {.threads = 2});
  for (const std::size_t gear : {0u, 1u, 2u, 0u}) {
    const Shape& shape = executor.gear(gear).input(0).desc.shape;
    expect_gear_like_reference(executor.gear(gear), alone(shape, false),
                               "gear " + to_string(shape));
  }
}

TEST_F(CompiledGears, SayOfTheMachineWhatAnOmOfOneShapeSays) {
  const GearedOm model = compiled(import(GearKind::kBatch, "1,3", "x:-1,8,6,6"));
  const Om one = loaded(compile(alone({3, 8, 6, 6}, true), options_).om.serialize()).oms[0];
  for (const Om& gear : model.oms) {
    EXPECT_EQ(gear.peak_gflops, one.peak_gflops);
    EXPECT_EQ(gear.memory_gb_s, one.memory_gb_s);
    EXPECT_EQ(gear.has_measured_roofs, one.has_measured_roofs);
    EXPECT_EQ(gear.isa, one.isa);
    EXPECT_EQ(gear.threads, one.threads);
    EXPECT_EQ(gear.c0, one.c0);
  }
}

TEST_F(CompiledGears, AreNamedAsTheModelIs) {
  const GearedOm model = compiled(import(GearKind::kBatch, "1,3", "x:-1,8,6,6"));
  const Om one = loaded(compile(alone({3, 8, 6, 6}, true), options_).om.serialize()).oms[0];
  const Om& gear = model.oms[1];
  EXPECT_EQ(gear.tensors[gear.inputs[0]].name, "x");
  ASSERT_EQ(gear.steps.size(), one.steps.size());
  for (std::size_t i = 0; i < one.steps.size(); ++i) {
    EXPECT_EQ(gear.steps[i].name, one.steps[i].name);
    EXPECT_EQ(gear.steps[i].origins, one.steps[i].origins);
  }
  ASSERT_EQ(gear.outputs.size(), one.outputs.size());
  for (std::size_t i = 0; i < one.outputs.size(); ++i)
    EXPECT_EQ(gear.tensors[gear.outputs[i]].name, one.tensors[one.outputs[i]].name);
  EXPECT_EQ(gear.tuning.at("nodes"), one.tuning.at("nodes"));
}

TEST_F(CompiledGears, StoreCommonWeightsOnce) {
  const GearedOm model = compiled(import(GearKind::kBatch, "2,3", "x:-1,8,6,6"));
  const Om two = compile(alone({2, 8, 6, 6}, true), options_).om;
  const Om three = compile(alone({3, 8, 6, 6}, true), options_).om;
  EXPECT_GE(model.oms[0].weights_view.size(), two.weights.size());
  EXPECT_LT(model.oms[0].weights_view.size(), two.weights.size() + three.weights.size());
}

TEST_F(CompiledGears, NeedLittleMoreMemoryThanTheLargest) {
  const GearedOm model = compiled(import(GearKind::kBatch, "1,4", "x:-1,8,16,16"));
  std::uint64_t most = 0;
  for (const std::int64_t batch : {1, 4})
    most = std::max(most, compile(alone({batch, 8, 16, 16}, true), options_).om.arena_bytes);
  EXPECT_GE(model.arena_bytes(), most * 9 / 10);
  // Outputs that lie in the arena stay there until all gears have run, when they run in a row.
  EXPECT_LE(model.arena_bytes(), most * 5 / 4);
}

TEST_F(CompiledGears, AnOmOfOneShapeIsWrittenAsItIs) {
  const Om om = compile(alone({1, 8, 6, 6}, true), options_).om;
  EXPECT_EQ(om_model(om, {}).serialize(), om.serialize());
}

std::function<void(void*)> writes(std::string bytes) {
  return [bytes](void* to) { std::memcpy(to, bytes.data(), bytes.size()); };
}

TEST(WeightsSection, StoresEqualItemsOnceAndAligned) {
  WeightsSection weights;
  const std::string a(100, 'a'), b(100, 'b'), longer(101, 'a');
  const std::size_t items[] = {weights.add(100, writes(a)), weights.add(100, writes(b)),
                               weights.add(100, writes(a)), weights.add(101, writes(longer)),
                               weights.add(0, writes(""))};
  const AlignedBytes packed = weights.pack(2);
  const std::string_view section(packed.data(), packed.size());
  EXPECT_EQ(weights.offset(items[0]), weights.offset(items[2]));
  const std::string expected[] = {a, b, a, longer, ""};
  std::set<std::uint64_t> offsets;
  for (std::size_t i = 0; i < std::size(items); ++i) {
    EXPECT_EQ(section.substr(weights.offset(items[i]), expected[i].size()), expected[i]);
    EXPECT_EQ(weights.offset(items[i]) % 64, 0u);
    offsets.insert(weights.offset(items[i]));
  }
  EXPECT_EQ(offsets.size(), 4u);
}

TEST(WeightsSection, PacksIntoZeroes) {
  WeightsSection weights;
  const std::size_t item = weights.add(10, [](void* to) { static_cast<char*>(to)[3] = 'x'; });
  const AlignedBytes packed = weights.pack(1);
  const std::string_view section(packed.data(), packed.size());
  EXPECT_EQ(section.substr(weights.offset(item), 10), std::string("\0\0\0x\0\0\0\0\0\0", 10));
}

TEST(WeightsSection, HandsAFailureOn) {
  WeightsSection weights;
  weights.add(10, [](void*) { throw std::runtime_error("no such weight"); });
  EXPECT_THROW(weights.pack(2), std::runtime_error);
}

}  // namespace
}  // namespace aoe::compiler
