// The names of launches.
#include "runtime/task_recording.h"

namespace aoe::runtime {
namespace {

std::uint32_t name_of_launch(StepKind kind) {
  static constinit profiler::LazyName generated("LaunchGenerated");
  static constinit profiler::LazyName primitive("LaunchPrimitive");
  static constinit profiler::LazyName reference("LaunchReference");
  if (kind == StepKind::kJit) return generated.id();
  return kind == StepKind::kOneDnn ? primitive.id() : reference.id();
}

}  // namespace

void LaunchSpan::record() const {
  profiler::record(profiler::EventKind::kLaunch, name_of_launch(kind_), begin_,
                   profiler::now_ticks(), run_and_model_);
}

}  // namespace aoe::runtime
