// InferredOutputs: the shapes and the memory of a step's outputs where only a run can tell them. What inference reads of the step's
// inputs (their shapes, and values of those on which the result depends) is kept: where the next run gives the same, outputs
// are what they are.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "runtime/om/om.h"
#include "runtime/tensor_table.h"

namespace aoe::runtime {

class InferredOutputs {
 public:
  /// `shared`: an input in whose memory the output lies where it is as large; -1: none. All outlive this.
  InferredOutputs(const Om& om, const OmStep& step, TensorTable& tensors, int shared = -1);

  /// With the values at hand, every shape must be found, and be what the om says where it says something: throws as
  /// inference does, and Error(kFailure). Gives outputs whose shapes the om does not know their memory.
  void prepare(std::span<const Tensor> inputs);
  /// Of a step that finds its shapes itself: throws Error(kModel) when those of its inputs contradict each other.
  void check(std::span<const Tensor> inputs);

 private:
  using Descs = std::vector<TensorDesc>;
  bool are_seen(std::span<const Tensor> inputs) const;
  void see(std::span<const Tensor> inputs);
  Descs infer(std::span<const Tensor> inputs);
  std::optional<Descs> infer_from(std::span<const Tensor> inputs,
                                  std::span<const std::size_t> values) const;
  void learn_values(std::span<const Tensor> inputs);
  void place(std::size_t output, const TensorDesc& desc);

  const Om& om_;
  const OmStep& step_;
  TensorTable& tensors_;
  const int shared_;
  bool is_dear_ = false;  ///< shapes follow from computing the operator, of which nothing is kept
  bool has_learnt_ = false;
  std::vector<std::size_t> values_;  ///< inputs whose values decide as well
  bool is_seen_ = false;
  std::vector<Shape> seen_shapes_;
  std::vector<std::byte> seen_values_;
};

}  // namespace aoe::runtime
