// ControlStep: a step that runs bodies, each an om of its own inside the model's weights: If, Loop, Scan.
//
// Inputs of a step: the node's own, as ONNX orders them, then what its bodies read from around the node, as many for each as
// attribute "captures" says; a body has them behind its own inputs. Outputs that the om knows the shape of lie where it
// says, others are allocated.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "runtime/aligned_memory.h"
#include "runtime/tensor_table.h"

namespace aoe::runtime {

class Executor;

class ControlStep {
 public:
  /// `om` and what it views must outlive the step. Throws Error(kOm) when a body is damaged or does not fit the node.
  ControlStep(const Om& om, const OmStep& step, int threads);
  ~ControlStep();
  ControlStep(const ControlStep&) = delete;
  ControlStep& operator=(const ControlStep&) = delete;

  /// Throws Error(kFailure) that names the step when its values are no condition, count or size.
  void run(TensorTable& tensors);

 private:
  /// A tensor with its memory.
  struct Held {
    Tensor tensor;
    AlignedMemory memory;
  };
  struct Body {
    std::unique_ptr<Executor> executor;
    std::vector<int> captures;  ///< tensor ids
  };
  /// Slices of one output of a body, in the order of the trips.
  struct Collected {
    TensorDesc slice;
    std::vector<Held> parts;
  };

  void run_if(TensorTable& tensors);
  void run_loop(TensorTable& tensors);
  void run_scan(TensorTable& tensors);
  std::vector<Held> run_body(std::size_t body, std::span<const Tensor> own,
                             const TensorTable& tensors);
  std::size_t own_inputs(std::size_t body) const;
  void collect(std::vector<Collected>& all, std::size_t i, Held part) const;
  void give(std::size_t output, const Tensor& value, TensorTable& tensors) const;
  void give_stacked(std::size_t output, const Collected& collected, std::size_t axis,
                    bool is_reversed, TensorTable& tensors) const;
  [[noreturn]] void refuse(const std::string& why) const;

  const OmStep& step_;
  std::vector<Body> bodies_;
};

}  // namespace aoe::runtime
