// perf_event_open and rdpmc. Tested by tests/profiler/collect_test.cpp, with software events where there are no others.
#include "profiler/collect/perf_counters.h"

#include <linux/perf_event.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <x86intrin.h>

#include <atomic>
#include <cerrno>
#include <cstring>

namespace aoe::profiler {
namespace {

int open_event(const PerfEvent& event) {
  perf_event_attr attributes{};
  attributes.size = sizeof attributes;
  attributes.type = event.type;
  attributes.config = event.config;
  attributes.exclude_kernel = 1;
  attributes.exclude_hv = 1;
  attributes.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
  return static_cast<int>(::syscall(SYS_perf_event_open, &attributes, /*pid=*/0, /*cpu=*/-1,
                                    /*group=*/-1, PERF_FLAG_FD_CLOEXEC));
}

void* map_page(int file) {
  void* const page = ::mmap(nullptr, static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)), PROT_READ,
                            MAP_SHARED, file, 0);
  return page == MAP_FAILED ? nullptr : page;
}

/// The kernel's recipe (perf_event.h): a sequence lock around index, offset and times. False where user space may not read.
bool read_page(const void* mapped, CounterReading& reading) {
  const auto* const page = static_cast<const volatile perf_event_mmap_page*>(mapped);
  std::uint32_t sequence = 0;
  do {
    sequence = page->lock;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    if (!page->cap_user_rdpmc || !page->cap_user_time || page->index == 0) return false;
    reading.enabled_ns = page->time_enabled;
    reading.running_ns = page->time_running;
    // The times are those of the last context switch; this is what passed since.
    const std::uint64_t cycles = __rdtsc();
    const std::uint16_t shift = page->time_shift;
    const std::uint64_t whole = cycles >> shift;
    const std::uint64_t rest = cycles & ((std::uint64_t{1} << shift) - 1);
    const std::uint64_t passed_ns =
        page->time_offset + whole * page->time_mult + ((rest * page->time_mult) >> shift);
    reading.enabled_ns += passed_ns;
    reading.running_ns += passed_ns;
    const int unused_bits = 64 - page->pmc_width;
    const auto since_then =
        static_cast<std::int64_t>(__rdpmc(static_cast<int>(page->index - 1)) << unused_bits) >>
        unused_bits;
    reading.count = static_cast<std::uint64_t>(page->offset + since_then);
    std::atomic_signal_fence(std::memory_order_seq_cst);
  } while (page->lock != sequence);
  return true;
}

void read_file(int file, CounterReading& reading) {
  // A short read leaves the last values: the difference is then 0.
  std::uint64_t values[3];
  if (::read(file, values, sizeof values) == sizeof values)
    reading = {values[0], values[1], values[2]};
}

}  // namespace

std::uint64_t corrected_count(const CounterReading& before, const CounterReading& after) {
  const std::uint64_t count = after.count - before.count;
  const std::uint64_t enabled_ns = after.enabled_ns - before.enabled_ns;
  const std::uint64_t running_ns = after.running_ns - before.running_ns;
  if (running_ns >= enabled_ns) return count;
  if (running_ns == 0) return 0;
  return static_cast<std::uint64_t>(static_cast<double>(count) * static_cast<double>(enabled_ns) /
                                    static_cast<double>(running_ns));
}

Result<std::unique_ptr<PerfCounters>> PerfCounters::open(std::span<const PerfEvent> events) {
  std::unique_ptr<PerfCounters> counters(new PerfCounters());
  for (const PerfEvent& event : events) {
    Descriptor file(open_event(event));
    if (!file.is_open()) return Unexpected("counter " + event.name + ": " + std::strerror(errno));
    void* const page = map_page(file.number());
    counters->counters_.push_back({std::move(file), page});
  }
  return counters;
}

PerfCounters::~PerfCounters() {
  for (const Counter& counter : counters_)
    if (counter.page != nullptr)
      ::munmap(counter.page, static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)));
}

void PerfCounters::read(CounterReadings& readings) const {
  for (std::size_t i = 0; i < counters_.size(); ++i)
    if (counters_[i].page == nullptr || !read_page(counters_[i].page, readings[i]))
      read_file(counters_[i].file.number(), readings[i]);
}

}  // namespace aoe::profiler
