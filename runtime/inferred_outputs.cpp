// Which values decide is found out once: a result that stays known while an input is hidden does not depend on it.
#include "runtime/inferred_outputs.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "base/error.h"
#include "runtime/step_values.h"

namespace aoe::runtime {
namespace {

constexpr std::size_t kMostBytes = 1024;  ///< of values: comparing more takes longer than inference

bool are_static(std::span<const TensorDesc> descs) {
  return std::ranges::all_of(descs, [](const TensorDesc& desc) { return is_static(desc.shape); });
}

/// Of the values of these inputs.
std::size_t bytes_of(std::span<const Tensor> inputs, std::span<const std::size_t> values) {
  std::size_t bytes = 0;
  for (const std::size_t i : values) bytes += storage_bytes(inputs[i].desc);
  return bytes;
}

}  // namespace

InferredOutputs::InferredOutputs(const Om& om, const OmStep& step, TensorTable& tensors, int shared)
    : om_(om), step_(step), tensors_(tensors), shared_(shared) {
  is_dear_ = std::ranges::any_of(reference::op_types(step.call), [](const std::string& type) {
    const reference::OpDef* def = reference::ops().find(type);
    return def == nullptr || def->infers_from_values;
  });
}

bool InferredOutputs::are_seen(std::span<const Tensor> inputs) const {
  if (!is_seen_) return false;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (inputs[i].desc.shape != seen_shapes_[i]) return false;
  const std::byte* seen = seen_values_.data();
  for (const std::size_t i : values_) {
    const std::size_t bytes = storage_bytes(inputs[i].desc);
    if (bytes > 0 && std::memcmp(seen, inputs[i].data, bytes) != 0) return false;
    seen += bytes;
  }
  return true;
}

void InferredOutputs::see(std::span<const Tensor> inputs) {
  if (is_dear_) return;
  const std::size_t bytes = bytes_of(inputs, values_);
  if (bytes > kMostBytes) return;
  seen_shapes_.resize(inputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) seen_shapes_[i] = inputs[i].desc.shape;
  seen_values_.resize(bytes);
  std::byte* seen = seen_values_.data();
  for (const std::size_t i : values_)
    if (const std::size_t own = storage_bytes(inputs[i].desc); own > 0) {
      std::memcpy(seen, inputs[i].data, own);
      seen += own;
    }
  is_seen_ = true;
}

/// With the values of some inputs alone; nothing where a shape remains unknown.
std::optional<InferredOutputs::Descs> InferredOutputs::infer_from(
    std::span<const Tensor> inputs, std::span<const std::size_t> values) const {
  std::vector<Tensor> shown(inputs.begin(), inputs.end());
  for (std::size_t i = 0; i < shown.size(); ++i)
    if (std::ranges::find(values, i) == values.end()) shown[i].data = nullptr;
  try {
    Descs found = reference::infer(step_.call, shown, step_.outputs.size());
    if (are_static(found)) return found;
  } catch (const reference::Undetermined&) {  // not even the rank
  }
  return std::nullopt;
}

/// Long inputs are rather hidden than short ones.
void InferredOutputs::learn_values(std::span<const Tensor> inputs) {
  has_learnt_ = true;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (inputs[i].data != nullptr) values_.push_back(i);
  std::vector<std::size_t> longest_first = values_;
  std::ranges::stable_sort(longest_first, std::ranges::greater(),
                           [&](std::size_t i) { return storage_bytes(inputs[i].desc); });
  for (const std::size_t hidden : longest_first) {
    std::vector<std::size_t> fewer = values_;
    std::erase(fewer, hidden);
    if (infer_from(inputs, fewer)) values_ = std::move(fewer);
  }
}

InferredOutputs::Descs InferredOutputs::infer(std::span<const Tensor> inputs) {
  if (!is_dear_)
    if (std::optional<Descs> found = infer_from(inputs, values_)) return *std::move(found);
  Descs found = reference::infer(step_.call, inputs, step_.outputs.size());
  if (!is_dear_ && !has_learnt_ && are_static(found)) learn_values(inputs);
  return found;
}

void InferredOutputs::place(std::size_t output, const TensorDesc& desc) {
  const int id = step_.outputs[output];
  if (!tensors_.is_dynamic(id)) return;
  if (shared_ >= 0 && storage_bytes(tensors_.view(shared_).desc) == storage_bytes(desc))
    tensors_.share(id, desc, shared_);
  else
    tensors_.allocate(id, desc);
}

void InferredOutputs::prepare(std::span<const Tensor> inputs) {
  if (are_seen(inputs)) {  // they may lie elsewhere
    for (std::size_t i = 0; i < step_.outputs.size(); ++i)
      if (step_.outputs[i] >= 0) place(i, tensors_.view(step_.outputs[i]).desc);
    return;
  }
  is_seen_ = false;
  const Descs descs = infer(inputs);
  for (std::size_t i = 0; i < step_.outputs.size(); ++i) {
    const int id = step_.outputs[i];
    if (id < 0) continue;
    const std::string output = "output " + std::to_string(i);
    if (i >= descs.size() || !is_static(descs[i].shape))
      throw Error(ExitCode::kFailure, "the shape of " + output + " cannot be told");
    const TensorDesc& declared = om_.tensors[id].desc;
    if (!agrees(descs[i], declared))
      throw Error(ExitCode::kFailure, output + " is " + to_string(descs[i]) + ", the model says " +
                                          to_string(declared));
    place(i, descs[i]);
  }
  see(inputs);
}

void InferredOutputs::check(std::span<const Tensor> inputs) {
  if (are_seen(inputs)) return;
  is_seen_ = false;
  std::vector<Tensor> shown(inputs.begin(), inputs.end());
  for (Tensor& input : shown) input.data = nullptr;
  reference::infer(step_.call, shown, step_.outputs.size());
  see(inputs);
}

}  // namespace aoe::runtime
