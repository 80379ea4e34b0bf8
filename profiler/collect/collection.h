// Collection: records this process into a new PROF_* or JOB* directory, from its making to stop().
//
//   profiler::Collection collection({.output = "prof"});
//   collection.add_model(op_table);     // for each model, before its first execution
//   ... run ...
//   collection.stop();
//
// A thread of its own empties the recorder's rings and writes. What goes wrong there (a full disk) ends the collection with one
// line in the log and never harms the program. There can be one Collection at a time: the recorder is the process's.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>
#include <vector>

#include "profiler/collect/directory.h"
#include "profiler/collect/event_sorter.h"
#include "profiler/collect/options.h"
#include "profiler/collect/perf_counters.h"
#include "profiler/collect/system_sampler.h"
#include "profiler/raw/raw_writer.h"

namespace aoe::profiler {

/// What threads that count shall count; the number tells one collection's from another's.
struct CountedEvents {
  std::uint64_t collection = 0;
  std::shared_ptr<const std::vector<PerfEvent>> events;
};
CountedEvents counted_events();

class Collection {
 public:
  /// Throws Error(kOutput) when the directory cannot be made.
  explicit Collection(CollectOptions options);
  ~Collection();
  Collection(const Collection&) = delete;
  Collection& operator=(const Collection&) = delete;

  const CollectOptions& options() const { return options_; }
  const std::filesystem::path& directory() const { return directory_; }
  /// The JSON that raw_reader.h describes. Thread-safe.
  void add_model(const nlohmann::json& model);
  /// Writes what is recorded so far and ends. Thread-safe; the second time does nothing.
  void stop();
  /// In a child that fork() just made: nothing is recorded there any more. Its copy of the object has no thread, and must be
  /// neither stopped nor destroyed.
  static void forget_in_child();

 private:
  void choose_counters();
  void run();
  void start_recording();
  void stop_recording();
  void write_out();
  void write_last();
  void sample_system(std::int64_t now_ns);
  void give_up(std::string_view why);

  const CollectOptions options_;
  const ClockPoint start_;
  const std::filesystem::path directory_;
  std::vector<PerfEvent> counters_;
  RawWriter writer_;
  EventSorter sorter_;
  SystemSampler sampler_;
  bool is_recording_ = false;
  bool has_given_up_ = false;

  std::mutex mutex_;  ///< guards what follows
  std::condition_variable wake_;
  std::vector<std::string> new_models_;  ///< payloads
  bool is_stopping_ = false;
  std::thread thread_;
};

}  // namespace aoe::profiler
