// One set of counters for each thread that counts.
#include "profiler/collect/task_counters.h"

#include <memory>

#include "profiler/collect/collection.h"
#include "profiler/recorder.h"

namespace aoe::profiler {
namespace {

/// Opened anew for each collection, since each may want other events.
struct ThreadCounters {
  std::uint64_t collection = 0;
  std::unique_ptr<PerfCounters> counters;
};
thread_local ThreadCounters of_thread;

PerfCounters* counters_of_this_thread() {
  const CountedEvents wanted = counted_events();
  if (of_thread.collection != wanted.collection) {
    of_thread.collection = wanted.collection;
    auto opened = PerfCounters::open(*wanted.events);
    // They opened when the collection tried them; if this thread gets none, its tasks have no counters.
    of_thread.counters = opened ? std::move(opened).value() : nullptr;
  }
  return of_thread.counters.get();
}

}  // namespace

std::atomic<bool> counting{false};

void TaskCounters::begin() {
  counters_ = counters_of_this_thread();
  if (counters_ != nullptr) counters_->read(last_);
}

void TaskCounters::record(std::uint64_t task_begin_ticks, std::uint64_t task_value) {
  if (counters_ == nullptr) return;
  CounterReadings now = last_;
  counters_->read(now);
  for (std::size_t i = 0; i < counters_->size(); ++i)
    profiler::record(EventKind::kCounter, static_cast<std::uint32_t>(i), task_begin_ticks,
                     corrected_count(last_[i], now[i]), task_value);
  counters_->read(last_);
}

}  // namespace aoe::profiler
