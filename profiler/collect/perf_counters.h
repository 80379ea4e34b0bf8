// PerfCounters: a group of hardware counters of the calling thread, read without a system call where the kernel allows it.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/descriptor.h"
#include "base/result.h"

namespace aoe::profiler {

/// An event as perf_event_open(2) takes it.
struct PerfEvent {
  std::string name;
  std::uint32_t type = 0;
  std::uint64_t config = 0;
};

inline constexpr std::size_t kMostPerfCounters = 8;

/// What a counter shows: the kernel shares too few counters out in turns, so that one may have run for a part of the time
/// that it was enabled for only.
struct CounterReading {
  std::uint64_t count = 0;
  std::uint64_t enabled_ns = 0;
  std::uint64_t running_ns = 0;
};
using CounterReadings = std::array<CounterReading, kMostPerfCounters>;

/// Counted between two readings, scaled up to the whole time; 0 when the counter did not run at all.
std::uint64_t corrected_count(const CounterReading& before, const CounterReading& after);

class PerfCounters {
 public:
  /// Counts in user mode on the calling thread from now on. The reason when the machine, or the kernel's
  /// perf_event_paranoid, does not give one of the events.
  static Result<std::unique_ptr<PerfCounters>> open(std::span<const PerfEvent> events);
  ~PerfCounters();
  PerfCounters(const PerfCounters&) = delete;
  PerfCounters& operator=(const PerfCounters&) = delete;

  /// Of the thread that opened them, on that thread.
  void read(CounterReadings& readings) const;
  std::size_t size() const { return counters_.size(); }

 private:
  struct Counter {
    Descriptor file;
    void* page;  ///< the kernel's perf_event_mmap_page; nullptr: read by system call
  };
  PerfCounters() = default;

  std::vector<Counter> counters_;
};

}  // namespace aoe::profiler
