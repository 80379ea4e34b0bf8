// BoundOm: a compiled model in memory with its inputs and outputs bound, ready to be run again and again.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/statistics.h"
#include "benchmarks/onnxruntime_peer.h"
#include "compiler/compiler.h"
#include "runtime/executor.h"

namespace aoe::benchmarks {

class BoundOm {
 public:
  BoundOm(compiler::Compilation compilation, const std::string& name, int threads);

  std::size_t input_count() const { return executor_.input_count(); }
  const runtime::OmTensor& input(std::size_t i) const { return executor_.input(i); }
  /// By name; the values must outlive this.
  void feed(const std::vector<NamedTensor>& inputs);
  /// Milliseconds of each run, for at least `seconds` and `least` runs.
  std::vector<double> run(double seconds, int least);
  /// Of one run; valid until the next.
  const std::vector<Tensor>& outputs();

  const std::vector<compiler::NodeReport>& nodes() const { return compilation_.nodes; }
  int bank_hits() const { return compilation_.bank_hits(); }

 private:
  std::string_view serialize();
  void run_once();

  compiler::Compilation compilation_;
  std::shared_ptr<std::string> bytes_;
  runtime::Executor executor_;
  std::vector<std::shared_ptr<Constant>>
      values_;  ///< of outputs; null where only a run can tell the shape
  std::vector<Tensor> inputs_;
  std::vector<Tensor> outputs_;
};

/// The largest difference of two results of one type, as a share of the range of `expected` (of its size, where all are
/// equal); infinite where shapes or types
/// differ or one alone is not a number.
double difference(const Tensor& result, const Tensor& expected);

}  // namespace aoe::benchmarks
