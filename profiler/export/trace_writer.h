// TraceWriter: one JSON array of trace events, written event by event.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "profiler/export/text_file.h"

namespace aoe::profiler {

/// Whose events these are: pid = os pid << 10 | layer << 5 | device, as viewers of msprof expect.
enum class Layer : int {
  kCann = 7,
  kCpuUsage = 9,
  kMemoryUsage = 10,
  kHardware = 14,
  kFrequency = 15,
  kNpuMemory = 17,
  kStepTrace = 18,
  kMsTx = 19,
  kOverlap = 20,
  // Components of the host in the files of older releases.
  kAscendCl = 21,
  kGraphEngine = 22,
  kRuntime = 23,
  kTaskScheduler = 24
};
inline constexpr int kHostDevice = 31;

struct Track {
  std::int64_t pid = 0;
  std::int64_t tid = 0;
};

class TraceWriter {
 public:
  explicit TraceWriter(const std::filesystem::path& path);

  /// process_name, process_labels and process_sort_index.
  void process(std::int64_t pid, std::string_view name, std::string_view label, Layer layer);
  void thread(const Track& track, std::string_view name, std::int64_t sort_index);

  /// An event stays open for its args until close(). Keys are ours and need no escaping.
  TraceWriter& slice(std::string_view name, const Track& track, std::int64_t start_ns,
                     std::int64_t duration_ns);
  TraceWriter& counter(std::string_view name, const Track& track, std::int64_t time_ns);
  TraceWriter& arg(std::string_view key, std::string_view value);
  TraceWriter& arg(std::string_view key, std::int64_t value);
  TraceWriter& arg(std::string_view key, double value);
  void close();

  /// An arrow; both ends bind to the slice that holds their time.
  void flow_start(std::string_view category, std::string_view name, std::int64_t id,
                  const Track& track, std::int64_t time_ns);
  void flow_end(std::string_view category, std::string_view name, std::int64_t id,
                const Track& track, std::int64_t time_ns);

  void finish();
  std::uint64_t events() const { return events_; }

 private:
  void begin(std::string_view name, char phase, const Track& track);
  void metadata(std::string_view kind, const Track& track);
  void flow(char phase, std::string_view category, std::string_view name, std::int64_t id,
            const Track& track, std::int64_t time_ns);
  void key(std::string_view key);

  TextFile file_;
  std::string& out_;
  bool has_args_ = false;
  std::uint64_t events_ = 0;
};

/// The process id of a layer. Viewers take it as an opaque number.
constexpr std::int64_t layer_pid(std::int64_t os_process_id, Layer layer, int device) {
  return os_process_id << 10 | static_cast<std::int64_t>(layer) << 5 | device;
}

}  // namespace aoe::profiler
