// The two tables: group -> counters -> columns, and counter -> event of each maker's processors.
#include "profiler/collect/metric_groups.h"

#include <linux/perf_event.h>

#include <algorithm>
#include <optional>

#include "base/to_number.h"
#include "base/words.h"

namespace aoe::profiler {
namespace {

constexpr GroupCounter kCycles{"cycles", "total_cycles"};

constexpr std::uint64_t cache_event(std::uint64_t cache, std::uint64_t operation,
                                    std::uint64_t result) {
  return cache | operation << 8 | result << 16;
}
constexpr std::uint64_t kLoadMissesL1 = cache_event(
    PERF_COUNT_HW_CACHE_L1D, PERF_COUNT_HW_CACHE_OP_READ, PERF_COUNT_HW_CACHE_RESULT_MISS);
constexpr std::uint64_t kFetchMissesL1 = cache_event(
    PERF_COUNT_HW_CACHE_L1I, PERF_COUNT_HW_CACHE_OP_READ, PERF_COUNT_HW_CACHE_RESULT_MISS);

/// An event that all processors know by the kernel's name.
struct GenericEvent {
  const char* name;
  std::uint32_t type;
  std::uint64_t config;
};
constexpr GenericEvent kGenericEvents[] = {
    {"cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
    {"instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
    {"stalled_cycles_backend", PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_BACKEND},
    {"cache_references", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES},
    {"cache_misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES},
    {"l1d_load_misses", PERF_TYPE_HW_CACHE, kLoadMissesL1},
    {"l1i_misses", PERF_TYPE_HW_CACHE, kFetchMissesL1},
};

/// An event by its code (umask << 8 | event select). AMD counts floating-point operations, whatever the width of the
/// vectors; Intel (FP_ARITH_INST_RETIRED) counts instructions of each width. 0: the maker has none.
struct CodedEvent {
  const char* name;
  std::uint64_t intel;
  std::uint64_t amd;
};
constexpr CodedEvent kCodedEvents[] = {
    {"fp_scalar_single", 0x02c7, 0},  // FP_ARITH_INST_RETIRED.SCALAR_SINGLE
    {"fp_128_single", 0x08c7, 0},     // .128B_PACKED_SINGLE
    {"fp_256_single", 0x20c7, 0},     // .256B_PACKED_SINGLE
    {"fp_512_single", 0x80c7, 0},     // .512B_PACKED_SINGLE
    {"fp_mac_flops", 0, 0x0803},      // retired SSE/AVX FLOPs: multiply-add
    {"fp_add_flops", 0, 0x0103},      // retired SSE/AVX FLOPs: add and subtract
    {"fp_mul_flops", 0, 0x0203},      // retired SSE/AVX FLOPs: multiply
};

bool is_intel() {
  return __builtin_cpu_is("intel") != 0;
}
bool is_amd() {
  return __builtin_cpu_is("amd") != 0;
}

/// The event behind a counter here; nullopt when this processor has none.
std::optional<PerfEvent> event_of(const std::string& name) {
  for (const GenericEvent& event : kGenericEvents)
    if (name == event.name) return PerfEvent{name, event.type, event.config};
  for (const CodedEvent& event : kCodedEvents) {
    const std::uint64_t code = is_intel() ? event.intel : is_amd() ? event.amd : 0;
    if (name == event.name && code != 0) return PerfEvent{name, PERF_TYPE_RAW, code};
  }
  return std::nullopt;
}

constexpr std::string_view kCustom = "Custom:";

/// Up to 8 codes, as the tooling writes them: "Custom:0x49,0x8".
Result<std::vector<PerfEvent>> custom_events(std::string_view codes) {
  std::vector<PerfEvent> events;
  while (true) {
    const std::string_view code = codes.substr(0, codes.find(','));
    const std::string_view digits = code.starts_with("0x") ? code.substr(2) : code;
    const auto config = to_number<std::uint64_t>(digits, code.starts_with("0x") ? 16 : 10);
    if (!config) return Unexpected("'" + std::string(code) + "' is no event code like 0x49");
    events.push_back({std::string(code), PERF_TYPE_RAW, *config});
    if (code.size() == codes.size()) break;
    codes.remove_prefix(code.size() + 1);
  }
  if (events.size() > kMostPerfCounters)
    return Unexpected("more than " + std::to_string(kMostPerfCounters) + " event codes");
  return events;
}

std::string known_names() {
  return joined(metric_groups(), ", ", &MetricGroup::name);
}

}  // namespace

std::span<const MetricGroup> metric_groups() {
  // A cache line that is fetched is 64 bytes read from the next level: bandwidths follow from misses. How many bytes a load
  // instruction reads nobody counts, so that what the core reads from its first level has no column.
  constexpr GroupCounter kInstructions{"instructions", "scalar_ratio"};
  constexpr GroupCounter kL1Misses{"l1d_load_misses", "l2_read_bw(GB/s)"};
  constexpr GroupCounter kMisses{"cache_misses", "main_mem_read_bw(GB/s)"};
  static const std::vector<MetricGroup> groups = {
      {"ArithmeticUtilization",
       {kCycles,
        {"fp_scalar_single", "vec_fp32_ratio, vector_fops"},
        {"fp_128_single", "vec_fp32_ratio, vector_fops"},
        {"fp_256_single", "vec_fp32_ratio, vector_fops"},
        {"fp_512_single", "vec_fp32_ratio, vector_fops"},
        {"fp_mac_flops", "cube_fops"},
        {"fp_add_flops", "vec_fp32_ratio, vector_fops"},
        {"fp_mul_flops", "vec_fp32_ratio, vector_fops"}}},
      {"PipeUtilization",
       {kCycles,
        kInstructions,
        {"cache_misses", "mte2_ratio, memory_bound"},
        {"l1i_misses", "icache_miss_rate"}}},
      {"Memory", {kCycles, kL1Misses, kMisses}},
      {"MemoryL0", {kCycles}},
      {"ResourceConflictRatio", {kCycles, {"stalled_cycles_backend", "vec_resc_cflt_ratio"}}},
      {"MemoryUB", {kCycles}},
      {"L2Cache",
       {kCycles,
        {"cache_references", "r0_read_cache_hit"},
        {"cache_misses", "r0_read_cache_miss_allocate"}}},
      {"PipelineExecuteUtilization", {kCycles, kInstructions}},
      {"MemoryAccess", {kCycles, {"cache_references", "l2_read_bw(GB/s)"}, kMisses}},
  };
  return groups;
}

const MetricGroup* find_metric_group(std::string_view name) {
  const auto groups = metric_groups();
  const auto found = std::find_if(groups.begin(), groups.end(),
                                  [&](const MetricGroup& group) { return name == group.name; });
  return found == groups.end() ? nullptr : &*found;
}

std::string flaw_of_metrics(std::string_view metrics) {
  if (metrics.starts_with(kCustom)) {
    const auto events = custom_events(metrics.substr(kCustom.size()));
    return events ? std::string() : events.error();
  }
  if (find_metric_group(metrics) != nullptr) return {};
  return "'" + std::string(metrics) + "' is no group of metrics; there are: " + known_names() +
         ", Custom:0x49,0x8";
}

Result<std::vector<PerfEvent>> perf_events_of(std::string_view metrics) {
  if (metrics.starts_with(kCustom)) return custom_events(metrics.substr(kCustom.size()));
  const MetricGroup* const group = find_metric_group(metrics);
  if (group == nullptr) return Unexpected(flaw_of_metrics(metrics));
  std::vector<PerfEvent> events;
  for (const GroupCounter& counter : group->counters)
    if (const auto event = event_of(counter.name)) events.push_back(*event);
  if (events.empty()) return Unexpected("events that are not known for this processor");
  return events;
}

}  // namespace aoe::profiler
