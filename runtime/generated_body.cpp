// Where the tensors of a body lie is known but for its arena, its inputs and its outputs.
#include "runtime/generated_body.h"

#include <algorithm>

#include "runtime/step_buffers.h"

namespace aoe::runtime {
namespace {

bool writes_outputs_in_place(const Om& om) {
  for (std::size_t i = 0; i < om.outputs.size(); ++i) {
    const OmTensor& output = om.tensors[om.outputs[i]];
    if (output.place != Place::kOutput || output.offset != i) return false;
  }
  return true;
}

bool has_dynamic_tensors(const Om& om) {
  return std::ranges::any_of(
      om.tensors, [](const OmTensor& tensor) { return tensor.place == Place::kDynamic; });
}

}  // namespace

std::optional<GeneratedBody> GeneratedBody::of(const Executor& body) {
  std::vector<JitStage> stages = body.generated_stages();
  if (stages.empty() || !writes_outputs_in_place(body.om()) || has_dynamic_tensors(body.om()))
    return std::nullopt;
  return GeneratedBody(body, std::move(stages));
}

GeneratedBody::GeneratedBody(const Executor& body, std::vector<JitStage> stages)
    : om_(&body.om()), arena_bytes_(om_->arena_bytes) {
  int last_step = -1;
  std::size_t first_buffer = 0;
  for (JitStage& stage : stages) {
    const int step = stage.step - body.first_op();
    if (step != last_step) {
      const OmStep& code = om_->steps[static_cast<std::size_t>(step)];
      const std::vector<int> ids = buffer_tensors(code);
      first_buffer = tensors_.size();
      tensors_.insert(tensors_.end(), ids.begin(), ids.end());
      scratch_bytes_ = std::max<std::size_t>(scratch_bytes_, code.scratch_bytes);
    }
    last_step = step;
    stages_.push_back({stage, first_buffer});
  }
}

void GeneratedBody::Hand::set_memory(std::byte* arena, std::byte* scratch) {
  scratch_ = scratch;
  if (arena == arena_) return;
  arena_ = arena;
  for (const auto& [slot, offset] : in_arena_) buffers_[slot] = arena + offset;
}

GeneratedBody::Hand GeneratedBody::hand() const {
  Hand hand;
  hand.inputs_.resize(om_->inputs.size());
  hand.outputs_.resize(om_->outputs.size());
  for (const int id : tensors_) {
    const std::size_t slot = hand.buffers_.size();
    hand.buffers_.push_back(nullptr);
    if (id < 0) continue;
    const OmTensor& tensor = om_->tensors[id];
    if (tensor.place == Place::kArena) hand.in_arena_.emplace_back(slot, tensor.offset);
    if (tensor.place == Place::kWeight)  // nobody writes weights
      hand.buffers_[slot] = const_cast<char*>(om_->weights_view.data() + tensor.offset);
    if (tensor.place == Place::kInput) hand.inputs_[tensor.offset].push_back(slot);
    if (tensor.place == Place::kOutput) hand.outputs_[tensor.offset].push_back(slot);
  }
  return hand;
}

void GeneratedBody::run(const Hand& hand, TaskClock* clock) const {
  for (const Stage& stage : stages_) {
    const JitStage& code = stage.code;
    void* const* const buffers = hand.buffers_.data() + stage.first_buffer;
    for (std::int64_t round = 0; round < code.rounds && code.extent > 0; ++round)
      code.function(buffers, round * code.extent, (round + 1) * code.extent, hand.scratch_);
    if (clock != nullptr && code.ends_step) clock->task_done(code.step_name, code.step);
  }
}

}  // namespace aoe::runtime
