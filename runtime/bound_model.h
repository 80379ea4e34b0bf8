// A loaded om with buffers of its own for what goes in and comes out: for those who run models to learn something about them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/tensor.h"
#include "runtime/executor.h"
#include "runtime/om/om.h"

namespace aoe::runtime {

class BoundModel {
 public:
  BoundModel(Om om, int threads, std::optional<double> longest_loop_s = {});

  /// Random inputs by seed.
  void draw_inputs(std::uint64_t seed);
  void set_inputs(std::vector<ConstantPtr> inputs);

  /// Runs once; afterwards outputs() has what this run gave. Each step is one task, whatever bodies it runs: so many fit
  /// into the recorder.
  void run();

  const std::vector<ConstantPtr>& inputs() const { return inputs_; }
  const std::vector<Tensor>& outputs() const { return outputs_; }
  const Executor& executor() const { return executor_; }
  const Om& om() const { return executor_.om(); }

 private:
  Executor executor_;
  std::vector<ConstantPtr> inputs_;
  std::vector<Tensor> input_views_;
  std::vector<std::unique_ptr<Constant>> output_buffers_;
  std::vector<Tensor> buffers_;  ///< no data where only a run can tell the shape
  std::vector<Tensor> outputs_;
};

}  // namespace aoe::runtime
