// The Executors of bodies, for steps that run them.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "runtime/backend.h"
#include "runtime/executor.h"
#include "runtime/task_recording.h"

namespace aoe::runtime {

/// On the threads of the om that the step lies in; its ops are counted on. `arena`: as in ExecutorOptions. Throws as the
/// Executor does.
std::unique_ptr<Executor> open_body(const LoadContext& context, Om body,
                                    std::span<std::byte> arena = {});

/// A step that runs bodies, as profiles know it: ops of bodies are tasks of their own, unless they are not to be recorded, and what
/// lies before, between and behind them is the step's.
class BodyOwner {
 public:
  /// Step `index` of what `context` loads.
  BodyOwner(const LoadContext& context, std::size_t index);

  void run_body(Executor& body, std::span<const Tensor> inputs, std::span<Tensor> outputs,
                TaskClock& clock) const;
  /// Whether ops of bodies are tasks of their own.
  bool records(const TaskClock& clock) const { return records_bodies_ && clock.recording().is_on; }
  /// All since the clock was last asked was the step's.
  void task_done(TaskClock& clock) const { clock.task_done(name_, number_); }

 private:
  const std::uint32_t name_;  ///< in events
  const int number_;
  const bool records_bodies_;
};

}  // namespace aoe::runtime
