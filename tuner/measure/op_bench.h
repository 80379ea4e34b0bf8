// OpBench: compiles, verifies and times the candidates of one task. Runs inside the worker process:
// it may crash.
#pragma once

#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "bank/strategy.h"
#include "compiler/task.h"
#include "runtime/om/om.h"
#include "tuner/measure/bench.h"

namespace aoe::tuner {

/// Compiles a task with one strategy to an om of its own. Throws Error when that does not go.
using BuildOm =
    std::function<runtime::Om(const compiler::Task&, const bank::Strategy&, const compiler::Soc&)>;
/// By the compiler; what every product worker uses.
runtime::Om build_op_om(const compiler::Task& task, const bank::Strategy& strategy,
                        const compiler::Soc& soc);

struct BenchOptions {
  compiler::Soc soc;
  MeasurePolicy policy;
  int compile_threads = 1;
  BuildOm build;
};

class OpBench {
 public:
  /// Starts to compute the reference result on a thread of its own.
  OpBench(compiler::Task task, const BenchOptions& options, const CacheState& caches);

  /// Told how each candidate went; called from several threads, one at a time.
  using OnCompiled = std::function<void(std::size_t index, const Timing& failure_or_ok)>;
  /// Compiles all of them, in several threads; they replace those of the last call. Waits for the
  /// reference, too.
  void compile(std::span<const bank::Strategy> strategies, const OnCompiled& on_compiled);

  /// Both take the oms of those they are asked for.
  Timing measure(std::size_t index, double best_ns);
  std::vector<Timing> race(const std::vector<std::size_t>& indices);

 private:
  static Expected compute_expected(const compiler::Task& task);
  static Expected computed(const compiler::Task& task, bool integers_are_zero);
  Bench bench() const;
  Contender take(std::size_t index);

  const compiler::Task task_;
  const BenchOptions& options_;
  const CacheState& caches_;
  std::shared_future<Expected> expected_;
  std::vector<std::optional<Contender>> contenders_;
};

}  // namespace aoe::tuner
