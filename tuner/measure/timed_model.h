// One compiled om, ready to run and to be timed step by step. Used in worker processes.
#pragma once

#include <utility>
#include <vector>

#include "base/tensor.h"
#include "runtime/bound_model.h"

namespace aoe::tuner {

/// A TransData that the compiler put between two formats: no part of the op itself.
bool is_conversion(const runtime::OmStep& step);

class TimedModel {
 public:
  TimedModel(runtime::Om om, int threads) : model_(std::move(om), threads), threads_(threads) {}

  /// Random inputs by seed.
  void draw_inputs(std::uint64_t seed) { model_.draw_inputs(seed); }
  void set_inputs(std::vector<ConstantPtr> inputs) { model_.set_inputs(std::move(inputs)); }

  /// Runs once, on threads that are awake, as in a program that runs it again and again; afterwards step_ns() and
  /// outputs() hold what this run gave.
  void run();
  /// Whether other processes kept a thread of this run off its core for longer than noise.
  bool was_disturbed() const { return was_disturbed_; }
  const std::vector<double>& step_ns() const { return step_ns_; }  ///< by step of the om
  double total_ns() const { return total_ns_; }                    ///< the whole run
  const std::vector<Tensor>& outputs() const { return model_.outputs(); }
  const std::vector<ConstantPtr>& inputs() const { return model_.inputs(); }
  const runtime::Om& om() const { return model_.om(); }

 private:
  runtime::BoundModel model_;
  int threads_;
  std::vector<double> step_ns_;
  double total_ns_ = 0;
  bool was_disturbed_ = false;
};

}  // namespace aoe::tuner
