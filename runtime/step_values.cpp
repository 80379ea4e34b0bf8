// See step_values.h.
#include "runtime/step_values.h"

#include <algorithm>

#include "base/error.h"
#include "base/memory.h"

namespace aoe::runtime {
namespace {

bool agrees(const TensorDesc& found, const TensorDesc& declared) {
  if (found.dtype != declared.dtype || found.shape.size() != declared.shape.size()) return false;
  for (std::size_t i = 0; i < found.shape.size(); ++i)
    if (found.shape[i] != kUnknownDim && declared.shape[i] != kUnknownDim &&
        found.shape[i] != declared.shape[i])
      return false;
  return true;
}

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

std::vector<Tensor> views_of(const std::vector<int>& ids, const TensorTable& tensors) {
  std::vector<Tensor> views;
  for (const int id : ids) views.push_back(tensors.view(id));
  return views;
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

void prepare_outputs(const Om& om, const OmStep& step, std::span<const Tensor> inputs,
                     TensorTable& tensors, int shared) {
  const std::vector<TensorDesc> descs = reference::infer(step.call, inputs, step.outputs.size());
  for (std::size_t i = 0; i < step.outputs.size(); ++i) {
    const int id = step.outputs[i];
    if (id < 0) continue;
    const std::string output = "output " + std::to_string(i);
    if (i >= descs.size() || !is_static(descs[i].shape))
      throw Error(ExitCode::kFailure, "the shape of " + output + " cannot be told");
    const TensorDesc& declared = om.tensors[id].desc;
    if (!agrees(descs[i], declared))
      throw Error(ExitCode::kFailure, output + " is " + to_string(descs[i]) + ", the model says " +
                                          to_string(declared));
    if (!tensors.is_dynamic(id)) continue;
    if (shared >= 0 && storage_bytes(tensors.view(shared).desc) == storage_bytes(descs[i]))
      tensors.share(id, descs[i], shared);
    else
      tensors.allocate(id, descs[i]);
  }
}

int input_written_in_place(const OmStep& step) {
  const reference::OpDef* def = reference::ops().find(step.call.type);
  const bool is_in_place = def != nullptr && def->writes_in_place;
  return is_in_place && !step.inputs.empty() ? step.inputs[0] : -1;
}

void run_naming(const OmStep& step, const std::function<void()>& f) {
  const auto refuse = [&](const std::string& why) {
    throw Error(ExitCode::kFailure, why, "op '" + step.name + "' (" + step.types_text() + ")");
  };
  try {
    f();
  } catch (const Error& e) {
    refuse(e.what());
  } catch (const OutOfMemory& e) {
    throw OutOfMemory("op '" + step.name + "' (" + step.types_text() + "): " + e.what());
  } catch (const reference::Undetermined&) {
    refuse("the rank of its output cannot be told");
  }
}

}  // namespace aoe::runtime
