// Converting events, and finding out names and threads.
#include "profiler/collect/event_sorter.h"

#include <algorithm>
#include <fstream>
#include <utility>

#include "profiler/stamp.h"

namespace aoe::profiler {
namespace {

constexpr std::size_t kBytesPerChunk = 1 << 20;
constexpr std::uint64_t kRuntimeLevel = 5000;

template <typename T>
void append(std::string& payload, const T& value) {
  payload.append(reinterpret_cast<const char*>(&value), sizeof value);
}

/// Empty when the thread has ended already.
std::string name_of_thread(std::int64_t os_thread_id) {
  std::ifstream in("/proc/self/task/" + std::to_string(os_thread_id) + "/comm");
  std::string name;
  std::getline(in, name);
  return name;
}

}  // namespace

bool EventSorter::drain() {
  drain_in_place([this](const ThreadEvents& events) { take(events); });
  return write();
}

void EventSorter::take(const ThreadEvents& of_thread) {
  if (of_thread.events.empty()) return;
  const std::uint16_t thread = thread_index(of_thread.os_thread_id);
  for (const Event& event : of_thread.events) {
    if (event.kind == EventKind::kCounter) {
      take_counter(event, thread);
      continue;
    }
    if (event.kind == EventKind::kStamp || event.kind == kStampDetail) {
      take_stamp(event, thread);
      continue;
    }
    note_name(event.name_id);
    RawEvent raw{.begin_ns = to_monotonic_ns(event.begin_ticks),
                 .end_ns = to_monotonic_ns(event.end_ticks),
                 .value = event.value,
                 .name_id = event.name_id,
                 .kind = event.kind,
                 .thread = thread};
    if (event.kind == EventKind::kLaunch) {
      raw.kind = EventKind::kApi;
      raw.value = kRuntimeLevel | event.value << 16;
    }
    const bool is_task = event.kind == EventKind::kTask || event.kind == EventKind::kStep ||
                         event.kind == EventKind::kMemory;
    (is_task ? task_events_ : api_events_).push_back(raw);
  }
}

/// The counters of a task come as one event each, in the order of the group, just before the task's own. A full ring may have
/// dropped some of them.
void EventSorter::take_counter(const Event& event, std::uint16_t thread) {
  const std::size_t slot = event.name_id;
  if (slot >= kMostCounters) return;
  const std::int64_t task_begin_ns = to_monotonic_ns(event.begin_ticks);
  if (slot == 0)
    counters_.push_back({.task_begin_ns = task_begin_ns,
                         .thread = thread,
                         .op_index = op_index_of(event.value),
                         .run_and_model = run_and_model_of(event.value),
                         .values = {}});
  if (counters_.empty()) return;
  RawCounters& of_task = counters_.back();
  if (of_task.thread == thread && of_task.task_begin_ns == task_begin_ns)
    of_task.values[slot] = event.end_ticks;
}

/// A detail goes with the stamp that it was recorded for, or not at all: a full ring may have dropped either.
void EventSorter::take_stamp(const Event& event, std::uint16_t thread) {
  if (event.kind == kStampDetail) {
    stamp_details_[thread] = event;
    return;
  }
  RawEvent raw{.begin_ns = to_monotonic_ns(event.begin_ticks),
               .end_ns = to_monotonic_ns(event.end_ticks),
               .value = event.value & ~kStampHasDetail,
               .name_id = event.name_id,
               .kind = EventKind::kStamp,
               .thread = thread};
  const auto found = stamp_details_.find(thread);
  if ((event.value & kStampHasDetail) != 0 && found != stamp_details_.end() &&
      StampDetail::belongs_to(found->second.value, event.begin_ticks)) {
    const Event& detail = found->second;
    const auto names = StampDetail::unpack(detail.begin_ticks, 0, 0, 0);
    for (const std::uint32_t name : {names.category_name_id, names.tag_id})
      if (name != StampDetail::kNone) note_name(name);
    api_events_.push_back({.begin_ns = static_cast<std::int64_t>(detail.begin_ticks),
                           .end_ns = static_cast<std::int64_t>(detail.end_ticks),
                           .value = detail.value,
                           .name_id = detail.name_id,
                           .kind = kStampDetail,
                           .thread = thread});
    raw.value |= kStampHasDetail;
  }
  if (found != stamp_details_.end()) stamp_details_.erase(found);
  note_name(event.name_id);
  api_events_.push_back(raw);
}

std::uint16_t EventSorter::thread_index(std::int64_t os_thread_id) {
  const auto next = static_cast<std::uint16_t>(threads_.size());
  const auto [entry, is_new] = threads_.try_emplace(os_thread_id, next);
  if (is_new) {
    const std::string name = name_of_thread(os_thread_id);
    append(new_threads_, os_thread_id);
    append(new_threads_, entry->second);
    append(new_threads_, static_cast<std::uint16_t>(name.size()));
    new_threads_ += name;
  }
  return entry->second;
}

void EventSorter::note_name(std::uint32_t name_id) {
  if (name_id < known_names_.size() && known_names_[name_id]) return;
  if (name_id >= known_names_.size()) known_names_.resize(name_id + 1);
  known_names_[name_id] = true;
  new_names_.push_back(name_id);
}

bool EventSorter::write() {
  if (!new_names_.empty()) {
    std::string payload;
    for (const std::uint32_t id : new_names_) {
      const std::string name = name_of(id);
      append(payload, id);
      append(payload, static_cast<std::uint32_t>(name.size()));
      payload += name;
    }
    new_names_.clear();
    if (!writer_.add(Stream::kDictionary, ChunkKind::kStrings, payload)) return false;
  }
  if (!new_threads_.empty()) {
    const std::string payload = std::exchange(new_threads_, {});
    if (!writer_.add(Stream::kDictionary, ChunkKind::kThreads, payload)) return false;
  }
  return write_records(Stream::kApi, ChunkKind::kEvents, api_events_) &&
         write_records(Stream::kTasks, ChunkKind::kEvents, task_events_) &&
         write_records(Stream::kTasks, ChunkKind::kCounters, counters_);
}

template <typename Record>
bool EventSorter::write_records(Stream stream, ChunkKind kind, std::vector<Record>& records) {
  constexpr std::size_t kRecordsPerChunk = kBytesPerChunk / sizeof(Record);
  for (std::size_t i = 0; i < records.size(); i += kRecordsPerChunk) {
    const std::size_t count = std::min(kRecordsPerChunk, records.size() - i);
    if (!writer_.add(stream, kind,
                     {reinterpret_cast<const char*>(&records[i]), count * sizeof(Record)}))
      return false;
  }
  records.clear();
  return true;
}

bool EventSorter::add_name(std::uint32_t name_id) {
  note_name(name_id);
  return write();
}

bool EventSorter::add_samples(const std::vector<RawSample>& samples) {
  std::vector<RawSample> records = samples;
  return write_records(Stream::kSystem, ChunkKind::kSamples, records);
}

}  // namespace aoe::profiler
