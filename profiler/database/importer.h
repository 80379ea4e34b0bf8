// Import: raw data of one profiling directory -> SQLite, streaming, in one transaction.
//
//   ImportResult result = import_raw("PROF_000001_.../");   // makes <sqlite dir>/profile.db anew
//
// Memory is bounded by SQLite's page cache and the names and op tables of the models, whatever the
// number of events. What was damaged is said in the result and stored in the table RAW_LOSS.
#pragma once

#include <algorithm>
#include <array>
#include <filesystem>
#include <string>
#include <unordered_map>
#include <vector>

#include "profiler/database/session_facts.h"
#include "profiler/database/sqlite.h"
#include "profiler/raw/raw_reader.h"

namespace aoe::profiler {

/// Writes what a RawVisitor is told into a fresh database. Call finish() once, at the end; without
/// it the file is of no use.
class Importer final : public RawVisitor {
 public:
  Importer(const std::filesystem::path& database, const SessionFacts& facts);

  void on_string(std::uint32_t id, std::string_view text) override;
  void on_thread(std::uint16_t thread, std::int64_t os_thread_id, std::string_view name) override;
  void on_model(const nlohmann::json& model) override;
  void on_events(std::span<const RawEvent> events) override;
  void on_counters(std::span<const RawCounters> counters) override;
  void on_samples(std::span<const RawSample> samples) override;

  /// Indexes, derived tables, commit.
  void finish(const std::vector<RawLoss>& losses);

  std::uint64_t events() const { return event_count_; }

 private:
  /// Records whose runs count up independently of the others'.
  enum RunOrder { kTaskRuns, kStepRuns, kCounterRuns, kRunOrders };
  struct ModelState {
    std::vector<std::int64_t> op_task_types;
    std::array<std::int64_t, kRunOrders> latest_run{};
  };

  std::int64_t intern(std::string_view text);
  std::int64_t name(std::uint32_t raw_id);
  std::int64_t component_of(std::int64_t name_id);
  std::int64_t global_tid(std::uint16_t thread) const;
  std::int64_t unix_ns(std::int64_t monotonic_ns) const {
    // A damaged time stays so far from the ends of the type that what is made of times is one.
    constexpr std::int64_t kMost = std::int64_t{1} << 61;
    return std::clamp(monotonic_ns, -kMost, kMost) +
           std::clamp(facts_.monotonic_to_unix_ns, -kMost, kMost);
  }
  /// Runs are numbered in 20 bits; undoes the wrapping.
  std::int64_t full_run(std::uint32_t run_and_model, RunOrder order);
  void add_api(const RawEvent& event);
  void add_task(const RawEvent& event);
  void add_step(const RawEvent& event);
  void add_stamp(const RawEvent& event);
  void add_program_step(const RawEvent& event);
  void add_memory(const RawEvent& event);
  void add_sample(std::int64_t time_ns, std::uint32_t name_id, double value);
  void store_facts();
  void store_meta(std::string_view name, std::string_view value);

  SessionFacts facts_;
  Connection connection_;
  Statement string_;
  Statement api_;
  Statement task_;
  Statement step_;
  Statement stamp_;
  Statement program_step_;
  Statement memory_;
  Statement sample_;
  Statement counters_;
  std::unordered_map<std::string, std::int64_t> string_ids_;
  std::vector<const std::string*> texts_;     ///< keys of string_ids_, by id - 1
  std::vector<std::int64_t> raw_string_ids_;  ///< by the recorder's id; 0 when never told
  std::unordered_map<std::uint16_t, std::int64_t> global_tids_;
  std::unordered_map<std::uint16_t, RawEvent> stamp_details_;  ///< by thread, of its next stamp
  std::unordered_map<std::int64_t, ModelState> models_;
  std::int64_t first_ns_ = INT64_MAX;
  std::int64_t last_ns_ = INT64_MIN;
  std::uint64_t event_count_ = 0;
};

struct ImportResult {
  std::filesystem::path database;
  std::uint64_t events = 0;
  std::vector<RawLoss> losses;
};

/// Names of ops where the forward pass begins and the backward pass ends; empty: as sample.json says,
/// else found by data flow (phases.h).
struct StepPoints {
  std::string fp_point, bp_point;
};

/// Also writes import.log into the log directory: what was imported, and what was lost.
/// Throws Error when there is nothing to read or the database cannot be written. An older database
/// of the directory is replaced, by rename, only once the new one is whole.
ImportResult import_raw(const std::filesystem::path& directory, const StepPoints& points = {});

}  // namespace aoe::profiler
