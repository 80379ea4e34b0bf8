// Per-thread rings of events, the clock calibration and the names behind them.
// Tested by tests/profiler/recorder_test.cpp; the cost of record() is in benchmarks/.
#include "profiler/recorder.h"

#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <deque>
#include <limits>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "base/held_at_fork.h"

namespace aoe::profiler {
namespace {

// ---- rings ----

static_assert((kRingEvents & (kRingEvents - 1)) == 0, "positions are masked");
constexpr std::uint64_t kRingMask = kRingEvents - 1;
constexpr std::size_t kCacheLine = 64;

/// Single producer (its thread), single consumer (whoever holds the registry's mutex). Positions
/// count events since the ring was made and never wrap in practice; position & kRingMask is the
/// slot.
struct Ring {
  explicit Ring(std::uint16_t thread_index) : thread(thread_index) {}

  // Written by the producer. The consumer's position is cached here, so that the producer touches
  // the consumer's cache line only once per turn of the ring.
  alignas(kCacheLine) std::atomic<std::uint64_t> written{0};
  std::uint64_t cached_consumed = 0;
  std::atomic<std::uint64_t> lost{0};
  const std::uint16_t thread;
  // Written by the consumer.
  alignas(kCacheLine) std::atomic<std::uint64_t> consumed{0};
  std::atomic<bool> owner_exited{false};
  std::int64_t os_thread_id = 0;  ///< of the owner; guarded by the registry's mutex
  // Not cleared when made: a page of it exists only once an event was written there.
  std::unique_ptr<Event[]> events{std::make_unique_for_overwrite<Event[]>(kRingEvents)};
};

struct Registry {
  std::mutex mutex;
  std::vector<std::unique_ptr<Ring>> rings;  ///< index = Ring::thread
  std::vector<Ring*> idle;                   ///< owner gone, drained: serves the next new thread
  std::unordered_map<std::string, std::uint32_t> ids;
  std::deque<std::string> names;
  std::uint64_t lost_before_start = 0;
};

/// Never destroyed: threads may still end, and record, while static objects are being destroyed.
Registry& registry() {
  static Registry& instance = *std::make_unique<Registry>().release();
  return instance;
}
const HeldAtFork held_registry(registry().mutex, LockRung::kRecorder);

constinit thread_local Ring* this_ring = nullptr;
constinit thread_local bool this_thread_exited = false;

/// Events that no ring could take: recorded while their thread was ending, or by too many threads.
std::atomic<std::uint64_t> homeless_events{0};

/// Gives the ring back when its thread ends. Its events stay until they are drained.
struct RingLease {
  ~RingLease() {
    this_thread_exited = true;
    if (this_ring != nullptr) this_ring->owner_exited.store(true, std::memory_order_release);
    this_ring = nullptr;
  }
};

/// First event of a thread: the only time that record() locks and allocates.
Ring* acquire_ring() {
  if (this_thread_exited) return nullptr;
  static thread_local RingLease lease;
  (void)lease;
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  if (!all.idle.empty()) {
    Ring* ring = all.idle.back();
    all.idle.pop_back();
    ring->owner_exited.store(false, std::memory_order_relaxed);
    ring->os_thread_id = ::gettid();
    return this_ring = ring;
  }
  if (all.rings.size() > std::numeric_limits<std::uint16_t>::max()) return nullptr;
  all.rings.push_back(std::make_unique<Ring>(static_cast<std::uint16_t>(all.rings.size())));
  all.rings.back()->os_thread_id = ::gettid();
  return this_ring = all.rings.back().get();
}

std::uint64_t total_lost(const Registry& all) {
  std::uint64_t lost = homeless_events.load(std::memory_order_relaxed);
  for (const auto& ring : all.rings) lost += ring->lost.load(std::memory_order_relaxed);
  return lost;
}

void drain_ring(Ring& ring, const std::function<void(const ThreadEvents&)>& take) {
  const std::uint64_t end = ring.written.load(std::memory_order_acquire);
  std::uint64_t position = ring.consumed.load(std::memory_order_relaxed);
  while (position < end) {  // twice when the events wrap around
    const std::uint64_t slot = position & kRingMask;
    const std::uint64_t count = std::min(end - position, kRingEvents - slot);
    take({ring.os_thread_id, {ring.events.get() + slot, count}});
    position += count;
  }
  ring.consumed.store(end, std::memory_order_release);
}

// ---- clock ----

/// One instant on both clocks.
struct ClockPair {
  std::uint64_t ticks;
  std::int64_t monotonic_ns;
};

std::int64_t monotonic_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

/// Of several attempts the one whose two tick readings enclose the clock most tightly: an interrupt
/// in between spoils an attempt, not the result.
ClockPair read_both_clocks() {
  ClockPair best{};
  std::uint64_t best_width = std::numeric_limits<std::uint64_t>::max();
  for (int attempt = 0; attempt < 16; ++attempt) {
    const std::uint64_t before = now_ticks();
    const std::int64_t ns = monotonic_ns();
    const std::uint64_t width = now_ticks() - before;
    if (width >= best_width) continue;
    best_width = width;
    best = {before + width / 2, ns};
  }
  return best;
}

/// Taken when the program starts, so that to_ns() rarely has to wait for the baseline to grow long
/// enough.
const ClockPair kProcessStart = read_both_clocks();

struct Calibration {
  ClockPair origin;
  double ns_per_tick;
};

/// A pair is read to some 20 ns, so a baseline of 20 ms puts the rate within about 2 ppm.
const Calibration& calibration() {
  static const Calibration result = [] {
    constexpr std::int64_t kBaselineNs = 20'000'000;
    const std::int64_t missing_ns = kProcessStart.monotonic_ns + kBaselineNs - monotonic_ns();
    if (missing_ns > 0) {
      const timespec wait{.tv_sec = 0, .tv_nsec = static_cast<long>(missing_ns)};
      clock_nanosleep(CLOCK_MONOTONIC, 0, &wait, nullptr);
    }
    const ClockPair now = read_both_clocks();
    const auto elapsed_ns = static_cast<double>(now.monotonic_ns - kProcessStart.monotonic_ns);
    const auto elapsed_ticks = static_cast<double>(now.ticks - kProcessStart.ticks);
    return Calibration{now, elapsed_ns / elapsed_ticks};
  }();
  return result;
}

}  // namespace

std::atomic<bool> recording{false};
std::atomic<KindSet> recorded_kinds{kUsualKinds};

double to_ns(std::uint64_t ticks) {
  return static_cast<double>(ticks) * calibration().ns_per_tick;
}

std::int64_t to_monotonic_ns(std::uint64_t ticks) {
  const Calibration& clock = calibration();
  const auto since_origin = static_cast<std::int64_t>(ticks - clock.origin.ticks);  // may be < 0
  return clock.origin.monotonic_ns +
         static_cast<std::int64_t>(static_cast<double>(since_origin) * clock.ns_per_tick);
}

std::uint32_t intern(std::string_view name) {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  const auto next_id = static_cast<std::uint32_t>(all.names.size());
  const auto [entry, is_new] = all.ids.try_emplace(std::string(name), next_id);
  if (is_new) all.names.push_back(entry->first);
  return entry->second;
}

std::uint32_t LazyName::id() {
  std::uint32_t known = id_.load(std::memory_order_relaxed);
  if (known == kNone) id_.store(known = intern(text_), std::memory_order_relaxed);
  return known;
}

std::string name_of(std::uint32_t name_id) {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  return name_id < all.names.size() ? all.names[name_id] : std::string();
}

void start(KindSet kinds) {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  recorded_kinds.store(kinds, std::memory_order_relaxed);
  all.lost_before_start = total_lost(all);
  recording.store(true, std::memory_order_relaxed);
}

void stop() {
  recording.store(false, std::memory_order_relaxed);
}

void drain_in_place(const std::function<void(const ThreadEvents&)>& take) {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  for (const auto& ring : all.rings) {
    // Before the events: what an ended thread wrote is then certainly seen below.
    const bool ended = ring->owner_exited.load(std::memory_order_acquire);
    drain_ring(*ring, take);
    const bool is_idle = std::find(all.idle.begin(), all.idle.end(), ring.get()) != all.idle.end();
    if (ended && !is_idle) all.idle.push_back(ring.get());
  }
}

std::vector<Event> drain() {
  std::vector<Event> events;
  drain_in_place([&](const ThreadEvents& of_thread) {
    events.insert(events.end(), of_thread.events.begin(), of_thread.events.end());
  });
  std::stable_sort(events.begin(), events.end(),
                   [](const Event& a, const Event& b) { return a.begin_ticks < b.begin_ticks; });
  return events;
}

std::uint64_t lost_events() {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  return total_lost(all) - all.lost_before_start;
}

void record(EventKind kind, std::uint32_t name_id, std::uint64_t begin_ticks,
            std::uint64_t end_ticks, std::uint64_t value) {
  if (!recording.load(std::memory_order_relaxed)) return;
  Ring* ring = this_ring;
  if (ring == nullptr) [[unlikely]] {
    ring = acquire_ring();
    if (ring == nullptr) {
      homeless_events.fetch_add(1, std::memory_order_relaxed);
      return;
    }
  }
  const std::uint64_t position = ring->written.load(std::memory_order_relaxed);
  if (position - ring->cached_consumed >= kRingEvents) [[unlikely]] {
    ring->cached_consumed = ring->consumed.load(std::memory_order_acquire);
    if (position - ring->cached_consumed >= kRingEvents) {
      ring->lost.fetch_add(1, std::memory_order_relaxed);
      return;
    }
  }
  ring->events[position & kRingMask] = {begin_ticks, end_ticks, name_id, kind, ring->thread, value};
  ring->written.store(position + 1, std::memory_order_release);
}

}  // namespace aoe::profiler
