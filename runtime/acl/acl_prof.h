/* AscendCL, the C API: profiling from inside a program.
 *
 * Either to files, which msprof imports and exports:
 *
 *   aclInit(NULL); aclprofInit(dir, strlen(dir));
 *   aclprofConfig* config = aclprofCreateConfig(devices, 1, ACL_AICORE_PIPE_UTILIZATION, NULL,
 *                                               ACL_PROF_ACL_API | ACL_PROF_TASK_TIME | ACL_PROF_AICORE_METRICS);
 *   aclprofStart(config);  ... load, execute ...  aclprofStop(config);      as often as wanted
 *   aclprofFinalize(); aclprofDestroyConfig(config);
 *
 * or as records of a loaded model's ops, which come through a pipe while it runs: aclprofModelSubscribe().
 *
 * One of four modes is on: none, this API's (aclprofInit to aclprofFinalize), subscription, or a collection that somebody
 * else asked for (acl.json, msprof, PROFILING_MODE). Calls of another mode than that which is on return
 * ACL_ERROR_PROF_API_CONFLICT (API against subscription) or ACL_ERROR_PROF_ALREADY_RUN (against the collection of somebody
 * else); calls that need aclprofInit() return ACL_ERROR_PROF_NOT_RUN without it.
 *
 * All functions may be called from any thread and at any moment; a collection is of the whole process. Strings are not
 * kept: they are copied. */
#ifndef AOE_ACL_ACL_PROF_H_
#define AOE_ACL_ACL_PROF_H_

#include "acl/acl_base.h"
#include "acl/acl_rt.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- what is collected: bits of dataTypeConfig ---- */

#define ACL_PROF_ACL_API 0x0001ULL
#define ACL_PROF_TASK_TIME 0x0002ULL
#define ACL_PROF_AICORE_METRICS 0x0004ULL
#define ACL_PROF_AICPU 0x0008ULL
#define ACL_PROF_AICPU_TRACE ACL_PROF_AICPU /* the older spelling */
#define ACL_PROF_L2CACHE 0x0010ULL
#define ACL_PROF_HCCL_TRACE 0x0020ULL
#define ACL_PROF_HCCL ACL_PROF_HCCL_TRACE /* the older spelling */
#define ACL_PROF_TRAINING_TRACE 0x0040ULL
#define ACL_PROF_MSPROFTX 0x0080ULL
#define ACL_PROF_RUNTIME_API 0x0100ULL
#define ACL_PROF_GE_API_L0 0x0200ULL
#define ACL_PROF_TASK_TIME_L0 0x0800ULL
#define ACL_PROF_TASK_MEMORY 0x1000ULL
#define ACL_PROF_TASK_TIME_L2 0x2000ULL
#define ACL_PROF_OP_ATTR 0x4000ULL
#define ACL_PROF_TASK_TIME_L3 0x8000ULL
#define ACL_PROF_GE_API_L1 0x01000000ULL
#define ACL_PROF_API_STATS 0x400000000ULL
#define ACL_PROF_AICORE_SHAPE 0x800000000ULL

/* Longest names of ops and their types that older programs make room for. Deprecated: ask aclprofGetOpNameLen(). */
#define ACL_PROF_MAX_OP_NAME_LEN 257
#define ACL_PROF_MAX_OP_TYPE_LEN 65

typedef enum {
  ACL_AICORE_ARITHMETIC_UTILIZATION = 0,
  ACL_AICORE_PIPE_UTILIZATION = 1,
  ACL_AICORE_MEMORY_BANDWIDTH = 2,
  ACL_AICORE_L0B_AND_WIDTH = 3,
  ACL_AICORE_RESOURCE_CONFLICT_RATIO = 4,
  ACL_AICORE_MEMORY_UB = 5,
  ACL_AICORE_L2_CACHE = 6,
  ACL_AICORE_PIPE_EXECUTE_UTILIZATION = 7,
  ACL_AICORE_MEMORY_ACCESS = 8,
  ACL_AICORE_NONE = 0xFF
} aclprofAicoreMetrics;

typedef enum {
  ACL_PROF_ARGS_MIN = 0,
  ACL_PROF_STORAGE_LIMIT = 1,
  ACL_PROF_SYS_HARDWARE_MEM_FREQ = 3,
  ACL_PROF_LLC_MODE = 4,
  ACL_PROF_SYS_IO_FREQ = 5,
  ACL_PROF_SYS_INTERCONNECTION_FREQ = 6,
  ACL_PROF_DVPP_FREQ = 7,
  ACL_PROF_HOST_SYS = 8,
  ACL_PROF_HOST_SYS_USAGE = 9,
  ACL_PROF_HOST_SYS_USAGE_FREQ = 10,
  ACL_PROF_LOW_POWER_FREQ = 11,
  ACL_PROF_SYS_MEM_SERVICEFLOW = 12,
  ACL_PROF_SYS_CPU_FREQ = 13,
  ACL_PROF_OPTYPE = 14,
  ACL_PROF_NTS_METRICS = 15,
  ACL_PROF_PATH = 16,
  ACL_PROF_ARGS_MAX
} aclprofConfigType;

typedef struct aclprofConfig aclprofConfig;
typedef struct aclprofAicoreEvents aclprofAicoreEvents; /* always NULL */
typedef struct aclprofSubscribeConfig aclprofSubscribeConfig;
typedef struct aclprofStepInfo aclprofStepInfo;

/* ---- collecting to files ---- */

/* `length` is strlen(profilerResultPath), 1 to 4095; the directory is made when it is not there. After aclInit(). */
ACL_FUNC_VISIBILITY aclError aclprofInit(const char* profilerResultPath, size_t length);

/* NULL on failure. `deviceIdList` holds `deviceNums` device numbers, of which there is 0 alone; an empty list (NULL, 0) goes
 * with stamps alone. The config is the caller's, to be destroyed; it may be used for several collections. */
ACL_FUNC_VISIBILITY aclprofConfig* aclprofCreateConfig(uint32_t* deviceIdList, uint32_t deviceNums,
                                                       aclprofAicoreMetrics aicoreMetrics,
                                                       const aclprofAicoreEvents* aicoreEvents,
                                                       uint64_t dataTypeConfig);
ACL_FUNC_VISIBILITY aclError aclprofDestroyConfig(const aclprofConfig* profilerConfig);

/* Applies to every collection begun afterwards. `configLength` is strlen(config), 256 at most. */
ACL_FUNC_VISIBILITY aclError aclprofSetConfig(aclprofConfigType configType, const char* config,
                                              size_t configLength);

/* Each pair makes one PROF_* directory. aclprofStop() takes a config that says the same as that of aclprofStart(). */
ACL_FUNC_VISIBILITY aclError aclprofStart(const aclprofConfig* profilerConfig);
ACL_FUNC_VISIBILITY aclError aclprofStop(const aclprofConfig* profilerConfig);
/* Ends a collection that still runs. */
ACL_FUNC_VISIBILITY aclError aclprofFinalize(void);

/* ---- subscription: records of a model's ops, through a pipe ---- */

/* `timeInfoSwitch`: 1 for times, 0 for records without them. `fd` points to the descriptor that is written to, of a pipe or
 * socket; it is closed after the last record once the model is unsubscribed. NULL on failure. The metrics have no effect. */
ACL_FUNC_VISIBILITY aclprofSubscribeConfig* aclprofCreateSubscribeConfig(
    int8_t timeInfoSwitch, aclprofAicoreMetrics aicoreMetrics, void* fd);
ACL_FUNC_VISIBILITY aclError
aclprofDestroySubscribeConfig(const aclprofSubscribeConfig* profSubscribeConfig);

/* After the model is loaded. A reader that stops reading delays executions by 10 ms a run at most: what does not fit into
 * the pipe and a bounded queue is dropped, counted, and logged. Models that are subscribed at the same time have the same
 * switches; each may have its own descriptor. Unsubscribing waits while the reader takes what is left, 10 s at most and 1 s
 * for one that takes nothing; aclmdlUnload() and aclFinalize() do it, too. */
ACL_FUNC_VISIBILITY aclError
aclprofModelSubscribe(uint32_t modelId, const aclprofSubscribeConfig* profSubscribeConfig);
ACL_FUNC_VISIBILITY aclError aclprofModelUnSubscribe(uint32_t modelId);

/* Bytes of one record, and how many records a buffer of whole records holds: ACL_ERROR_INVALID_PARAM when `opInfoLen` is no
 * multiple of the size, or a record is none of ours. */
ACL_FUNC_VISIBILITY aclError aclprofGetOpDescSize(size_t* opDescSize);
ACL_FUNC_VISIBILITY aclError aclprofGetOpNum(const void* opInfo, size_t opInfoLen,
                                             uint32_t* opNumber);

/* Lengths count the NUL. A name and a type are consumed: each can be read once for each record, in the process that runs
 * the model, of its last 1,048,576 records. */
ACL_FUNC_VISIBILITY aclError aclprofGetOpTypeLen(const void* opInfo, size_t opInfoLen,
                                                 uint32_t index, size_t* opTypeLen);
ACL_FUNC_VISIBILITY aclError aclprofGetOpType(const void* opInfo, size_t opInfoLen, uint32_t index,
                                              char* opType, size_t opTypeLen);
ACL_FUNC_VISIBILITY aclError aclprofGetOpNameLen(const void* opInfo, size_t opInfoLen,
                                                 uint32_t index, size_t* opNameLen);
ACL_FUNC_VISIBILITY aclError aclprofGetOpName(const void* opInfo, size_t opInfoLen, uint32_t index,
                                              char* opName, size_t opNameLen);

/* Microseconds of CLOCK_MONOTONIC; 0 on bad input, or when the subscription is without times. */
ACL_FUNC_VISIBILITY uint64_t aclprofGetOpStart(const void* opInfo, size_t opInfoLen,
                                               uint32_t index);
ACL_FUNC_VISIBILITY uint64_t aclprofGetOpEnd(const void* opInfo, size_t opInfoLen, uint32_t index);
ACL_FUNC_VISIBILITY uint64_t aclprofGetOpDuration(const void* opInfo, size_t opInfoLen,
                                                  uint32_t index);
ACL_FUNC_VISIBILITY size_t aclprofGetModelId(const void* opInfo, size_t opInfoLen, uint32_t index);

typedef enum {
  ACL_SUBSCRIBE_NONE = 0xFF,
  ACL_SUBSCRIBE_OP = 0,
  ACL_SUBSCRIBE_SUBGRAPH = 1,
  ACL_SUBSCRIBE_OP_THREAD = 2
} aclprofSubscribeOpFlag;
typedef enum {
  ACL_SUBSCRIBE_ATTRI_NONE = -1,
  ACL_SUBSCRIBE_ATTRI_THREADID = 0
} aclprofSubscribeOpAttri;

ACL_FUNC_VISIBILITY aclprofSubscribeOpFlag aclprofGetOpFlag(const void* opInfo, size_t opInfoLen,
                                                            uint32_t index);
/* ACL_SUBSCRIBE_ATTRI_THREADID: the thread that executed the model. NULL when the record has no such attribute. Valid until
 * the calling thread asks again. */
ACL_FUNC_VISIBILITY const char* aclprofGetOpAttriValue(const void* opInfo, size_t opInfoLen,
                                                       uint32_t index,
                                                       aclprofSubscribeOpAttri attri);
ACL_FUNC_VISIBILITY uint64_t aclprofGetOpExecutionTime(const void* opInfo, size_t opInfoLen,
                                                       uint32_t index);
/* Operations: of matrix units, of vector units; analytic. */
ACL_FUNC_VISIBILITY uint64_t aclprofGetOpCubeFops(const void* opInfo, size_t opInfoLen,
                                                  uint32_t index);
ACL_FUNC_VISIBILITY uint64_t aclprofGetOpVectorFops(const void* opInfo, size_t opInfoLen,
                                                    uint32_t index);

/* ---- stamps and ranges (msproftx): between start and stop of a collection with ACL_PROF_MSPROFTX ----
 *
 * Outside of one they return ACL_ERROR_PROF_NOT_RUN and record nothing; what makes, changes and destroys stamps does not
 * need one, aclprofCreateStamp() excepted. A process can have 65536 different texts, 16 MiB in all: further ones are recorded
 * as "(text dropped)", counted, and logged when the collection ends. Texts have 4095 bytes at most. */

/* NULL on failure. */
ACL_FUNC_VISIBILITY void* aclprofCreateStamp(void);
ACL_FUNC_VISIBILITY void aclprofDestroyStamp(void* stamp);
ACL_FUNC_VISIBILITY aclError aclprofSetStampTraceMessage(void* stamp, const char* msg,
                                                         uint32_t msgLen);
ACL_FUNC_VISIBILITY aclError aclprofSetStampTagName(void* stamp, const char* tagName, uint16_t len);
ACL_FUNC_VISIBILITY aclError aclprofSetCategoryName(uint32_t category, const char* categoryName);
ACL_FUNC_VISIBILITY aclError aclprofSetStampCategory(void* stamp, uint32_t category);
/* `type`: what `value` points to; 0 uint64_t, 1 int64_t, 2 double, 3 uint32_t, 4 int32_t, 5 float. */
ACL_FUNC_VISIBILITY aclError aclprofSetStampPayload(void* stamp, const int32_t type, void* value);

/* An instant. */
ACL_FUNC_VISIBILITY aclError aclprofMark(void* stamp);
/* `msgLen`: 127 at most. */
ACL_FUNC_VISIBILITY aclError aclprofMarkEx(const char* msg, size_t msgLen, aclrtStream stream);
/* A range of the calling thread; ranges nest. */
ACL_FUNC_VISIBILITY aclError aclprofPush(void* stamp);
ACL_FUNC_VISIBILITY aclError aclprofPop(void);
/* A range that another thread may end. */
ACL_FUNC_VISIBILITY aclError aclprofRangeStart(void* stamp, uint32_t* rangeId);
ACL_FUNC_VISIBILITY aclError aclprofRangeStop(uint32_t rangeId);

typedef struct {
  uint32_t type;     /* 0: input, 1: output */
  uint32_t format;   /* aclFormat */
  uint32_t dataType; /* aclDataType */
  uint32_t shapeDim; /* 8 at most */
  uint32_t shape[8];
} aclprofTensor;

typedef struct {
  uint64_t opNameId; /* of aclprofStr2Id() */
  uint64_t opTypeId;
  uint32_t resv;
  uint32_t tensorNum; /* 5 at most */
  uint32_t kernelType;
  uint32_t blockNums;
  void* stream;
  aclprofTensor* tensors;
} aclprofTensorInfo;

typedef struct {
  uint16_t version;
  uint16_t size;        /* bytes of this structure */
  uint32_t messageType; /* 0: tensorInfo */
  union {
    aclprofTensorInfo* tensorInfo;
  } message;
} aclprofEventAttributes;

/* An op of the program's own making, with its tensors; a range of the calling thread. */
ACL_FUNC_VISIBILITY aclError aclprofRangePushEx(aclprofEventAttributes* attr);
ACL_FUNC_VISIBILITY aclError aclprofRangePop(void);
/* The same for equal texts, in one process. UINT64_MAX on failure. */
ACL_FUNC_VISIBILITY uint64_t aclprofStr2Id(const char* message);

/* ---- steps ---- */

typedef enum { ACL_STEP_START = 0, ACL_STEP_END = 1 } aclprofStepTag;

/* NULL on failure. */
ACL_FUNC_VISIBILITY aclprofStepInfo* aclprofCreateStepInfo(void);
ACL_FUNC_VISIBILITY void aclprofDestroyStepInfo(aclprofStepInfo* stepinfo);
/* A start and an end make one row of step_trace; in a collection with task times or ACL_PROF_TRAINING_TRACE. */
ACL_FUNC_VISIBILITY aclError aclprofGetStepTimestamp(aclprofStepInfo* stepinfo, aclprofStepTag tag,
                                                     aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
