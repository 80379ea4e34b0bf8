// GearedExecutor: runs an om file, with or without gears; the caller chooses the gear of each run.
//
// All gears are ready from the beginning. They share the arena, which is as large as the largest of them needs, the
// weights and the code. One caller at a time, as with Executor.
#pragma once

#include <memory>
#include <vector>

#include "runtime/aligned_memory.h"
#include "runtime/executor.h"
#include "runtime/om/geared_om.h"

namespace aoe::runtime {

class GearedExecutor {
 public:
  /// `model` must have been loaded or parsed. `options.arena`: at least GearedOm::arena_bytes(). Throws as Executor does.
  GearedExecutor(GearedOm model, ExecutorOptions options);

  const Gears& gears() const { return gears_; }
  /// At least 1; without gears the only one is gear 0.
  std::size_t gear_count() const { return executors_.size(); }
  Executor& gear(std::size_t index) { return executors_.at(index); }
  const Executor& gear(std::size_t index) const { return executors_.at(index); }
  /// One per gear.
  std::vector<const Om*> oms() const;

 private:
  Gears gears_;
  AlignedMemory own_arena_;
  std::vector<Executor> executors_;
};

}  // namespace aoe::runtime
