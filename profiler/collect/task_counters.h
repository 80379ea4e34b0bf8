// TaskCounters: what the hardware counters of the calling thread say about each task.
//
// The counters run per thread; a thread opens its own when it first counts. A task's counts are those of the thread that
// records it, which with several threads carries out its share of the work: ratios of counts are the task's, sums are not.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "profiler/collect/perf_counters.h"

namespace aoe::profiler {

/// Whether counters are wanted and were found to work; set by the collection.
extern std::atomic<bool> counting;

class TaskCounters {
 public:
  /// Takes the first reading; needs `counting`.
  void begin();
  /// Records what was counted since the last reading as kCounter events of the task, and goes on from here.
  void record(std::uint64_t task_begin_ticks, std::uint64_t task_value);

 private:
  PerfCounters* counters_ = nullptr;  ///< the thread's; nullptr: not to be had
  CounterReadings last_{};
};

}  // namespace aoe::profiler
