// The tables of the profiler database; docs/msprof.md explains each column.
//
// Tables in capitals without a note follow msprof's own database (times are ns of Unix time, texts
// are ids into STRING_IDS). COMPUTE_TASK_INFO is a view: on a CPU a task's description is that of
// its op, so it is stored once per op (MODEL_OP) and not once per task. CANN_API is one as well: the
// thread that launches an op runs it, so the launch of a node is its task, and an execution of a model
// is a row of MODEL_EXECUTION. Tables that are ours: RAW_LOSS and the ones named API_CALL, MODEL*,
// THREAD, COUNTER, TASK_COUNTERS, SAMPLE, MEMORY, STEP_TRACE.
#pragma once

namespace aoe::profiler {

inline constexpr int kSchemaMajor = 2;
inline constexpr int kSchemaMinor = 0;
inline constexpr int kSchemaMicro = 0;

/// Before loading.
extern const char* const kCreateTables;
/// After loading: an index that is built at once is smaller, and several times faster to make, than
/// one that grows row by row.
extern const char* const kCreateIndexes;
/// After the indexes: what follows from the loaded rows.
extern const char* const kDeriveMemory;

}  // namespace aoe::profiler
