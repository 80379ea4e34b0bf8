/* Tuning as a library: what the program aoe does, without starting it. For C and C++; docs/aoe_library.md has a program.
 *
 *   AoeInitialize(options, n);                    keys and values are those of aoe's flags, without the dashes
 *   AoeCreateSession(&session);
 *   AoeSetTuningGraph(session, &graph);           an ONNX model: a file, or bytes in memory
 *   AoeTuningGraph(session, options, n);          returns when the model is tuned
 *   AoeGetTuningResult(session, 0, &result);      times before and after, the om, the result file
 *   AoeDestroySession(session);
 *   AoeFinalize();
 *
 * Every function may be called from any thread. A session does one thing at a time, and a process tunes one model at a time:
 * what is measured must not be disturbed. Whoever comes second gets AOE_ERROR_BUSY at once. A call out of order gets the
 * code that stands with it, and changes nothing. Variables of the environment that aoe reads count here as well
 * (TUNE_BANK_PATH, ASCEND_WORK_PATH, REPEAT_TUNE, ...): do not change them while a call runs.
 *
 * Candidates are measured in a process of their own, libexec/aoe/aoe_worker beside the library, or what the variable AOE_WORKER
 * names: whatever a candidate does, the caller survives it. No signal handler is installed.
 */
#ifndef AOE_AOE_H_
#define AOE_AOE_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#include <map>
#include <string>
#include <vector>
extern "C" {
#endif

typedef int32_t AoeStatus;

#define AOE_SUCCESS 0
#define AOE_FAILURE (-1)         /* tuning failed or was stopped; the result says how far it came */
#define AOE_ERROR_UNKOWN_ERROR 1 /* a bug of ours (the name is spelt as elsewhere) */
#define AOE_ERROR_UNINITIALIZED 3     /* before AoeInitialize() */
#define AOE_ERROR_REPEAT_INITIALIZE 4 /* AoeInitialize() twice */
#define AOE_ERROR_INVALID_PARAM \
  10 /* an option or an argument that is unknown, malformed, missing or contradictory */
#define AOE_ERROR_INVALID_GRAPH 11      /* no model, or one that cannot be read or compiled */
#define AOE_ERROR_NON_OPTIMIZE_GRAPH 12 /* nothing in the model can be tuned; it was compiled */
#define AOE_ERROR_NO_AICORE_GRAPH 12    /* the same */
#define AOE_ERROR_REPEAT_GRAPH 13       /* a session has a model already */
#define AOE_ERROR_NO_DEVICE 20          /* another device than 0 */
#define AOE_ERROR_NO_SUPPORT 21         /* a function of the documents that has no meaning here */
#define AOE_ERROR_BUSY 22               /* the session, or the library, is tuning */
#define AOE_ERROR_MEMORY_ALLOC 400      /* not enough memory */
#define AOE_ERROR_INVALID_SESSION 500   /* no such session */
#define AOE_ERROR_BANK_INFO_UPDATE_FAILED \
  1002 /* a bank cannot be read or written; the text says what was saved where */
#define AOE_ERROR_EXECUTE_RUNNER 3000 /* an om cannot be read back */
#define AOE_ERROR_NO_SPACE 3001       /* a file cannot be written */
#define AOE_ERROR_EXECUTE_FAILED \
  3002 /* the model does not run, or the measuring process does not start */

/* An option: a flag of aoe without its dashes ("job_type", "time_limit"), and its value as text; switches take "true". */
typedef struct AoeOption {
  const char* key;
  const char* value;
} AoeOption;

/* An ONNX model: a file, or `size` bytes at `data`. `path` may be given with data as well: external data lies beside it. `name`
 * (may be NULL) names what is written; the default is the file's name, or "model". */
typedef struct AoeGraph {
  const char* path;
  const void* data;
  size_t size;
  const char* name;
} AoeGraph;

/* A value for one input of the model. data_type is one of aclDataType: 0 float32, 1 float16, 2 int8, 3 int32, 4 uint8, 9 int64, ...
 * data may be NULL: the shape alone. */
typedef struct AoeTensor {
  const char* name;
  int32_t data_type;
  const int64_t* dims;
  size_t dim_count;
  const void* data;
  size_t size; /* bytes */
} AoeTensor;

#define AOE_STAGE_BASELINE 0
#define AOE_STAGE_SEARCH 1
#define AOE_STAGE_CONFIRM 2
#define AOE_STAGE_DONE 3

/* How far a run is. Texts are valid during the callback. */
typedef struct AoeProgress {
  int32_t stage;
  int32_t tasks_done;
  int32_t tasks_total;
  int32_t trials;          /* of the task at hand */
  const char* tuning_name; /* the model */
  const char* op_name;     /* the task at hand: its first op, "Conv2D+Relu", "1x64x56x56" */
  const char* op_type;
  const char* shape;
  double default_ns; /* 0: not known yet */
  double best_ns;
  double elapsed_s;
  double remaining_s;   /* of the search, an estimate; 0: none yet */
  double limit_left_s;  /* until the option "time_limit" ends the run; negative: there is none */
  const char* waiting;  /* why nothing is measured at the moment; "": something is */
  int32_t known_tasks;  /* of those done: not searched, because the bank knows them */
  int32_t not_searched; /* when the search has ended: tasks that are not decided */
  int32_t model_index;  /* of several models, from 1 */
  int32_t model_count;
} AoeProgress;

/* Called by the thread that called AoeTuningGraph(), with the option "workers" by others, one at a time; may call AoeStopTuning(), and must not throw. */
typedef void (*AoeProgressCallback)(uint64_t session, const AoeProgress* progress, void* user);

#define AOE_LOG_DEBUG 1
#define AOE_LOG_INFO 2
#define AOE_LOG_WARNING 3
#define AOE_LOG_ERROR 4

/* Called by whichever thread has something to say, one at a time; must not throw or call this library. */
typedef void (*AoeLogCallback)(int32_t level, const char* component, const char* text, void* user);

/* A task whose strategy is in the bank now. */
typedef struct AoeGain {
  const char* op_name;
  const char* op_type;
  const char* strategy;
  int32_t count; /* how many ops of the model share it */
  double before_ns;
  double after_ns;
  const char* improvement; /* "35.35%": (before - after) / after, cut off behind two decimals */
} AoeGain;

#define AOE_TUNING_SUCCESSFUL 0
#define AOE_TUNING_FAILED 1
#define AOE_TUNING_INCOMPLETE \
  2 /* stopped, or a limit came before every task was searched: ended_by; the option "reload" goes on */

/* How the tuning of one model ended. All texts and lists belong to the session. */
typedef struct AoeTuningResult {
  int32_t state;
  const char* tuning_name;
  const char*
      verdict; /* of the tuned model: "faster", "same", "slower", "ambiguous"; "" when it was not measured */
  double baseline_ms; /* 0: not measured */
  double result_ms;   /* baseline_ms by the median ratio of the pairs of runs; 0: not measured */
  const char*
      improvement; /* "8.29%", "0.00%" unless the verdict is "faster"; "" when it was not measured */
  double
      error_of_range; /* of lower precision against float32, as a share of the outputs' range; negative: not measured */
  int32_t tasks;
  int32_t known_tasks; /* of them: those that the bank knew */
  int64_t trials;
  const AoeGain* gains; /* by gain in the whole model, largest first */
  size_t gain_count;
  const char* const* failed_ops;
  size_t failed_op_count;
  const char* gears;       /* "" without gears */
  const char* result_path; /* aoe_result_*.json */
  const char* bank_path;
  const char* model_path;  /* the tuned om; "" when there is none */
  const char* output_path; /* its copy at the option "output"; "" when there is none */
  const char* ended_by;    /* "done", "time_limit", "search_limit", "trials", "stopped" */
  int32_t not_searched;    /* tasks that are not decided */
  double baseline_low_ms,
      baseline_high_ms; /* 95% confidence intervals; 0 when it was not measured */
  double result_low_ms, result_high_ms;
  const char* improvement_interval; /* "6.10% to 9.90%"; "" when it was not measured */
  const char* improvement_reason;   /* why nothing is claimed; "" when the verdict is "faster" */
  int32_t pairs;                    /* of runs */
  const char*
      measured_utc; /* of an earlier run of the same two oms, whose times these are (ISO 8601); "": they are of this run */
} AoeTuningResult;

/* Options for every run of the process; AoeTuningGraph()'s win over them. What only this call takes: none.
 * AOE_ERROR_REPEAT_INITIALIZE, AOE_ERROR_INVALID_PARAM. */
AoeStatus AoeInitialize(const AoeOption* options, size_t count);

/* Sessions that are left are destroyed. AOE_ERROR_UNINITIALIZED, AOE_ERROR_BUSY. */
AoeStatus AoeFinalize(void);

/* AOE_ERROR_UNINITIALIZED. */
AoeStatus AoeCreateSession(uint64_t* session);

/* The session's results go with it. AOE_ERROR_UNINITIALIZED, AOE_ERROR_INVALID_SESSION, AOE_ERROR_BUSY. */
AoeStatus AoeDestroySession(uint64_t session);

/* The model of the session; bytes in memory are copied. It is read when it is tuned. Instead of it, AoeTuningGraph() takes the
 * options "model", "models" (a list), "model_path" (a directory of models) and "singleop". AOE_ERROR_REPEAT_GRAPH when the session has one. */
AoeStatus AoeSetTuningGraph(uint64_t session, const AoeGraph* graph);

/* Values for inputs of the session's model; they are copied, and replace those of an earlier call. Their shapes fill in dynamic
 * dimensions, as the option "input_shape" does. The error of lower precision is measured on their values; times are measured on random ones,
 * as they are without this call. */
AoeStatus AoeSetTuningGraphInput(uint64_t session, const AoeTensor* inputs, size_t count);

/* An ONNX model stands alone: AOE_ERROR_NO_SUPPORT unless `count` is 0. */
AoeStatus AoeSetDependGraphs(uint64_t session, const AoeGraph* graphs, size_t count);

/* Tunes the session's model as the options say ("job_type" 1 or 2 is required, unless AOE_MODE says it), and returns when it is
 * done. May be called again, with other options: job_type 1, then 2. */
AoeStatus AoeTuningGraph(uint64_t session, const AoeOption* options, size_t count);

/* Asks a run to end soon, from another thread or the callback; what was won is kept. AOE_SUCCESS as well when none is at work. */
AoeStatus AoeStopTuning(uint64_t session);

/* NULL ends it. AOE_ERROR_BUSY while the session is tuning. */
AoeStatus AoeSetProgressCallback(uint64_t session, AoeProgressCallback callback, void* user);

/* Instead of stderr; NULL goes back to it. The option "log" says how much. May be called at any time. */
AoeStatus AoeSetLogCallback(AoeLogCallback callback, void* user);

/* How many models the last AoeTuningGraph() of the session has come to the end of: 1, or more with "models", "model_path" and "singleop". */
AoeStatus AoeGetTuningResultCount(uint64_t session, size_t* count);

/* Valid until the session tunes again or is destroyed. AOE_ERROR_INVALID_PARAM when there is no such result. */
AoeStatus AoeGetTuningResult(uint64_t session, size_t index, const AoeTuningResult** result);

/* What went wrong in the calling thread's last call that failed: what, where, what to do. Never NULL; valid until the thread's next
 * call. Calls that succeed leave it as it is. */
const char* AoeGetLastError(void);

/* "0.1.0" */
const char* AoeGetVersion(void);

#ifdef __cplusplus
} /* extern "C" */

/* The same for C++, with maps of options. */
namespace Aoe {

using Options = std::map<std::string, std::string>;
using ::AoeStatus;

namespace internal {
inline std::vector<AoeOption> list(const Options& options) {
  std::vector<AoeOption> rows;
  for (const auto& option : options) rows.push_back({option.first.c_str(), option.second.c_str()});
  return rows;
}
} /* namespace internal */

inline AoeStatus AoeInitialize(const Options& options) {
  const std::vector<AoeOption> rows = internal::list(options);
  return ::AoeInitialize(rows.data(), rows.size());
}
using ::AoeFinalize;
inline AoeStatus AoeCreateSession(uint64_t& session) {
  return ::AoeCreateSession(&session);
}
using ::AoeDestroySession;
inline AoeStatus AoeSetTuningGraph(uint64_t session, const std::string& path) {
  const AoeGraph graph = {path.c_str(), nullptr, 0, nullptr};
  return ::AoeSetTuningGraph(session, &graph);
}
inline AoeStatus AoeSetTuningGraph(uint64_t session, const AoeGraph& graph) {
  return ::AoeSetTuningGraph(session, &graph);
}
inline AoeStatus AoeSetTuningGraphInput(uint64_t session, const std::vector<AoeTensor>& inputs) {
  return ::AoeSetTuningGraphInput(session, inputs.data(), inputs.size());
}
inline AoeStatus AoeTuningGraph(uint64_t session, const Options& options) {
  const std::vector<AoeOption> rows = internal::list(options);
  return ::AoeTuningGraph(session, rows.data(), rows.size());
}

} /* namespace Aoe */
#endif

#endif /* AOE_AOE_H_ */
