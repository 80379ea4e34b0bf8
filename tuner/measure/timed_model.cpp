// Runs an om and reads the recorder's events of that run.
#include "tuner/measure/timed_model.h"

#include "base/check.h"
#include "profiler/recorder.h"
#include "runtime/thread_team.h"
#include "tuner/measure/core_wait.h"

namespace aoe::tuner {
namespace {

/// Waking a sleeping thread counts as waiting, too: some microseconds of it are normal.
constexpr double kDisturbedShare = 0.05;

std::uint32_t run_event_name() {
  static const std::uint32_t id = profiler::intern("tuner.run");
  return id;
}

}  // namespace

bool is_conversion(const runtime::OmStep& step) {
  return step.op_types.size() == 1 && step.op_types.front() == "TransData" && step.origins.empty();
}

void TimedModel::run() {
  if (threads_ > 1) runtime::run_on_each(runtime::team_of(om()), threads_, [](int) {});
  const std::uint64_t wait_before_ns = core_wait_ns();
  profiler::start();
  {
    const profiler::Span span(profiler::EventKind::kStamp, run_event_name());
    model_.run();
  }
  profiler::stop();
  step_ns_.assign(om().steps.size(), 0);
  total_ns_ = 0;
  for (const profiler::Event& event : profiler::drain()) {
    const double duration_ns = profiler::to_ns(event.end_ticks - event.begin_ticks);
    if (event.kind == profiler::EventKind::kTask && event.value < step_ns_.size())
      step_ns_[event.value] += duration_ns;
    else if (event.kind == profiler::EventKind::kStamp && event.name_id == run_event_name())
      total_ns_ += duration_ns;
  }
  const auto waited_ns = static_cast<double>(core_wait_ns() - wait_before_ns);
  was_disturbed_ = waited_ns > kDisturbedShare * total_ns_;
  AOE_CHECK(total_ns_ > 0, "the recorder lost the run's event");
}

}  // namespace aoe::tuner
