// The arithmetic, and the table group -> columns -> derivation.
#include "profiler/export/metrics.h"

#include <algorithm>

namespace aoe::profiler {
namespace {

using Figure = std::optional<double>;
constexpr double kCacheLineBytes = 64;

Figure times(Figure value, double factor) {
  return value ? Figure(*value * factor) : std::nullopt;
}

Figure quotient(Figure above, Figure below) {
  if (!above || !below || *below == 0) return std::nullopt;
  return *above / *below;
}

/// Of those that are there.
Figure largest(std::initializer_list<Figure> figures) {
  Figure largest;
  for (const Figure& figure : figures)
    if (figure) largest = largest ? std::max(*largest, *figure) : *figure;
  return largest;
}

/// 1 GFLOPS is one operation, 1 GB/s one byte, per nanosecond.
Figure ratio_of_peak(Figure amount, Figure peak_per_ns, std::int64_t duration_ns) {
  if (duration_ns <= 0) return std::nullopt;
  return times(quotient(amount, peak_per_ns), 1.0 / static_cast<double>(duration_ns));
}

/// What a column sees: a task and its counters by name.
struct Reading {
  const CounterNames& counters;
  const TaskFigures& task;
  Figure of(std::string_view name) const { return counters.value(task, name); }
  double duration_ns() const { return static_cast<double>(task.duration_ns); }
};

/// Intel counts instructions by width (a fused multiply-add twice), AMD operations by kind.
Figure vector_flops(const Reading& r) {
  const std::pair<const char*, double> parts[] = {{"fp_scalar_single", 1}, {"fp_128_single", 4},
                                                  {"fp_256_single", 8},    {"fp_512_single", 16},
                                                  {"fp_add_flops", 1},     {"fp_mul_flops", 1}};
  Figure sum;
  for (const auto& [name, flops] : parts)
    if (const Figure count = r.of(name)) sum = sum.value_or(0) + *count * flops;
  return sum;
}

Figure main_memory_bytes(const Reading& r) {
  return times(r.of("cache_misses"), kCacheLineBytes);
}

Figure per_ns(Figure amount, const Reading& r) {
  return quotient(amount, r.duration_ns());
}

Figure absent(const Reading&) {
  return std::nullopt;
}

struct MetricColumn {
  const char* name;
  Figure (*value)(const Reading&);
};

constexpr MetricColumn kPipeUtilization[] = {
    {"vec_time(us)", absent},
    {"vec_ratio", absent},
    {"mac_time(us)", absent},
    {"mac_ratio", absent},
    {"scalar_time(us)", absent},
    {"scalar_ratio", absent},
    {"fixpipe_time(us)", absent},
    {"fixpipe_ratio", absent},
    {"mte1_time(us)", absent},
    {"mte1_ratio", absent},
    {"mte2_time(us)",
     [](const Reading& r) {
       return times(memory_ratio(main_memory_bytes(r), r.task), r.duration_ns() / 1e3);
     }},
    {"mte2_ratio", [](const Reading& r) { return memory_ratio(main_memory_bytes(r), r.task); }},
    {"mte3_time(us)", absent},
    {"mte3_ratio", absent},
    {"icache_miss_rate",
     [](const Reading& r) { return quotient(r.of("l1i_misses"), r.of("instructions")); }},
    {"memory_bound",
     [](const Reading& r) {
       return memory_bound(memory_ratio(main_memory_bytes(r), r.task),
                           arithmetic_ratio(r.of("fp_mac_flops"), r.task),
                           arithmetic_ratio(vector_flops(r), r.task));
     }},
    {"cube_utilization(%)",
     [](const Reading& r) { return cube_utilization(r.of("cycles"), r.task); }},
};

constexpr MetricColumn kArithmeticUtilization[] = {
    {"mac_fp16_ratio", absent},
    {"mac_int8_ratio", absent},
    {"vec_fp32_ratio", [](const Reading& r) { return arithmetic_ratio(vector_flops(r), r.task); }},
    {"vec_fp16_ratio", absent},
    {"vec_int32_ratio", absent},
    {"vec_misc_ratio", absent},
    {"cube_fops", [](const Reading& r) { return r.of("fp_mac_flops"); }},
    {"vector_fops", vector_flops},
};

constexpr MetricColumn kMemory[] = {
    {"ub_read_bw(GB/s)", absent},
    {"ub_write_bw(GB/s)", absent},
    {"l1_read_bw(GB/s)", absent},
    {"l1_write_bw(GB/s)", absent},
    {"l2_read_bw(GB/s)",
     [](const Reading& r) { return per_ns(times(r.of("l1d_load_misses"), kCacheLineBytes), r); }},
    {"l2_write_bw(GB/s)", absent},
    {"main_mem_read_bw(GB/s)", [](const Reading& r) { return per_ns(main_memory_bytes(r), r); }},
    {"main_mem_write_bw(GB/s)", absent},
};

constexpr MetricColumn kMemoryL0[] = {
    {"l0a_read_bw(GB/s)", absent},      {"l0a_write_bw(GB/s)", absent},
    {"l0b_read_bw(GB/s)", absent},      {"l0b_write_bw(GB/s)", absent},
    {"l0c_read_bw(GB/s)", absent},      {"l0c_write_bw(GB/s)", absent},
    {"l0c_read_bw_cube(GB/s)", absent}, {"l0c_write_bw_cube(GB/s)", absent},
};

constexpr MetricColumn kMemoryUb[] = {
    {"ub_read_bw_vector(GB/s)", absent},
    {"ub_write_bw_vector(GB/s)", absent},
    {"ub_read_bw_scalar(GB/s)", absent},
    {"ub_write_bw_scalar(GB/s)", absent},
};

constexpr MetricColumn kResourceConflictRatio[] = {
    {"vec_bankgroup_cflt_ratio", absent},
    {"vec_bank_cflt_ratio", absent},
    {"vec_resc_cflt_ratio",
     [](const Reading& r) { return quotient(r.of("stalled_cycles_backend"), r.of("cycles")); }},
};

constexpr MetricColumn kL2Cache[] = {
    {"write_cache_hit", absent},
    {"write_cache_miss_allocate", absent},
    {"r0_read_cache_hit",
     [](const Reading& r) -> Figure {
       const Figure references = r.of("cache_references");
       const Figure misses = r.of("cache_misses");
       if (!references || !misses) return std::nullopt;
       return std::max(0.0, *references - *misses);
     }},
    {"r0_read_cache_miss_allocate", [](const Reading& r) { return r.of("cache_misses"); }},
    {"r1_read_cache_hit", absent},
    {"r1_read_cache_miss_allocate", absent},
};

constexpr MetricColumn kMemoryAccess[] = {
    {"l2_read_bw(GB/s)",
     [](const Reading& r) { return per_ns(times(r.of("cache_references"), kCacheLineBytes), r); }},
    {"main_mem_read_bw(GB/s)", [](const Reading& r) { return per_ns(main_memory_bytes(r), r); }},
};

struct ColumnGroup {
  std::string_view name;
  const MetricColumn* first;
  std::size_t count;
};
template <std::size_t count>
constexpr ColumnGroup group_of(std::string_view name, const MetricColumn (&columns)[count]) {
  return {name, columns, count};
}
constexpr ColumnGroup kGroups[] = {
    group_of("PipeUtilization", kPipeUtilization),
    group_of("PipelineExecuteUtilization", kPipeUtilization),
    group_of("ArithmeticUtilization", kArithmeticUtilization),
    group_of("Memory", kMemory),
    group_of("MemoryL0", kMemoryL0),
    group_of("MemoryUB", kMemoryUb),
    group_of("ResourceConflictRatio", kResourceConflictRatio),
    group_of("L2Cache", kL2Cache),
    group_of("MemoryAccess", kMemoryAccess),
};

const ColumnGroup& find_group(const std::string& name) {
  for (const ColumnGroup& group : kGroups)
    if (group.name == name) return group;
  return kGroups[0];
}

}  // namespace

Figure memory_ratio(Figure bytes, const TaskFigures& task) {
  return ratio_of_peak(bytes, task.memory_gb_s, task.duration_ns);
}

Figure arithmetic_ratio(Figure flops, const TaskFigures& task) {
  return ratio_of_peak(flops, task.peak_gflops, task.duration_ns);
}

Figure memory_bound(Figure mte2_ratio, Figure mac_ratio, Figure vec_ratio) {
  return quotient(mte2_ratio, largest({mac_ratio, vec_ratio}));
}

Figure job_memory_bound(Figure dstr, Figure dld, Figure wld, Figure mac_busy, Figure vec_ppen) {
  return quotient(largest({dstr, dld, wld}), largest({mac_busy, vec_ppen}));
}

Figure cube_utilization(Figure total_cycles, const TaskFigures& task) {
  if (!task.frequency_mhz || !task.cores || task.duration_ns <= 0) return std::nullopt;
  const double duration_us = static_cast<double>(task.duration_ns) / 1e3;
  return times(
      quotient(total_cycles, *task.frequency_mhz * static_cast<double>(*task.cores) * duration_us),
      100);
}

Figure analytic_intensity(const TaskFigures& task) {
  return quotient(task.flops, task.bytes);
}

Figure analytic_memory_bound(const TaskFigures& task) {
  return quotient(quotient(task.bytes, task.memory_gb_s), quotient(task.flops, task.peak_gflops));
}

Figure roofline_share(const TaskFigures& task) {
  return times(largest({memory_ratio(task.bytes, task), arithmetic_ratio(task.flops, task)}), 100);
}

CounterNames::CounterNames(const Database& profile) {
  Statement row = profile.connection().prepare("SELECT name FROM COUNTER ORDER BY slot");
  while (row.step()) names_.emplace_back(row.text(0));
}

Figure CounterNames::value(const TaskFigures& task, std::string_view name) const {
  const auto found = slot(name);
  if (!found || !task.counters[*found]) return std::nullopt;
  return static_cast<double>(*task.counters[*found]);
}

std::optional<std::size_t> CounterNames::slot(std::string_view name) const {
  for (std::size_t slot = 0; slot < std::min<std::size_t>(names_.size(), kMostCounters); ++slot)
    if (names_[slot] == name) return slot;
  return std::nullopt;
}

std::vector<std::string> metric_columns(const std::string& group) {
  const ColumnGroup& found = find_group(group);
  std::vector<std::string> names;
  for (std::size_t i = 0; i < found.count; ++i) names.emplace_back(found.first[i].name);
  return names;
}

void write_metrics(const std::string& group, const CounterNames& counters, const TaskFigures& task,
                   TableWriter& writer) {
  const ColumnGroup& found = find_group(group);
  const Reading reading{counters, task};
  for (std::size_t i = 0; i < found.count; ++i) writer.real(found.first[i].value(reading));
}

std::vector<std::string> analytic_columns() {
  return {"analytic_flops",  "analytic_bytes",        "analytic_intensity(FLOP/byte)",
          "analytic_gflops", "analytic_memory_bound", "analytic_roofline_share(%)"};
}

void write_analytic(const TaskFigures& task, TableWriter& writer) {
  writer.real(task.flops, 0)
      .real(task.bytes, 0)
      .real(analytic_intensity(task))
      .real(quotient(task.flops, static_cast<double>(task.duration_ns)))
      .real(analytic_memory_bound(task))
      .real(roofline_share(task));
}

TaskFigures figures_of(const Database& profile, const ModelRow* model, const OpRow* op,
                       std::int64_t duration_ns) {
  TaskFigures task{.duration_ns = duration_ns, .frequency_mhz = profile.frequency_mhz()};
  if (model != nullptr) {
    task.peak_gflops = model->peak_gflops;
    task.memory_gb_s = model->memory_gb_s;
    task.cores = model->threads;
  }
  if (op == nullptr) return task;
  task.flops = op->flops;
  if (op->read_bytes || op->write_bytes)
    task.bytes = static_cast<double>(op->read_bytes.value_or(0) + op->write_bytes.value_or(0));
  return task;
}

}  // namespace aoe::profiler
