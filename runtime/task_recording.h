// Recording what the executor does: tasks with their hardware counters, and launches.
#pragma once

#include <cstdint>

#include "profiler/collect/task_counters.h"
#include "profiler/recorder.h"
#include "runtime/executor.h"

namespace aoe::runtime {

/// Decided once for each execution, so that its threads agree.
struct TaskRecording {
  bool is_on = false;
  bool with_counters = false;
  std::uint32_t run_and_model = 0;
};
inline TaskRecording task_recording(const RunTag& tag) {
  if (!tag.is_sampled || !profiler::is_recorded(profiler::EventKind::kTask)) return {};
  return {true, profiler::counting.load(std::memory_order_acquire), tag.run_and_model};
}

/// Records the tasks of one thread back to back: the end of one is the beginning of the next.
class TaskClock {
 public:
  explicit TaskClock(const TaskRecording& recording) : recording_(recording) {
    if (recording_.with_counters) counters_.begin();
    if (recording_.is_on) begin_ = profiler::now_ticks();
  }

  /// What ran since then recorded itself.
  void go_on() {
    if (recording_.with_counters) counters_.begin();
    if (recording_.is_on) begin_ = profiler::now_ticks();
  }

  const TaskRecording& recording() const { return recording_; }

  void task_done(std::uint32_t name_id, int step) {
    if (!recording_.is_on) return;
    const std::uint64_t end = profiler::now_ticks();
    const std::uint64_t value =
        profiler::task_value(static_cast<std::uint32_t>(step), recording_.run_and_model);
    if (recording_.with_counters) counters_.record(begin_, value);
    profiler::record(profiler::EventKind::kTask, name_id, begin_, end, value);
    // Reading counters takes its time, which belongs to no task.
    begin_ = recording_.with_counters ? profiler::now_ticks() : end;
  }

 private:
  const TaskRecording recording_;
  std::uint64_t begin_ = 0;
  profiler::TaskCounters counters_;
};

/// One event for each part of a model that is handed over at once, when launches are recorded.
class LaunchSpan {
 public:
  LaunchSpan(std::uint32_t name, const RunTag& tag)
      : name_(name),
        run_and_model_(tag.run_and_model),
        begin_(tag.is_sampled && !tag.is_body && profiler::is_recorded(profiler::EventKind::kLaunch)
                   ? profiler::now_ticks()
                   : 0) {}
  ~LaunchSpan() {
    if (begin_ != 0)
      profiler::record(profiler::EventKind::kLaunch, name_, begin_, profiler::now_ticks(),
                       run_and_model_);
  }
  LaunchSpan(const LaunchSpan&) = delete;
  LaunchSpan& operator=(const LaunchSpan&) = delete;

 private:
  std::uint32_t name_;
  std::uint32_t run_and_model_;
  std::uint64_t begin_;
};

}  // namespace aoe::runtime
