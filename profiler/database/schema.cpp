// The SQL of the tables.
#include "profiler/database/schema.h"

namespace aoe::profiler {

const char* const kCreateTables = R"sql(
CREATE TABLE META_DATA(name TEXT PRIMARY KEY, value TEXT);
CREATE TABLE STRING_IDS(id INTEGER PRIMARY KEY, value TEXT);
CREATE TABLE ENUM_API_TYPE(id INTEGER PRIMARY KEY, name TEXT);
CREATE TABLE ENUM_MSTX_EVENT_TYPE(id INTEGER PRIMARY KEY, name TEXT);
CREATE TABLE SESSION_TIME_INFO(startTimeNs INTEGER, endTimeNs INTEGER);
CREATE TABLE HOST_INFO(hostUid TEXT, hostName TEXT);
CREATE TABLE NPU_INFO(id INTEGER, name TEXT);
CREATE TABLE RANK_DEVICE_MAP(rankId INTEGER, deviceId INTEGER);
CREATE TABLE THREAD(
  id INTEGER PRIMARY KEY,      -- the recorder's index, the streamId of tasks
  globalTid INTEGER,           -- pid << 32 | tid
  name TEXT);

CREATE TABLE TASK(
  startNs INTEGER, endNs INTEGER, deviceId INTEGER, connectionId INTEGER,
  globalTaskId INTEGER PRIMARY KEY, globalPid INTEGER, taskType INTEGER, contextId INTEGER,
  streamId INTEGER, taskId INTEGER, modelId INTEGER,
  run INTEGER);                -- ours: which execution of the model, from 1
CREATE TABLE API_CALL(
  startNs INTEGER, endNs INTEGER, type INTEGER, globalTid INTEGER, connectionId INTEGER,
  name INTEGER);
CREATE TABLE MSTX_EVENTS(
  startNs INTEGER, endNs INTEGER, eventType INTEGER, rangeId INTEGER, category INTEGER,
  message INTEGER, globalTid INTEGER, endGlobalTid INTEGER,
  domainId INTEGER,            -- the tag's name
  connectionId INTEGER,
  categoryName INTEGER, payloadType INTEGER, payloadValue TEXT);  -- ours
CREATE TABLE PROGRAM_STEP(     -- that the program says itself
  id INTEGER, startNs INTEGER, endNs INTEGER, globalTid INTEGER);
CREATE TABLE MEMCPY_INFO(globalTaskId INTEGER, size INTEGER, memcpyOperation INTEGER);

CREATE TABLE MODEL(
  modelId INTEGER PRIMARY KEY, name TEXT, omPath TEXT, socVersion TEXT, threads INTEGER,
  peakGflops REAL, memoryGBs REAL, arenaBytes INTEGER, workspaceBytes INTEGER,
  weightsBytes INTEGER);
CREATE TABLE MODEL_OP(
  modelId INTEGER, taskId INTEGER, name INTEGER, opType INTEGER, taskType INTEGER,
  originalOps TEXT, impl TEXT, format TEXT, strategy TEXT, repoKey TEXT,
  inputShapes INTEGER, inputDataTypes INTEGER, inputFormats INTEGER,
  outputShapes INTEGER, outputDataTypes INTEGER, outputFormats INTEGER,
  flops REAL, readBytes INTEGER, writeBytes INTEGER, weightBytes INTEGER,
  workspaceBytes INTEGER, phase TEXT,
  inputNames TEXT, outputNames TEXT,  -- of tensors, joined by newlines: the data flow
  PRIMARY KEY(modelId, taskId)) WITHOUT ROWID;
CREATE TABLE MODEL_STATIC_MEM(modelId INTEGER, opName TEXT, sizeBytes INTEGER,
  nodeIndexStart INTEGER, nodeIndexEnd INTEGER);
CREATE TABLE MODEL_EXECUTION(
  modelId INTEGER, run INTEGER, startNs INTEGER, endNs INTEGER, globalTid INTEGER,
  connectionId INTEGER);       -- of its tasks, and of the call that launched it

CREATE TABLE COUNTER(slot INTEGER PRIMARY KEY, name TEXT, event TEXT);
CREATE TABLE TASK_COUNTERS(
  startNs INTEGER, streamId INTEGER, modelId INTEGER, run INTEGER, taskId INTEGER,
  value0 INTEGER, value1 INTEGER, value2 INTEGER, value3 INTEGER,
  value4 INTEGER, value5 INTEGER, value6 INTEGER, value7 INTEGER);
CREATE TABLE SAMPLE(timestampNs INTEGER, series INTEGER, value REAL);
CREATE TABLE MEMORY(
  startNs INTEGER, endNs INTEGER,  -- equal: an allocation; else the release of that block at endNs
  sizeBytes INTEGER, name INTEGER, component INTEGER, globalTid INTEGER);
CREATE TABLE NPU_OP_MEM(
  operatorName INTEGER, addr INTEGER, type INTEGER, size INTEGER, timestampNs INTEGER,
  globalTid INTEGER, totalAllocate INTEGER, totalReserve INTEGER, component INTEGER,
  deviceId INTEGER,
  allocationNs INTEGER);       -- ours: when the block was allocated, also in the row of its release
CREATE TABLE NPU_MEM(type INTEGER, ddr REAL, hbm REAL, timestampNs INTEGER, deviceId INTEGER);

CREATE TABLE STEP_TRACE(        -- of models; modelId NULL: steps of the program
  modelId INTEGER, run INTEGER, iterationId INTEGER, fpStartNs INTEGER, bpEndNs INTEGER,
  iterationEndNs INTEGER, iterationNs INTEGER, fpToBpNs INTEGER, iterationRefreshNs INTEGER,
  dataAugBoundNs INTEGER);
CREATE TABLE OVERLAP_ANALYSIS(
  startNs INTEGER, endNs INTEGER,
  type INTEGER,                -- 0 Computing, 3 Free; 1 and 2 are of communication
  deviceId INTEGER);
CREATE TABLE RAW_LOSS(file TEXT, offset INTEGER, bytes INTEGER, why TEXT);

CREATE VIEW COMPUTE_TASK_INFO AS
  SELECT op.name AS name, task.globalTaskId AS globalTaskId, model.threads AS blockNum,
         NULL AS mixBlockNum, op.taskType AS taskType, op.opType AS opType,
         op.inputFormats AS inputFormats, op.inputDataTypes AS inputDataTypes,
         op.inputShapes AS inputShapes, op.outputFormats AS outputFormats,
         op.outputDataTypes AS outputDataTypes, op.outputShapes AS outputShapes,
         NULL AS attrInfo, NULL AS opState, NULL AS hf32Eligible
  FROM TASK AS task
  JOIN MODEL_OP AS op ON op.modelId = task.modelId AND op.taskId = task.taskId
  LEFT JOIN MODEL AS model ON model.modelId = task.modelId;

CREATE VIEW CANN_API AS
  SELECT startNs, endNs, type, globalTid, connectionId, name FROM API_CALL
  UNION ALL
  SELECT startNs, endNs, 15000, globalTid, connectionId,
         (SELECT id FROM STRING_IDS WHERE value = 'ModelExecute')
  FROM MODEL_EXECUTION
  UNION ALL
  SELECT startNs, endNs, 10000,
         coalesce((SELECT globalTid FROM THREAD WHERE id = streamId), globalPid << 32 | streamId),
         connectionId, (SELECT id FROM STRING_IDS WHERE value = 'launch')
  FROM TASK;

INSERT INTO ENUM_API_TYPE VALUES
  (20000,'acl'), (15000,'model'), (10000,'node'), (5500,'communication'), (5000,'runtime'),
  (50001,'op'), (50002,'queue'), (50003,'trace'), (50004,'mstx');
INSERT INTO ENUM_MSTX_EVENT_TYPE VALUES
  (0,'marker'), (1,'push/pop'), (2,'start/end'), (3,'marker_ex');
)sql";

const char* const kCreateIndexes = R"sql(
CREATE INDEX TASK_startNs ON TASK(startNs, endNs);
CREATE INDEX API_CALL_startNs ON API_CALL(startNs);
CREATE INDEX MODEL_EXECUTION_startNs ON MODEL_EXECUTION(modelId, startNs);
CREATE INDEX TASK_COUNTERS_task ON TASK_COUNTERS(modelId, run, taskId, startNs);
CREATE INDEX SAMPLE_series ON SAMPLE(series, timestampNs);
CREATE INDEX MSTX_EVENTS_startNs ON MSTX_EVENTS(startNs);
)sql";

// Every allocation and every release becomes a row with the total of its component after it. The
// engine takes its memory from the system directly, without a pool, so what is reserved is what is
// allocated.
const char* const kDeriveMemory = R"sql(
INSERT INTO NPU_OP_MEM
  SELECT name, NULL, type, size, timestampNs, globalTid,
         sum(size) OVER totals, sum(size) OVER totals, component, 0, allocationNs
  FROM (SELECT rowid AS event, name, 0 AS type, sizeBytes AS size, startNs AS timestampNs,
               globalTid, component, startNs AS allocationNs
        FROM MEMORY WHERE endNs = startNs
        UNION ALL
        SELECT rowid, name, 1, -sizeBytes, endNs, globalTid, component, startNs
        FROM MEMORY WHERE endNs > startNs)
  WINDOW totals AS (PARTITION BY component ORDER BY timestampNs, type DESC, event
                    ROWS UNBOUNDED PRECEDING)
  ORDER BY timestampNs, event;
)sql";

}  // namespace aoe::profiler
