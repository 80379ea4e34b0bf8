// Brings the caches into the state that a kernel finds inside a model, before each timed run.
#pragma once

#include <cstddef>
#include <memory>

#include "compiler/soc.h"
#include "runtime/thread_team.h"
#include "tuner/policy.h"

namespace aoe::tuner {

/// What kAuto stands for: a model that fits into the L3 cache finds its weights there at the next
/// run; a larger one has evicted them. Others stay.
WeightsIn resolved(WeightsIn weights_in, std::uint64_t model_bytes, const compiler::Soc& soc);

class CacheState {
 public:
  /// `weights_in` must not be kAuto: who knows the model has decided.
  CacheState(const compiler::Soc& soc, WeightsIn weights_in);

  /// `team`: of the om whose weights they are.
  void evict_weights(const void* weights, std::size_t size_bytes, runtime::ThreadTeam team) const;
  /// Reads it once, so that it is as warm as what the op before has just written.
  static void touch(const void* data, std::size_t size_bytes);

 private:
  void evict_l2(runtime::ThreadTeam team) const;

  WeightsIn weights_in_;
  int threads_;
  std::size_t thread_bytes_;             ///< read by every thread to replace its L1 and L2
  std::unique_ptr<std::byte[]> filler_;  ///< threads_ * thread_bytes_
};

}  // namespace aoe::tuner
