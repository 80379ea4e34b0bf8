// Compiling, verifying and timing the candidates of one task.
#include "tuner/measure/op_bench.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <mutex>
#include <numeric>

#include "base/check.h"
#include "base/error.h"
#include "base/parallel_for.h"
#include "base/random_tensor.h"
#include "compiler/compiler.h"
#include "graph/analysis/float16_rounding.h"
#include "graph/precision.h"
#include "reference/op.h"
#include "runtime/backend.h"
#include "tuner/measure/timed_model.h"

namespace aoe::tuner {
using compiler::Task;
using compiler::TaskInput;
namespace {

constexpr std::uint64_t kOperandSeed = 20;
/// Two rounded factors are off by 2^-9 each at most; in sums these errors partly cancel.
constexpr double kBf16Tolerance = 0x1p-7;
/// Sums that differ in their last bits may round to neighbours in float16.
constexpr double kFloat16Step = 0x1p-10;

/// 1 is no index where there is but one, an image, say; 0 is.
ConstantPtr operand(const TensorDesc& desc, std::uint64_t seed, bool integers_are_zero) {
  ConstantPtr drawn = random_tensor(desc, seed);
  if (!integers_are_zero || is_floating(desc.dtype)) return drawn;
  auto zeros = std::make_shared<Constant>(desc);
  std::memset(zeros->mutable_data(), 0, zeros->size_bytes());
  return zeros;
}

double error_growth_of(const bank::Strategy& strategy, const compiler::Task& task) {
  const compiler::Impl* const impl = compiler::impls().find(strategy.impl);
  return impl == nullptr ? 1 : impl->error_growth(task);
}

bool runs_a_kernel(const runtime::Om& om) {
  return std::ranges::any_of(om.steps, [](const runtime::OmStep& step) {
    return !is_conversion(step) && step.backend->traits().runs;
  });
}

}  // namespace

runtime::Om build_op_om(const Task& task, const bank::Strategy& strategy,
                        const compiler::Soc& soc) {
  const Result<compiler::Candidate> candidate = compiler::candidate_of(strategy, task, soc);
  if (!candidate) throw Error(ExitCode::kFailure, candidate.error());
  const graph::Graph graph = compiler::graph_of(task);
  AOE_CHECK(graph.nodes.size() == 1, "a task's graph has one node");
  compiler::CompileOptions options;
  options.soc = soc;
  options.fixed[graph.nodes.front().name] = *candidate;
  return std::move(compiler::compile(graph, options).om);
}

OpBench::OpBench(Task task, const BenchOptions& options, const CacheState& caches)
    : task_(std::move(task)), options_(options), caches_(caches), expected_(std::async([this] {
        return compute_expected(task_);
      })) {  // later, without a thread
}

Expected OpBench::compute_expected(const Task& task) {
  try {
    return computed(task, false);
  } catch (const Error&) {
    return computed(task, true);  // which says so if integers were not what is wrong
  }
}

Expected OpBench::computed(const Task& task, bool integers_are_zero) {
  Expected expected;
  expected.reduction_length = compiler::reduction_length(task);
  if (graph::allows_bf16(task.op) || graph::allows_fp16(task.op))
    expected.least_tolerance = kBf16Tolerance;
  else if (graph::rounds_to_float16(task.op))
    expected.least_tolerance = kFloat16Step;
  std::vector<Tensor> inputs;
  for (const TaskInput& input : task.inputs) {
    if (!input.is_present()) {
      inputs.emplace_back();
    } else if (input.constant) {
      inputs.push_back(input.constant->view());
    } else {
      expected.inputs.push_back(
          operand(input.desc, kOperandSeed + expected.inputs.size(), integers_are_zero));
      inputs.push_back(expected.inputs.back()->view());
    }
  }
  std::vector<Tensor> outputs;
  for (const TensorDesc& desc : task.outputs) {
    outputs.push_back({desc, nullptr});
    if (desc.dtype == DataType::kUndefined) continue;
    expected.outputs.push_back(std::make_unique<Constant>(desc));
    outputs.back().data = expected.outputs.back()->mutable_data();
  }
  reference::run(task.op, inputs, outputs);
  return expected;
}

void OpBench::compile(std::span<const bank::Strategy> strategies, const OnCompiled& on_compiled) {
  contenders_.clear();
  contenders_.resize(strategies.size());
  std::mutex one_report_at_a_time;
  parallel_for(strategies.size(), options_.compile_threads, [&](std::size_t i) {
    const Timing result = guarded(Outcome::kCompileError, [&] {
      runtime::Om om = options_.build(task_, strategies[i], options_.soc);
      if (!runs_a_kernel(om))
        return Timing::failure(Outcome::kCompileError, "shares memory: has no time of its own");
      contenders_[i] = {std::move(om), error_growth_of(strategies[i], task_)};
      return Timing{};
    });
    const std::scoped_lock lock(one_report_at_a_time);
    on_compiled(i, result);
  });
  expected_.wait();
}

Bench OpBench::bench() const {
  return {expected_.get(),
          {.policy = options_.policy,
           .caches = caches_,
           .threads = options_.soc.threads,
           .counts = [](const runtime::Om&,
                        const runtime::OmStep& step) { return !is_conversion(step); },
           .drops_racers = true}};
}

Contender OpBench::take(std::size_t index) {
  AOE_CHECK(index < contenders_.size() && contenders_[index], "a candidate that did not compile");
  Contender contender = std::move(*contenders_[index]);
  contenders_[index].reset();
  return contender;
}

Timing OpBench::measure(std::size_t index, double best_ns) {
  return bench().measure(take(index), best_ns);
}

std::vector<Timing> OpBench::race(const std::vector<std::size_t>& indices) {
  return bench().race(indices.size(), [&](std::size_t i) { return take(indices[i]); });
}

}  // namespace aoe::tuner
