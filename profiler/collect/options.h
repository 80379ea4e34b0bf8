// CollectOptions: what to collect, and where to put it. Whatever asks for a collection is translated into it, by the table of
// option_keys.h: acl.json, PROFILING_OPTIONS, the C API, msprof's flags (handed to the program in an environment variable).
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "profiler/raw/raw_format.h"

namespace aoe::profiler {

enum class TaskTime { kOff, kL0, kL1 };  ///< kL0: times of ops only; kL1: with what they are

/// System data, sampled from /proc.
struct SystemSampling {
  bool system_cpu = false;
  bool system_memory = false;
  bool process_cpu = false;
  bool process_memory = false;
  // Samples a second, of those who ask; 0: not said.
  int usage_hz = 0;
  int system_cpu_hz = 0;
  int system_hz = 0;
  int process_hz = 0;
  int pid = 0;  ///< whose process_*; 0: this one

  /// One sampler serves all series: the highest rate that was asked for.
  int frequency_hz() const {
    const int most = std::max({usage_hz, system_cpu_hz, system_hz, process_hz});
    return most > 0 ? most : 50;
  }
  bool any() const { return system_cpu || system_memory || process_cpu || process_memory; }
};

struct CollectOptions {
  Generation generation = Generation::kProf;
  std::filesystem::path output;  ///< the new directory goes here; made when it is not there
  bool acl_api = true;
  bool runtime_api = false;
  TaskTime task_time = TaskTime::kL1;
  bool aicpu = false;
  bool task_memory = true;
  bool msproftx = false;  ///< stamps and ranges of the program
  /// Iterations: on: also without task_time; off: without FP and BP; not said: those that task_time gives.
  std::optional<bool> training_trace;
  std::string fp_point;  ///< op names; empty: found by data flow
  std::string bp_point;
  std::string aic_metrics;      ///< a group of metrics; empty: none
  std::optional<bool> ai_core;  ///< whether they are read; not said: with all of task_time
  int interval = 0;             ///< > 1: the tasks of every n-th execution of a model only
  std::optional<std::uint64_t> storage_limit_bytes;
  SystemSampling system;
  double delay_s = 0;
  double duration_s = 0;  ///< 0: to the end
  std::string session;    ///< of msprof, to find its directories again; empty: none
};

/// The group that is read around ops; empty: none.
std::string counted_metrics(const CollectOptions& options);

/// The environment variable by which msprof tells a program what to collect: the JSON of its options.
inline constexpr const char* kOptionsVariable = "AOE_PROFILER_OPTIONS";

/// What sample.json holds, and how msprof hands the options over.
nlohmann::json to_json(const CollectOptions& options);
/// Throws Error(kUsage) on what to_json() does not write.
CollectOptions options_from_json(const nlohmann::json& json);

}  // namespace aoe::profiler
