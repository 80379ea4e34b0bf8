// The recorder: the hot path of every measurement. No third party; of base/, what is held while the program forks alone.
//
// Each thread writes fixed-size binary events into its own single-producer ring; nothing locks,
// allocates or formats on the way. Ticks are TSC ticks, calibrated against CLOCK_MONOTONIC once per
// process (to_ns()). One reader drains all rings (drain()), during or after the run. When recording
// is off, an event costs one load and one branch.
//
//   profiler::start();
//   { profiler::Span span(profiler::EventKind::kTask, name_id); kernel(); }
//   for (const profiler::Event& e : profiler::drain()) ...
//
// Times are in TSC ticks until converted. A ring that is full (kRingEvents not yet drained) drops
// the newest event and counts it (lost_events()). The first event of a thread is the exception: it
// makes the thread's ring.
#pragma once

#include <x86intrin.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace aoe::profiler {

enum class EventKind : std::uint16_t {
  kApi = 0,
  kTask = 1,
  kStep = 2,
  kStamp = 3,
  kMemory = 4,
  kCounter = 5,
  kPass = 6,
  kLaunch = 7  ///< the executor hands ops to what carries them out
};

/// 32 bytes, written once. begin == end for instants.
struct Event {
  std::uint64_t begin_ticks;
  std::uint64_t end_ticks;
  std::uint32_t name_id;  ///< from intern()
  EventKind kind;
  std::uint16_t thread;  ///< dense index of the writing thread; reused after it ended and its
                         ///< events were drained
  std::uint64_t value;   ///< kind-specific: task_value(), bytes, counter
};
static_assert(sizeof(Event) == 32);

/// The value of a kTask and a kStep event: which op of which run. `run_and_model` is
/// run number << kModelBits | model id; run numbers count from 1 and wrap after 2^20.
inline constexpr int kModelBits = 12;
inline constexpr std::uint32_t kMostModelId = (1u << kModelBits) - 1;
inline constexpr std::uint32_t kWholeModel = 0xffffffff;  ///< the op index of a kStep
constexpr std::uint64_t task_value(std::uint32_t op_index, std::uint32_t run_and_model) {
  return std::uint64_t{run_and_model} << 32 | op_index;
}
constexpr std::uint32_t op_index_of(std::uint64_t value) {
  return static_cast<std::uint32_t>(value);
}
constexpr std::uint32_t run_and_model_of(std::uint64_t value) {
  return static_cast<std::uint32_t>(value >> 32);
}

/// Events that each thread can record between two drains.
inline constexpr std::uint64_t kRingEvents = 1 << 16;

inline std::uint64_t now_ticks() {
  return __rdtsc();
}
/// Ticks -> nanoseconds (durations). Within a few ppm; the first call may wait 20 ms for the
/// calibration.
double to_ns(std::uint64_t ticks);
/// Ticks -> CLOCK_MONOTONIC nanoseconds (points in time).
std::int64_t to_monotonic_ns(std::uint64_t ticks);

/// Registers a name once and returns its id; takes a lock, so do it at load time, not on the hot
/// path.
std::uint32_t intern(std::string_view name);
std::string name_of(std::uint32_t name_id);  ///< empty when unknown

/// A text that is interned when it is first asked for. As a static object it needs no guard, which a fork() of another thread
/// could leave taken for good in the child.
class LazyName {
 public:
  constexpr explicit LazyName(const char* text) : text_(text) {}
  std::uint32_t id();

 private:
  static constexpr std::uint32_t kNone = 0xffffffff;
  const char* text_;
  std::atomic<std::uint32_t> id_{kNone};
};

/// One bit for each kind of event.
using KindSet = std::uint32_t;
constexpr KindSet kind_bit(EventKind kind) {
  return KindSet{1} << static_cast<int>(kind);
}
/// All but launches, which lie over the tasks that they launch.
inline constexpr KindSet kUsualKinds = ~kind_bit(EventKind::kLaunch);

extern std::atomic<bool> recording;
extern std::atomic<KindSet> recorded_kinds;
/// Whether events of this kind are wanted now. Who records must ask: record() does not.
inline bool is_recorded(EventKind kind) {
  return recording.load(std::memory_order_relaxed) &&
         (recorded_kinds.load(std::memory_order_relaxed) & kind_bit(kind)) != 0;
}
/// Undrained events of an earlier recording are kept.
void start(KindSet kinds = kUsualKinds);
void stop();
/// Moves all events recorded so far out of the rings, ordered by begin_ticks. Thread-safe, also
/// while others record.
std::vector<Event> drain();
/// The events of one thread, in the order in which it recorded them.
struct ThreadEvents {
  std::int64_t os_thread_id;
  std::span<const Event> events;  ///< in the ring itself: valid during the call only
};
/// The same without a copy or an order between threads, for who drains all the time. `take` runs
/// with the recorder locked; it must not call the recorder.
void drain_in_place(const std::function<void(const ThreadEvents&)>& take);
/// Events dropped since the last start().
std::uint64_t lost_events();

/// Records one event of the calling thread when recording is on, of whatever kind; wait-free.
void record(EventKind kind, std::uint32_t name_id, std::uint64_t begin_ticks,
            std::uint64_t end_ticks, std::uint64_t value = 0);

/// Records from construction to destruction when its kind is recorded.
class Span {
 public:
  Span(EventKind kind, std::uint32_t name_id, std::uint64_t value = 0)
      : begin_(is_recorded(kind) ? now_ticks() : 0),
        value_(value),
        name_id_(name_id),
        kind_(kind) {}
  ~Span() {
    if (begin_ != 0) record(kind_, name_id_, begin_, now_ticks(), value_);
  }
  Span(const Span&) = delete;
  Span& operator=(const Span&) = delete;

 private:
  std::uint64_t begin_;
  std::uint64_t value_;
  std::uint32_t name_id_;
  EventKind kind_;
};

}  // namespace aoe::profiler
