// The names of launches.
#include "runtime/task_recording.h"

namespace aoe::runtime {
namespace {

std::uint32_t name_of_launch(StepKind kind) {
  static const std::uint32_t generated = profiler::intern("LaunchGenerated");
  static const std::uint32_t primitive = profiler::intern("LaunchPrimitive");
  static const std::uint32_t reference = profiler::intern("LaunchReference");
  if (kind == StepKind::kJit) return generated;
  return kind == StepKind::kOneDnn ? primitive : reference;
}

}  // namespace

void LaunchSpan::record() const {
  profiler::record(profiler::EventKind::kLaunch, name_of_launch(kind_), begin_,
                   profiler::now_ticks(), run_and_model_);
}

}  // namespace aoe::runtime
