// Metrics: the columns that are derived from hardware counters or from an op's analytic figures.
//
// A measured column needs its counters; without them it is absent and reads N/A. Analytic columns
// (their names begin so) need none: they come from shapes and from the machine's peaks. Times of
// several threads are not added up: a task's counters are those of the thread that recorded it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/database/database.h"
#include "profiler/export/table_writer.h"

namespace aoe::profiler {

/// What is known about one task, or about the sum of several.
struct TaskFigures {
  std::int64_t duration_ns = 0;
  std::array<std::optional<std::int64_t>, kMostCounters> counters;  ///< by slot
  std::optional<double> flops;
  std::optional<double> bytes;  ///< read and written, weights included
  std::optional<double> peak_gflops;
  std::optional<double> memory_gb_s;
  std::optional<double> frequency_mhz;
  std::optional<std::int64_t> cores;
};

// Derivations. Absent when something they need is absent or zero.

/// Share of the duration that main memory needs at the bandwidth that the om states for `bytes`.
std::optional<double> memory_ratio(std::optional<double> bytes, const TaskFigures& task);
/// Share of the machine's peak: FLOPs per duration and peak.
std::optional<double> arithmetic_ratio(std::optional<double> flops, const TaskFigures& task);
/// mte2_ratio / max(mac_ratio, vec_ratio): above 1 a task waits for memory. One of the two suffices.
std::optional<double> memory_bound(std::optional<double> mte2_ratio,
                                   std::optional<double> mac_ratio,
                                   std::optional<double> vec_ratio);
/// SS928: max(Dstr, DLD, WLD) / max(Mac Busy, Vec Ppen).
std::optional<double> job_memory_bound(std::optional<double> dstr, std::optional<double> dld,
                                       std::optional<double> wld, std::optional<double> mac_busy,
                                       std::optional<double> vec_ppen);
/// total_cycles / (frequency * cores * duration), in percent.
std::optional<double> cube_utilization(std::optional<double> total_cycles, const TaskFigures& task);
/// FLOPs per byte.
std::optional<double> analytic_intensity(const TaskFigures& task);
/// Time that memory needs over time that arithmetic needs, both at their peaks.
std::optional<double> analytic_memory_bound(const TaskFigures& task);
/// The larger of both times over the duration, in percent: how near the task is to the roofline.
std::optional<double> roofline_share(const TaskFigures& task);

/// Which counter stands in which slot.
class CounterNames {
 public:
  explicit CounterNames(const Database& profile);
  bool any() const { return !names_.empty(); }
  std::optional<double> value(const TaskFigures& task, std::string_view name) const;
  std::optional<std::size_t> slot(std::string_view name) const;

 private:
  std::vector<std::string> names_;
};

/// Columns of a group (--aic-metrics), in the reference's order; PipeUtilization's when the name is
/// empty or unknown.
std::vector<std::string> metric_columns(const std::string& group);
void write_metrics(const std::string& group, const CounterNames& counters, const TaskFigures& task,
                   TableWriter& writer);

std::vector<std::string> analytic_columns();
void write_analytic(const TaskFigures& task, TableWriter& writer);

/// Of one task of an op; `op` may be nullptr.
TaskFigures figures_of(const Database& profile, const ModelRow* model, const OpRow* op,
                       std::int64_t duration_ns);

}  // namespace aoe::profiler
