// RawMemory: a visitor that keeps everything; numbered events that tell whether they are torn.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "profiler/raw/raw_reader.h"
#include "profiler/raw/raw_writer.h"

namespace aoe::profiler::tests {

struct RawMemory : RawVisitor {
  void on_string(std::uint32_t id, std::string_view text) override {
    strings[id] = std::string(text);
  }
  void on_thread(std::uint16_t thread, std::int64_t os_thread_id, std::string_view name) override {
    threads[thread] = std::to_string(os_thread_id) + " " + std::string(name);
  }
  void on_model(const nlohmann::json& model) override { models.push_back(model); }
  void on_events(std::span<const RawEvent> more) override {
    if (events.empty()) strings_when_first_event_came = strings.size();
    events.insert(events.end(), more.begin(), more.end());
  }
  void on_counters(std::span<const RawCounters> more) override {
    counters.insert(counters.end(), more.begin(), more.end());
  }
  void on_samples(std::span<const RawSample> more) override {
    samples.insert(samples.end(), more.begin(), more.end());
  }

  std::map<std::uint32_t, std::string> strings;
  std::map<std::uint16_t, std::string> threads;
  std::vector<nlohmann::json> models;
  std::vector<RawEvent> events;
  std::vector<RawCounters> counters;
  std::vector<RawSample> samples;
  std::size_t strings_when_first_event_came = 0;
};

inline RawEvent numbered_event(std::uint64_t number) {
  const auto n = static_cast<std::int64_t>(number);
  return {.begin_ns = n * 3,
          .end_ns = n * 3 + 1,
          .value = number,
          .name_id = 7,
          .kind = EventKind::kTask,
          .thread = 2};
}
inline std::uint64_t event_number(const RawEvent& event) {
  return event.value;
}
inline bool is_untorn(const RawEvent& event) {
  const RawEvent wanted = numbered_event(event.value);
  return std::memcmp(&event, &wanted, sizeof event) == 0;
}

inline void add_events(RawWriter& writer, Stream stream, std::uint64_t first, std::uint64_t count) {
  std::vector<RawEvent> events;
  for (std::uint64_t i = 0; i < count; ++i) events.push_back(numbered_event(first + i));
  ASSERT_TRUE(
      writer.add(stream, ChunkKind::kEvents,
                 {reinterpret_cast<const char*>(events.data()), events.size() * sizeof(RawEvent)}))
      << writer.stop_reason();
}

inline void add_strings(RawWriter& writer, const std::map<std::uint32_t, std::string>& strings) {
  std::string payload;
  for (const auto& [id, text] : strings) {
    const auto length = static_cast<std::uint32_t>(text.size());
    payload.append(reinterpret_cast<const char*>(&id), sizeof id);
    payload.append(reinterpret_cast<const char*>(&length), sizeof length);
    payload.append(text);
  }
  ASSERT_TRUE(writer.add(Stream::kDictionary, ChunkKind::kStrings, payload));
}

}  // namespace aoe::profiler::tests
