// Runs oms in guarded memory.
#include "tests/compiler/compiled_model.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "reference/tensors/widen.h"
#include "runtime/backend.h"
#include "runtime/executor.h"
#include "tests/compiler/guarded_buffer.h"
#include "tests/graph/interpret.h"

namespace aoe::compiler {
namespace {

using runtime::Om;

constexpr int kNanByte = 0xff;
constexpr double kTolerance =
    1e-4;  ///< of the output's range; Winograd of a few layers stays below
/// Of numbers near one, as inputs and weights are, that cancel each other the roundings are left: of an output of one element, all
/// of its range.
constexpr double kCancelled = 0x1p-22;

/// Types of 16 bits are rounded behind every operator by the reference, and once where a model computes in float32.
double tolerance_of(DataType dtype) {
  constexpr double kRoundings = 8;
  if (dtype == DataType::kFloat16) return kRoundings * 0x1p-10;
  return dtype == DataType::kBFloat16 ? kRoundings * 0x1p-7 : kTolerance;
}

void fill_with_nan(const GuardedBuffer& buffer) {
  std::memset(buffer.as<void>(), kNanByte, buffer.size_bytes());
}

/// A Loop without a trip collects nothing, and sizes of it that only a trip would tell are 0.
bool is_same_shape(const Shape& expected, const Shape& actual) {
  const bool is_nothing = element_count(expected) == 0 && element_count(actual) == 0;
  return std::ranges::equal(expected, actual, [&](std::int64_t e, std::int64_t a) {
    return e == a || (is_nothing && a == 0);
  });
}

void expect_close(const Constant& expected, const Tensor& actual, const std::string& what) {
  ASSERT_TRUE(is_same_shape(expected.desc().shape, actual.desc.shape))
      << what << ": expected " << to_string(expected.desc().shape) << ", is "
      << to_string(actual.desc.shape);
  ASSERT_EQ(expected.desc().dtype, actual.desc.dtype) << what;
  if (!is_floating(expected.desc().dtype)) {
    EXPECT_EQ(std::memcmp(expected.data(), actual.data, expected.size_bytes()), 0) << what;
    return;
  }
  const std::vector<double> e = reference::to_doubles(expected.view());
  const std::vector<double> a = reference::to_doubles(actual);
  const double tolerance = tolerance_of(expected.desc().dtype);
  double range = 0;
  for (const double each : e)
    if (std::isfinite(each)) range = std::max(range, std::abs(each));
  for (std::size_t i = 0; i < e.size(); ++i) {
    const bool is_same = e[i] == a[i] || (std::isnan(e[i]) && std::isnan(a[i]));
    ASSERT_TRUE(is_same || std::abs(e[i] - a[i]) <= tolerance * range + kCancelled)
        << what << ", element " << i << " of " << e.size() << ": expected " << e[i] << ", is "
        << a[i];
  }
}

/// Inputs and outputs of one run in guarded memory.
class Buffers {
 public:
  /// Inputs of open sizes have those of `given`.
  Buffers(const runtime::Executor& executor, const std::vector<ConstantPtr>& given) {
    for (std::size_t i = 0; i < executor.input_count(); ++i) {
      const TensorDesc& desc = executor.input(i).desc;
      inputs_.push_back(add(is_static(desc.shape) ? desc : given.at(i)->desc()));
    }
    for (std::size_t i = 0; i < executor.output_count(); ++i) {
      const TensorDesc& desc = executor.output(i).desc;
      outputs_.push_back(is_static(desc.shape) ? add(desc) : Tensor{desc, nullptr});
    }
  }

  void run(runtime::Executor& executor, const std::vector<ConstantPtr>& inputs) {
    for (const auto& buffer : memory_) fill_with_nan(*buffer);
    for (std::size_t i = 0; i < outputs_.size(); ++i)
      if (!is_static(executor.output(i).desc.shape))
        outputs_[i] = {executor.output(i).desc, nullptr};
    for (std::size_t i = 0; i < inputs.size(); ++i)
      std::memcpy(inputs_[i].data, inputs[i]->data(), inputs[i]->size_bytes());
    executor.run(inputs_, outputs_);
    for (std::size_t i = 0; i < inputs.size(); ++i)
      EXPECT_EQ(std::memcmp(inputs_[i].data, inputs[i]->data(), inputs[i]->size_bytes()), 0)
          << "input " << i << " was written to";
  }
  const std::vector<Tensor>& outputs() const { return outputs_; }

 private:
  Tensor add(const TensorDesc& desc) {
    memory_.push_back(std::make_unique<GuardedBuffer>(storage_bytes(desc)));
    return {desc, memory_.back()->as<void>()};
  }
  std::vector<std::unique_ptr<GuardedBuffer>> memory_;
  std::vector<Tensor> inputs_, outputs_;
};

/// For two sets of inputs.
void expect_runs_like(const graph::Graph& meaning, runtime::Executor& executor,
                      const std::function<bool(const std::string&)>& is_open) {
  Buffers buffers(executor, tests::random_inputs(meaning, 1));
  for (const std::uint32_t seed : {1, 2}) {
    const auto inputs = tests::random_inputs(meaning, seed);
    const auto expected = tests::interpret(meaning, inputs);
    buffers.run(executor, inputs);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const std::string& name = meaning.values[meaning.outputs[i]].name;
      if (is_open(name)) continue;
      expect_close(
          *expected[i], buffers.outputs()[i],
          "run " + std::to_string(seed) + ", output " + std::to_string(i) + " '" + name + "'");
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

}  // namespace

CompileOptions options_for(Soc soc, int threads) {
  CompileOptions options;
  options.soc = std::move(soc);
  options.soc.threads = threads;
  return options;
}

Om expect_compiled_like_reference(const graph::Graph& graph, const CompileOptions& options,
                                  const graph::Graph& meaning,
                                  const std::function<bool(const std::string&)>& is_open) {
  return expect_compiled_like_each(graph, options, std::span(&meaning, 1), is_open);
}

Om expect_compiled_like_each(const graph::Graph& graph, const CompileOptions& options,
                             std::span<const graph::Graph> meanings,
                             const std::function<bool(const std::string&)>& is_open) {
  Om om = compile(graph, options).om;
  const GuardedBuffer arena(om.arena_bytes);
  fill_with_nan(arena);
  runtime::Executor executor(
      om, {.threads = options.soc.threads, .arena = {arena.as<std::byte>(), arena.size_bytes()}});
  for (const graph::Graph& meaning : meanings) {
    for (std::size_t i = 0; i < meaning.outputs.size(); ++i)
      EXPECT_EQ(executor.output(i).name, meaning.values[meaning.outputs[i]].name);
    expect_runs_like(meaning, executor, is_open);
    if (testing::Test::HasFatalFailure()) return om;
  }
  return om;
}

const runtime::OmTensor& tensor(const Om& om, const std::string& name) {
  const auto found = std::ranges::find(om.tensors, name, &runtime::OmTensor::name);
  if (found == om.tensors.end()) throw std::runtime_error("no tensor '" + name + "' in the om");
  return *found;
}

std::string steps_text(const Om& om) {
  std::string text;
  for (const runtime::OmStep& step : om.steps)
    text += std::string(text.empty() ? "" : " ") + std::string(step.backend->traits().name) + ":" +
            step.op_types.at(0);
  return text;
}

}  // namespace aoe::compiler
