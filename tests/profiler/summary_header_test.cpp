// The columns of every summary are those of the reference, in its order; ours come behind them.
#include "tests/profiler/exported_tables.h"
#include "tests/temp_dir.h"

namespace aoe::profiler::tests {
namespace {
using aoe::tests::TempDir;

std::vector<std::string> split(const std::string& line) {
  std::vector<std::string> words(1);
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line.compare(i, 2, ", ") == 0) {
      words.emplace_back();
      ++i;
    } else {
      words.back() += line[i];
    }
  }
  return words;
}

struct HeaderCase {
  const char* table;
  const char* columns;  ///< typed from the reference
};

const HeaderCase kProfHeaders[] = {
    {"op_summary",
     "Device_id, Model Name, Model ID, Task ID, Stream ID, Infer ID, Op Name, OP Type, OP State, "
     "Task Type, Task Start Time(us), Task Duration(us), Task Wait Time(us), Block Num, "
     "Mix Block Num, HF32 Eligible, Input Shapes, Input Data Types, Input Formats, Output Shapes, "
     "Output Data Types, Output Formats, Context ID, aicore_time(us), total_cycles, aiv_time(us)"},
    {"op_statistic",
     "Device_id, OP Type, Core Type, Count, Total Time(us), Min Time(us), Avg Time(us), "
     "Max Time(us), Ratio(%)"},
    {"api_statistic",
     "Device_id, Level, API Name, Time(us), Count, Avg(us), Min(us), Max(us), Variance"},
    {"task_time",
     "Device_id, kernel_name, kernel_type, stream_id, task_id, task_time(us), task_start(us), "
     "task_stop(us)"},
    {"fusion_op",
     "Device_id, Model Name, Model ID, Fusion Op, Original Ops, Memory Input(KB), "
     "Memory Output(KB), Memory Weight(KB), Memory Workspace(KB), Memory Total(KB)"},
    {"step_trace",
     "Device_id, Iteration ID, FP Start(us), BP End(us), Iteration End(us), Iteration Time(us), "
     "FP to BP Time(us), Iteration Refresh(us), Data Aug Bound(us), Model ID"},
    {"aicpu",
     "Device_id, Timestamp(us), Node, Compute_time(us), Memcpy_time(us), Task_time(us), "
     "Dispatch_time(us), Total_time(us), Stream ID, Task ID"},
    {"l2_cache", "Device_id, Stream Id, Task Id, Hit Rate, Victim Rate, Op Name"},
    {"memory_record",
     "Device_id, Component, Timestamp(us), Total Allocated(KB), Total Reserved(KB), Device"},
    {"operator_memory",
     "Device_id, Name, Size(KB), Allocation Time(us), Duration(us), "
     "Allocation Total Allocated(KB), Allocation Total Reserved(KB), "
     "Release Total Allocated(KB), Release Total Reserved(KB), Device"},
    {"static_op_mem",
     "Device_id, Op Name, Model Name, Graph ID, Node Index Start, Node Index End, Size(KB)"},
    {"msprof_tx",
     "Device_id, pid, tid, category, event_type, payload_type, payload_value, Start_time(us), "
     "End_time(us), message_type, message, domain, Device Start_time(us), Device End_time(us)"},
    {"runtime_api",
     "Device_id, Name, Stream ID, Time(%), Time(ns), Calls, Avg(ns), Min(ns), Max(ns), "
     "Process ID, Thread ID"},
    {"ge_op_execute",
     "Device_id, Thread ID, OP Name, OP Type, Event Type, Start Time(us), Duration(us)"},
    {"ai_stack_time", "Device_id, Infer ID, Module, API, Start Time(us), Duration(ns)"},
};

const HeaderCase kJobHeaders[] = {
    {"op_summary",
     "Layer Id, Ori Layer Name, Layer Name, Layer Type, Time(us), Time Ratio, Mac Busy Ratio, "
     "Mac Ppen Ratio, Vec Busy Ratio, Vec Ppen Ratio, Dstr Ratio, Dtrans Ratio, DLD Ratio, "
     "WLD Ratio, Memory Bound, DDR Read(byte), DDR Write(byte), DDR Total(byte)"},
    {"op_statistic",
     "Task ID, Stream ID, OP Name, Task Type, Total Time Ratio(%), Total Time(us), Count, "
     "Avg(us), Max(us), Min(us)"},
    {"acl_statistic",
     "Process ID, Thread ID, Type, Name, Total Time Ratio(%), Total Time(us), Count, Avg(us), "
     "Max(us), Min(us)"},
};

const HeaderCase kMetricGroups[] = {
    {"PipeUtilization",
     "vec_time(us), vec_ratio, mac_time(us), mac_ratio, scalar_time(us), scalar_ratio, "
     "fixpipe_time(us), fixpipe_ratio, mte1_time(us), mte1_ratio, mte2_time(us), mte2_ratio, "
     "mte3_time(us), mte3_ratio, icache_miss_rate, memory_bound, cube_utilization(%)"},
    {"ArithmeticUtilization",
     "mac_fp16_ratio, mac_int8_ratio, vec_fp32_ratio, vec_fp16_ratio, vec_int32_ratio, "
     "vec_misc_ratio, cube_fops, vector_fops"},
    {"Memory",
     "ub_read_bw(GB/s), ub_write_bw(GB/s), l1_read_bw(GB/s), l1_write_bw(GB/s), "
     "l2_read_bw(GB/s), l2_write_bw(GB/s), main_mem_read_bw(GB/s), main_mem_write_bw(GB/s)"},
    {"MemoryL0",
     "l0a_read_bw(GB/s), l0a_write_bw(GB/s), l0b_read_bw(GB/s), l0b_write_bw(GB/s), "
     "l0c_read_bw(GB/s), l0c_write_bw(GB/s), l0c_read_bw_cube(GB/s), l0c_write_bw_cube(GB/s)"},
    {"MemoryUB",
     "ub_read_bw_vector(GB/s), ub_write_bw_vector(GB/s), ub_read_bw_scalar(GB/s), "
     "ub_write_bw_scalar(GB/s)"},
    {"ResourceConflictRatio", "vec_bankgroup_cflt_ratio, vec_bank_cflt_ratio, vec_resc_cflt_ratio"},
    {"L2Cache",
     "write_cache_hit, write_cache_miss_allocate, r0_read_cache_hit, "
     "r0_read_cache_miss_allocate, r1_read_cache_hit, r1_read_cache_miss_allocate"},
};

/// Something for every table.
void fill_everything(SyntheticProfile& raw) {
  nlohmann::json fused = synthetic_op("fused", "Conv2D+Relu", {{1, 8}}, {{1, 8}});
  fused["original_ops"] = {"conv", "relu"};
  nlohmann::json reference = synthetic_op("topk", "TopK", {{1, 8}}, {{1, 8}});
  reference["task_type"] = "AI_CPU";
  raw.model(synthetic_model({fused, reference}));
  raw.task(0, run_and_model(1, 1), 1000, 2000);
  raw.task(1, run_and_model(1, 1), 2000, 2500);
  raw.counters(0, run_and_model(1, 1), 1000, {1000, 100, 40});
  raw.step(run_and_model(1, 1), 900, 2600);
  raw.api("aclmdlExecute", 800, 2700, run_and_model(1, 1));
  raw.api("LaunchKernels", 950, 2600, run_and_model(1, 1), 5000);
  raw.memory("arena resnet", 4096, 10, 10);
  raw.stamp("hello", 5, 5);
}

void expect_columns(const ExportedTables& tables, const HeaderCase& expected, bool exactly) {
  std::vector<std::string> header = tables.rows(expected.table).front();
  const std::vector<std::string> wanted = split(expected.columns);
  ASSERT_GE(header.size(), wanted.size()) << expected.table;
  if (!exactly) header.resize(wanted.size());
  EXPECT_EQ(header, wanted) << expected.table;
}

TEST(SummaryColumns, OfTheCurrentGenerationAreTheReferences) {
  TempDir dir;
  const nlohmann::json counters = {{{"name", "cycles"}, {"event", "e"}},
                                   {{"name", "cache_references"}, {"event", "e"}},
                                   {{"name", "cache_misses"}, {"event", "e"}}};
  SyntheticProfile raw(dir.path(), Generation::kProf, {{"counters", counters}});
  fill_everything(raw);
  const ExportedTables tables = export_tables(raw);
  for (const HeaderCase& expected : kProfHeaders)
    expect_columns(tables, expected, std::string(expected.table) != "op_summary");
  EXPECT_EQ(tables.texts.size(), std::size(kProfHeaders));
}

TEST(SummaryColumns, OfSs928AreTheReferences) {
  TempDir dir;
  SyntheticProfile raw(dir.path(), Generation::kJob);
  fill_everything(raw);
  const ExportedTables tables = export_tables(raw);
  for (const HeaderCase& expected : kJobHeaders)
    expect_columns(tables, expected, std::string(expected.table) != "op_summary");
  EXPECT_EQ(tables.texts.size(), std::size(kJobHeaders));
  EXPECT_TRUE(tables.has("op_summary_0.resnet.1.1.1.1.NA.NA.csv"));
  EXPECT_TRUE(tables.has("op_statistic_0_1_1_all.csv"));
  EXPECT_TRUE(tables.has("acl_statistic_0_1_all.csv"));
}

TEST(SummaryColumns, OfEachMetricGroupAreTheReferences) {
  for (const HeaderCase& group : kMetricGroups) {
    TempDir dir;
    SyntheticProfile raw(dir.path(), Generation::kProf, {}, {{"aic_metrics", group.table}});
    fill_everything(raw);
    const std::vector<std::string> header = export_tables(raw).rows("op_summary").front();
    const std::vector<std::string> wanted = split(group.columns);
    const std::size_t first = split(kProfHeaders[0].columns).size();
    ASSERT_GT(header.size(), first + wanted.size());
    EXPECT_EQ(std::vector(header.begin() + first, header.begin() + first + wanted.size()), wanted)
        << group.table;
    EXPECT_EQ(header[first + wanted.size()], "Impl");
  }
}

}  // namespace
}  // namespace aoe::profiler::tests
