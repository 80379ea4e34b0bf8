// ControlStep: a step that runs bodies, each an om of its own inside the model's weights: If, Loop, Scan.
//
// Inputs of a step: the node's own, as ONNX orders them, then what its bodies read from around the node, as many for each as
// attribute "captures" says; a body has them behind its own inputs. Outputs that the om knows the shape of lie where it
// says, others are allocated.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "runtime/aligned_memory.h"
#include "runtime/backend.h"
#include "runtime/body_executor.h"
#include "runtime/collected_slices.h"
#include "runtime/tensor_table.h"

namespace aoe::runtime {

class ControlStep final : public Runnable {
 public:
  /// Step `index` of what `context` loads. Throws Error(kOm) when a body is damaged or does not fit the node.
  ControlStep(const LoadContext& context, std::size_t index);
  ~ControlStep() override;
  ControlStep(const ControlStep&) = delete;
  ControlStep& operator=(const ControlStep&) = delete;

  /// What is wrong with the step itself, its bodies apart, in words behind its name; empty: nothing.
  static std::string fault(const Om& om, const OmStep& step);

  /// Ops of bodies are tasks of their own; what lies before, between and behind its bodies' runs is the step's. Throws
  /// Error(kFailure) that names the step when its values are no condition, count or size, or its trips take too long, and OutOfMemory that names it when
  /// its bodies or what it collects need more than there is.
  void run(const TaskRecording& recording) override;

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
  void run_if(TaskClock& clock);
  void run_loop(TaskClock& clock);
  void run_scan(TaskClock& clock);
  std::vector<Held> run_body(std::size_t body, std::span<const Tensor> own, TaskClock& clock);
  std::size_t own_inputs(std::size_t body) const;
  std::vector<CollectedSlices> nothing_collected(std::size_t first_output) const;
  void check_time() const;
  void collect(std::vector<CollectedSlices>& all, std::span<const Held> slices);
  bool is_wanted(std::size_t output) const;
  Tensor room_for(std::size_t output, const TensorDesc& desc) const;
  void give(std::size_t output, const Tensor& value) const;
  void give_stacked(std::size_t output, const CollectedSlices& collected, std::size_t axis,
                    bool is_reversed) const;
  std::string where() const;
  [[noreturn]] void refuse(const std::string& why) const;

  const OmStep& step_;
  TensorTable& tensors_;
  const BodyOwner owner_;
  const std::optional<double> longest_s_;
  std::vector<Body> bodies_;
  std::chrono::steady_clock::time_point begin_;  ///< of this run
  std::size_t asked_bytes_ = 0;  ///< of what this run has collected, when memory was last asked for
};

}  // namespace aoe::runtime
