// Tensor ids to pointers, once; callers' buffers again in each run.
#include "runtime/step_buffers.h"

#include <algorithm>
#include <iterator>

namespace aoe::runtime {

std::vector<int> buffer_tensors(const OmStep& step) {
  std::vector<int> ids;
  std::ranges::copy_if(step.inputs, std::back_inserter(ids), [](int id) { return id >= 0; });
  ids.insert(ids.end(), step.outputs.begin(), step.outputs.end());
  ids.insert(ids.end(), step.constants.begin(), step.constants.end());
  if (step.workspace >= 0) ids.push_back(step.workspace);
  return ids;
}

StepBuffers::StepBuffers(const Om& om, const TensorTable& tensors)
    : om_(om), tensors_(tensors), buffers_(om.steps.size()) {
}

std::span<void* const> StepBuffers::of(std::size_t step) {
  std::vector<void*>& buffers = buffers_[step];
  if (!buffers.empty()) return buffers;
  const std::vector<int> ids = buffer_tensors(om_.steps[step]);
  for (const int id : ids) buffers.push_back(id < 0 ? nullptr : tensors_.address(id));
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (ids[i] < 0) continue;
    const Place place = om_.tensors[ids[i]].place;
    if (place == Place::kInput || place == Place::kOutput) slots_.push_back({&buffers[i], ids[i]});
  }
  return buffers;
}

std::vector<std::size_t> StepBuffers::bytes_of(const Om& om, const OmStep& step) {
  std::vector<std::size_t> bytes;
  for (const int id : buffer_tensors(step))
    bytes.push_back(id < 0 ? 0 : storage_bytes(om.tensors[id].desc));
  return bytes;
}

void StepBuffers::bind() {
  for (const Slot& slot : slots_) *slot.pointer = tensors_.address(slot.tensor);
}

}  // namespace aoe::runtime
