// EventSorter: turns what the recorder hands out into raw chunks: names and threads first, then events by stream.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "profiler/raw/raw_writer.h"
#include "profiler/recorder.h"

namespace aoe::profiler {

class EventSorter {
 public:
  explicit EventSorter(RawWriter& writer) : writer_(writer) {}

  /// Moves everything out of the recorder into the writer. False when the writer has stopped.
  bool drain();
  /// Id of a name that no event has, for samples.
  bool add_name(std::uint32_t name_id);
  bool add_samples(const std::vector<RawSample>& samples);

 private:
  void take(const ThreadEvents& events);
  void take_counter(const Event& event, std::uint16_t thread);
  void take_stamp(const Event& event, std::uint16_t thread);
  std::uint16_t thread_index(std::int64_t os_thread_id);
  void note_name(std::uint32_t name_id);
  bool write();
  template <typename Record>
  bool write_records(Stream stream, ChunkKind kind, std::vector<Record>& records);

  RawWriter& writer_;
  std::map<std::int64_t, std::uint16_t> threads_;  ///< by the operating system's id
  std::vector<bool> known_names_;
  std::map<std::uint16_t, Event> stamp_details_;  ///< by thread: whose stamp has not come yet
  // Since the last write.
  std::vector<std::uint32_t> new_names_;
  std::string new_threads_;  ///< a payload of kThreads
  std::vector<RawEvent> api_events_;
  std::vector<RawEvent> task_events_;
  std::vector<RawCounters> counters_;
};

}  // namespace aoe::profiler
