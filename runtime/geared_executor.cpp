// One Executor per gear. Tested by tests/runtime/geared_om_test.cpp.
#include "runtime/geared_executor.h"

namespace aoe::runtime {

GearedExecutor::GearedExecutor(GearedOm model, ExecutorOptions options)
    : gears_(std::move(model.gears)) {
  if (options.arena.empty() && model.oms.size() > 1) {
    own_arena_ = AlignedMemory(model.arena_bytes());
    options.arena = {own_arena_.at(0), own_arena_.size_bytes()};
  }
  executors_.reserve(model.oms.size());  // siblings point at the first
  for (Om& om : model.oms) {
    executors_.emplace_back(std::move(om), options);
    options.sibling = &executors_.front();
    options.first_op += executors_.back().op_count();
  }
}

std::vector<const Om*> GearedExecutor::oms() const {
  std::vector<const Om*> all;
  for (const Executor& executor : executors_) all.push_back(&executor.om());
  return all;
}

}  // namespace aoe::runtime
