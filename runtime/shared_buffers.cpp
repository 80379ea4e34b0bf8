// Which outputs overwrite which inputs, and copies where they must not. Tested by tests/runtime/shared_buffers_test.cpp.
#include "runtime/shared_buffers.h"

#include <algorithm>
#include <cstring>

#include "runtime/backend.h"

namespace aoe::runtime {
namespace {

/// Nobody reads the tensor behind the step, and the step reads it once.
bool is_read_last(const Om& om, std::size_t step, int id) {
  if (std::ranges::count(om.outputs, id) > 0 || std::ranges::count(om.steps[step].inputs, id) != 1)
    return false;
  return std::none_of(
      om.steps.begin() + static_cast<std::ptrdiff_t>(step) + 1, om.steps.end(),
      [&](const OmStep& later) { return std::ranges::count(later.inputs, id) > 0; });
}

bool overlap(const Tensor& a, const Tensor& b) {
  const auto *from = a.as<char>(), *to = b.as<char>();
  return from < to + storage_bytes(b.desc) && to < from + storage_bytes(a.desc);
}

}  // namespace

SharedBuffers::SharedBuffers(const Om& om) : aside_(om.inputs.size()) {
  for (std::size_t s = 0; s < om.steps.size(); ++s) {
    const int from = om.steps[s].backend->overwritten_by(om.steps[s]);
    const int to = from < 0 || om.steps[s].outputs.empty() ? -1 : om.steps[s].outputs[0];
    if (to < 0 || om.tensors[from].place != Place::kInput ||
        om.tensors[to].place != Place::kOutput || !is_read_last(om, s, from))
      continue;
    overwritten_[om.tensors[to].offset] = om.tensors[from].offset;
  }
}

void* SharedBuffers::input(std::size_t i, const Tensor& given, std::span<const Tensor> outputs) {
  const auto must_not_overwrite = [&](std::size_t o) {
    if (outputs[o].data == nullptr || !overlap(given, outputs[o])) return false;
    const auto pair = overwritten_.find(o);
    return pair == overwritten_.end() || pair->second != i || outputs[o].data != given.data;
  };
  bool is_shared = false;
  for (std::size_t o = 0; o < outputs.size() && !is_shared; ++o) is_shared = must_not_overwrite(o);
  if (!is_shared) return given.data;
  const std::size_t size_bytes = storage_bytes(given.desc);
  if (aside_[i].size_bytes() < size_bytes) aside_[i] = AlignedMemory(size_bytes);
  std::memcpy(aside_[i].data(), given.data, size_bytes);
  return aside_[i].data();
}

}  // namespace aoe::runtime
