// See step_values.h.
#include "runtime/step_values.h"

#include <algorithm>

#include "base/error.h"
#include "base/memory.h"

namespace aoe::runtime {
namespace {

/// Such ops have to be computed to tell what they give; where that takes long, only a run looks.
bool is_dear_to_infer(const reference::OpCall& call, const std::vector<Tensor>& inputs) {
  constexpr double kMostSteps = 1e5;
  const reference::OpDef* def = reference::anchor_def(call);
  if (def == nullptr || !def->infers_from_values) return false;
  std::vector<TensorDesc> descs;
  for (const Tensor& input : inputs) descs.push_back(input.desc);
  return reference::work(call, descs, {}) > kMostSteps;
}

/// What its operator makes of the step's inputs before a run, of which constants are known; empty when not even the ranks
/// can be told. Throws Error when the operator refuses them.
std::vector<TensorDesc> infer_before_run(const Om& om, const OmStep& step) {
  std::vector<Tensor> inputs;
  for (const int id : step.inputs) {
    if (id < 0) {
      inputs.emplace_back();
      continue;
    }
    const OmTensor& tensor = om.tensors[id];
    const char* const constant = om.weights_view.data() + tensor.offset;
    const bool is_known = tensor.place == Place::kWeight;
    inputs.push_back({tensor.desc, is_known ? const_cast<char*>(constant) : nullptr});
  }
  if (is_dear_to_infer(step.call, inputs))
    for (Tensor& input : inputs) input.data = nullptr;
  try {
    return reference::infer(step.call, inputs, step.outputs.size());
  } catch (const reference::Undetermined&) {
    return {};
  }
}

}  // namespace

bool agrees(const TensorDesc& found, const TensorDesc& declared) {
  if (found.dtype != declared.dtype || found.shape.size() != declared.shape.size()) return false;
  for (std::size_t i = 0; i < found.shape.size(); ++i)
    if (found.shape[i] != kUnknownDim && declared.shape[i] != kUnknownDim &&
        found.shape[i] != declared.shape[i])
      return false;
  return true;
}

StepTensors::StepTensors(const Om& om, const std::vector<int>& ids, const TensorTable& tensors)
    : ids_(ids), tensors_(tensors) {
  for (std::size_t i = 0; i < ids.size(); ++i) {
    views_.push_back(tensors.view(ids[i]));
    const Place place = ids[i] < 0 ? Place::kWeight : om.tensors[ids[i]].place;
    if (place != Place::kWeight && place != Place::kArena) changing_.push_back(i);
  }
}

std::span<const Tensor> StepTensors::now() {
  for (const std::size_t i : changing_) views_[i] = tensors_.view(ids_[i]);
  return views_;
}

std::string inference_fault(const Om& om, const OmStep& step) {
  try {
    const std::vector<TensorDesc> found = infer_before_run(om, step);
    for (std::size_t i = 0; i < found.size() && i < step.outputs.size(); ++i) {
      const int id = step.outputs[i];
      if (id >= 0 && !agrees(found[i], om.tensors[id].desc))
        return "gives " + to_string(found[i]) + " where its output " + std::to_string(i) + " is " +
               to_string(om.tensors[id].desc);
    }
  } catch (const Error& e) {
    return std::string("is refused by its operator: ") + e.what();
  }
  return {};
}

bool is_certain(const Om& om, const OmStep& step) {
  // Shapes that only a run tells may contradict each other where the output's does not follow from them.
  const auto is_open = [&](int id) { return id >= 0 && !is_static(om.tensors[id].desc.shape); };
  if (std::ranges::any_of(step.inputs, is_open)) return false;
  const std::vector<TensorDesc> found = infer_before_run(om, step);
  if (found.size() != step.outputs.size()) return false;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const int id = step.outputs[i];
    if (is_open(id) || (id >= 0 && !is_static(found[i].shape))) return false;
  }
  return true;
}

int input_written_in_place(const OmStep& step) {
  const reference::OpDef* def = reference::ops().find(step.call.type);
  const bool is_in_place = def != nullptr && def->writes_in_place;
  return is_in_place && !step.inputs.empty() ? step.inputs[0] : -1;
}

void end_naming(const OmStep& step) {
  const std::string op = "op '" + step.name + "' (" + step.types_text() + ")";
  try {
    throw;
  } catch (const Error& e) {
    throw Error(ExitCode::kFailure, e.what(), op);
  } catch (const OutOfMemory& e) {
    throw OutOfMemory(op + ": " + e.what());
  } catch (const reference::Undetermined&) {
    throw Error(ExitCode::kFailure, "the rank of its output cannot be told", op);
  }
}

}  // namespace aoe::runtime
