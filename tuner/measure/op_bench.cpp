// Compiling, verifying and timing the candidates of one task.
#include "tuner/measure/op_bench.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <mutex>
#include <numeric>
#include <thread>

#include "base/check.h"
#include "base/error.h"
#include "compiler/compiler.h"
#include "graph/float16_rounding.h"
#include "graph/precision.h"
#include "reference/op.h"
#include "tuner/measure/racing.h"
#include "base/random_tensor.h"
#include "tuner/measure/statistics.h"
#include "tuner/measure/timed_model.h"
#include "tuner/measure/verify.h"

namespace aoe::tuner {
using compiler::Task;
using compiler::TaskInput;
namespace {

constexpr std::uint64_t kOperandSeed = 20;
/// Two rounded factors are off by 2^-9 each at most; in sums these errors partly cancel.
constexpr double kBf16Tolerance = 0x1p-7;
/// Sums that differ in their last bits may round to neighbours in float16.
constexpr double kFloat16Step = 0x1p-10;

/// How many products an output element sums up, from the task's own arithmetic.
double reduction_length_of(const Task& task) {
  double outputs = 0;
  for (const TensorDesc& output : task.outputs)
    if (output.dtype != DataType::kUndefined)
      outputs += static_cast<double>(element_count(output.shape));
  return outputs > 0 ? std::max(1.0, compiler::flops(task) / (2 * outputs)) : 1.0;
}

bool runs_a_kernel(const runtime::Om& om) {
  return std::ranges::any_of(om.steps, [](const runtime::OmStep& step) {
    return !is_conversion(step) && step.kind != runtime::StepKind::kNone;
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

/// One candidate that compiled: its model, its weights' place and the state of the caches before
/// each run.
class OpBench::Prepared {
 public:
  Prepared(runtime::Om om, const OpBench& bench)
      : bench_(bench), model_(std::move(om), bench.options_.soc.threads) {
    model_.set_inputs(bench.reference_.get().inputs);
  }

  /// One sample. A run that others disturbed is repeated a few times, and the quickest counts: on a
  /// busy machine the sample would be their time. On one that is always busy, patience ends.
  double run_ns() {
    constexpr int kMostRepeats = 3;
    double least_ns = run_once_ns();
    for (int i = 0; model_.was_disturbed() && i < kMostRepeats && repeats_left_ > 0; ++i) {
      --repeats_left_;
      least_ns = std::min(least_ns, run_once_ns());
    }
    return least_ns;
  }

  double run_once_ns() {
    const std::string_view weights = model_.om().weights_view;
    bench_.caches_.evict_weights(weights.data(), weights.size());
    for (const ConstantPtr& input : model_.inputs())
      CacheState::touch(input->data(), input->size_bytes());
    model_.run();
    return model_.op_ns();
  }

  /// Runs warm-ups and compares the output of the first.
  Result<void> warm_up_and_verify() {
    for (int i = 0; i < bench_.options_.policy.warmup_runs; ++i) {
      run_ns();
      if (i > 0) continue;
      if (auto right = verify(); !right) return right;
    }
    return {};
  }

 private:
  Result<void> verify() const {
    const Reference& reference = bench_.reference_.get();
    AOE_CHECK(model_.outputs().size() == reference.outputs.size(), "outputs of the om");
    for (std::size_t i = 0; i < reference.outputs.size(); ++i) {
      auto same = compare(reference.outputs[i]->view(), model_.outputs()[i],
                          reference.reduction_length, reference.least_tolerance);
      if (!same) return Unexpected("output " + std::to_string(i) + ": " + same.error());
    }
    return {};
  }

  const OpBench& bench_;
  TimedModel model_;
  int repeats_left_ = bench_.options_.policy.max_samples;
};

OpBench::OpBench(Task task, const BenchOptions& options, const CacheState& caches)
    : task_(std::move(task)),
      options_(options),
      caches_(caches),
      reference_(std::async(std::launch::async, [this] { return compute_reference(task_); })) {
}

OpBench::~OpBench() = default;

OpBench::Reference OpBench::compute_reference(const Task& task) {
  Reference reference;
  reference.reduction_length = reduction_length_of(task);
  if (graph::allows_bf16(task.op) || graph::allows_fp16(task.op))
    reference.least_tolerance = kBf16Tolerance;
  else if (graph::rounds_to_float16(task.op))
    reference.least_tolerance = kFloat16Step;
  std::vector<Tensor> inputs;
  for (const TaskInput& input : task.inputs) {
    if (!input.is_present()) {
      inputs.emplace_back();
    } else if (input.constant) {
      inputs.push_back(input.constant->view());
    } else {
      reference.inputs.push_back(random_tensor(input.desc, kOperandSeed + reference.inputs.size()));
      inputs.push_back(reference.inputs.back()->view());
    }
  }
  std::vector<Tensor> outputs;
  for (const TensorDesc& desc : task.outputs) {
    outputs.push_back({desc, nullptr});
    if (desc.dtype == DataType::kUndefined) continue;
    reference.outputs.push_back(std::make_unique<Constant>(desc));
    outputs.back().data = reference.outputs.back()->mutable_data();
  }
  reference::run(task.op, inputs, outputs);
  return reference;
}

void OpBench::compile(std::span<const bank::Strategy> strategies, const OnCompiled& on_compiled) {
  oms_.clear();
  oms_.resize(strategies.size());
  std::atomic<std::size_t> next{0};
  std::mutex one_report_at_a_time;
  const auto work = [&] {
    for (std::size_t i = next++; i < strategies.size(); i = next++) {
      const Timing result = guarded(Outcome::kCompileError, [&] {
        runtime::Om om = options_.build(task_, strategies[i], options_.soc);
        if (!runs_a_kernel(om))
          return Timing::failure(Outcome::kCompileError, "shares memory: has no time of its own");
        oms_[i] = std::move(om);
        return Timing{};
      });
      const std::scoped_lock lock(one_report_at_a_time);
      on_compiled(i, result);
    }
  };
  {
    std::vector<std::jthread> threads;
    const int count = std::min(options_.compile_threads, static_cast<int>(strategies.size())) - 1;
    for (int i = 0; i < count; ++i) threads.emplace_back(work);
    work();
  }
  reference_.wait();
}

Timing OpBench::measure(std::size_t index, double best_ns) {
  AOE_CHECK(index < oms_.size() && oms_[index], "a candidate that did not compile");
  const MeasurePolicy& policy = options_.policy;
  Timing timing = guarded(Outcome::kCrashed, [&] {
    Prepared candidate(std::move(*oms_[index]), *this);
    if (auto right = candidate.warm_up_and_verify(); !right)
      return Timing::failure(Outcome::kWrongResult, right.error());
    Timing result;
    double total_ns = 0;
    const auto enough = [&] {
      const int count = static_cast<int>(result.samples_ns.size());
      if (count >= policy.max_samples) return true;
      return count >= policy.min_samples && total_ns >= policy.min_duration_ms * 1e6;
    };
    while (!enough()) {
      result.samples_ns.push_back(candidate.run_ns());
      total_ns += result.samples_ns.back();
      if (static_cast<int>(result.samples_ns.size()) == policy.drop_after_samples &&
          median(result.samples_ns) > policy.drop_ratio * best_ns) {
        result.dropped = true;
        break;
      }
    }
    return result;
  });
  oms_[index].reset();
  return timing;
}

std::vector<Timing> OpBench::race(const std::vector<std::size_t>& indices) {
  return tuner::race(indices.size(), options_.policy, [&](std::size_t i) {
    return std::make_unique<Prepared>(std::move(*oms_[indices[i]]), *this);
  });
}

}  // namespace aoe::tuner
