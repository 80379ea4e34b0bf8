// The decoder of make_model in both of its forms: compiled, they give what the reference gives, and the same as each other.
#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <functional>
#include <map>

#include "graph/passes.h"
#include "runtime/bound_model.h"
#include "tests/compiler/compiled_model.h"
#include "tests/compiler/machine_code.h"
#include "tests/graph/interpret.h"
#include "tests/graph/model_text.h"
#include "tools/make_model/models.h"

namespace aoe::compiler {
namespace {

using Values = std::map<std::string, ConstantPtr>;

constexpr std::int64_t kBatch = 2, kPast = 5, kTokens = 3, kRoom = 12;

graph::Graph decoder(const std::string& form, std::int64_t past, std::int64_t heads) {
  const auto model = std::ranges::find(make_model::models(), "decoder", &make_model::Model::name);
  make_model::OnnxWriter writer("decoder", {.opset = model->opset, .seed = 5});
  model->write(writer, {.batch = kBatch,
                        .sequence = kTokens,
                        .hidden = 48,
                        .heads = heads,
                        .past = past,
                        .form = form,
                        .is_small = true});
  return tests::import_bytes(writer.serialize());
}

template <typename T>
ConstantPtr constant(DataType dtype, const Shape& shape, const std::function<T(std::int64_t)>& at) {
  auto made = std::make_shared<Constant>(TensorDesc{.dtype = dtype, .shape = shape});
  for (std::int64_t i = 0; i < element_count(shape); ++i) made->view().as<T>()[i] = at(i);
  return made;
}

/// What a step behind kPast tokens is given: by name, for a cache of `room` tokens. Both forms find the same in the first
/// kPast places of the cache.
ConstantPtr value_of(const std::string& name, const TensorDesc& desc) {
  if (name == "input_ids")
    return constant<std::int64_t>(desc.dtype, desc.shape,
                                  [](std::int64_t i) { return 7 * i % 60; });
  if (name == "position_ids")
    return constant<std::int64_t>(desc.dtype, desc.shape,
                                  [](std::int64_t i) { return kPast + i % kTokens; });
  if (name == "attention_mask")
    return constant<std::int64_t>(desc.dtype, desc.shape, [&](std::int64_t i) -> std::int64_t {
      return i % desc.shape[1] < kPast + kTokens ? 1 : 0;
    });
  const std::int64_t length = desc.shape[2], size = desc.shape[3];
  return constant<float>(desc.dtype, desc.shape, [&](std::int64_t i) {
    const std::int64_t place = i / size % length;
    if (place >= kPast) return 100.0f;  // what nobody may read
    const auto at = (i / size / length * kPast + place) * size + i % size + std::ssize(name);
    return static_cast<float>(at * 37 % 101) / 50 - 1;
  });
}

std::vector<ConstantPtr> inputs_of(const graph::Graph& graph) {
  std::vector<ConstantPtr> inputs;
  for (const graph::ValueId id : graph.inputs)
    inputs.push_back(value_of(graph.values[id].name, graph.values[id].desc));
  return inputs;
}

Values by_name(const graph::Graph& graph, const std::vector<ConstantPtr>& outputs) {
  Values values;
  for (std::size_t i = 0; i < outputs.size(); ++i)
    values[graph.values[graph.outputs[i]].name] = outputs[i];
  return values;
}

Values run_compiled(const graph::Graph& graph, runtime::Om om) {
  runtime::BoundModel model(std::move(om), 2);
  model.set_inputs(inputs_of(graph));
  model.run();
  std::vector<ConstantPtr> outputs;
  for (const Tensor& output : model.outputs())
    outputs.push_back(std::make_shared<Constant>(output.desc, output.data));
  return by_name(graph, outputs);
}

runtime::Om compiled(const graph::Graph& meaning) {
  graph::Graph graph = meaning;
  graph::run_passes(graph, {});
  return compile(graph, options_for(loopnest::test_socs().back(), 2)).om;
}

/// The first `places` of a cache, or all of another tensor.
std::vector<float> numbers(const Constant& value, std::int64_t places) {
  const Shape& shape = value.desc().shape;
  std::vector<float> list;
  for (std::int64_t i = 0; i < element_count(shape); ++i)
    if (shape.size() < 4 || i / shape[3] % shape[2] < places)
      list.push_back(value.view().as<float>()[i]);
  return list;
}

void expect_same(const Values& expected, const Values& actual) {
  ASSERT_EQ(expected.size(), actual.size());
  for (const auto& [name, value] : expected) {
    const std::vector<float> a = numbers(*value, kPast + kTokens),
                             b = numbers(*actual.at(name), kPast + kTokens);
    ASSERT_EQ(a.size(), b.size()) << name;
    for (std::size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], 2e-4) << name << " at " << i;
  }
}

class Decoder : public testing::TestWithParam<int> {};

TEST_P(Decoder, RunsLikeTheReferenceInBothForms) {
  for (const char* form : {"plain", "genai"}) {
    SCOPED_TRACE(form);
    const graph::Graph graph =
        decoder(form, form == std::string("plain") ? kPast : kRoom, GetParam());
    const Values meant = by_name(graph, tests::interpret(graph, inputs_of(graph)));
    expect_same(meant, run_compiled(graph, compiled(graph)));
  }
}

TEST_P(Decoder, GivesTheSameInBothForms) {
  const graph::Graph plain = decoder("plain", kPast, GetParam()),
                     genai = decoder("genai", kRoom, GetParam());
  const Values values = run_compiled(plain, compiled(plain));
  EXPECT_EQ(values.at("present.0.key")->desc().shape[2], kPast + kTokens);
  EXPECT_EQ(values.at("present.1.value")->desc().shape[1], 2);  // of heads that share
  expect_same(values, run_compiled(genai, compiled(genai)));
}

TEST_P(Decoder, FusesItsAttentionInBothForms) {
  for (const char* form : {"plain", "genai"}) {
    const std::string steps = steps_text(compiled(decoder(form, kRoom, GetParam())));
    EXPECT_NE(steps.find("FlashAttentionScore"), std::string::npos) << form << ": " << steps;
    EXPECT_EQ(steps.find("SoftmaxV2"), std::string::npos) << form << ": " << steps;
    EXPECT_EQ(steps.find("reference:MatMul"), std::string::npos) << form << ": " << steps;
  }
}

TEST_P(Decoder, WritesItsCacheFromTheCallersBufferToTheCallersBuffer) {
  const graph::Graph graph = decoder("genai", kRoom, GetParam());
  const runtime::Om om = compiled(graph);
  int caches = 0;
  for (const runtime::OmStep& step : om.steps) {
    if (step.call.type != "TensorScatter") continue;
    ++caches;
    EXPECT_EQ(om.tensors[step.inputs[0]].place, runtime::Place::kInput) << step.name;
    EXPECT_EQ(om.tensors[step.outputs[0]].place, runtime::Place::kOutput) << step.name;
  }
  EXPECT_EQ(caches, 4);  // keys and values of two layers
}

TEST_P(Decoder, GivesTheSameWhenPastAndPresentAreOneBuffer) {
  const graph::Graph graph = decoder("genai", kRoom, GetParam());
  const runtime::Om om = compiled(graph);
  const Values apart = run_compiled(graph, om);
  runtime::Executor executor(om, {.threads = 2});
  std::vector<ConstantPtr> given = inputs_of(graph);
  std::map<std::string, std::shared_ptr<Constant>> buffers;
  std::vector<Tensor> inputs, outputs;
  for (std::size_t i = 0; i < given.size(); ++i) {
    const auto own = std::make_shared<Constant>(given[i]->desc(), given[i]->data());
    buffers[graph.values[graph.inputs[i]].name] = own;
    inputs.push_back(own->view());
  }
  Values shared;
  for (const graph::ValueId output : graph.outputs) {
    const std::string& name = graph.values[output].name;
    std::shared_ptr<Constant> own = std::make_shared<Constant>(graph.values[output].desc);
    if (name.starts_with("present."))
      own = buffers.at("past_key_values." + name.substr(std::string("present.").size()));
    shared[name] = own;
    outputs.push_back(own->view());
  }
  executor.run(inputs, outputs);
  expect_same(apart, shared);
}

INSTANTIATE_TEST_SUITE_P(Heads, Decoder, testing::Values(4, 6),
                         [](const auto& heads) { return std::to_string(heads.param); });

}  // namespace
}  // namespace aoe::compiler
