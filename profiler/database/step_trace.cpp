// The arithmetic of iterations, in SQL.
#include "profiler/database/step_trace.h"

namespace aoe::profiler {
namespace {

// An op name as given by the user may also be that of the op before fusion: a fused op lists them.
const char* const kPoints = R"sql(
INSERT INTO temp.STEP_POINT
  SELECT model.modelId,
    CASE WHEN ?1 <> '' THEN
      (SELECT min(taskId) FROM MODEL_OP op JOIN STRING_IDS s ON s.id = op.name
       WHERE op.modelId = model.modelId AND (s.value = ?1 OR
             ';' || op.originalOps || ';' LIKE '%;' || ?1 || ';%'))
    ELSE
      (SELECT min(taskId) FROM MODEL_OP op
       WHERE op.modelId = model.modelId AND op.phase = 'forward' AND EXISTS
         (SELECT 1 FROM MODEL_OP b WHERE b.modelId = model.modelId AND b.phase = 'backward'))
    END,
    CASE WHEN ?2 <> '' THEN
      (SELECT max(taskId) FROM MODEL_OP op JOIN STRING_IDS s ON s.id = op.name
       WHERE op.modelId = model.modelId AND (s.value = ?2 OR
             ';' || op.originalOps || ';' LIKE '%;' || ?2 || ';%'))
    ELSE
      (SELECT max(taskId) FROM MODEL_OP op
       WHERE op.modelId = model.modelId AND op.phase = 'backward')
    END
  FROM MODEL model
)sql";

const char* const kSteps = R"sql(
INSERT INTO STEP_TRACE
WITH point AS (
  SELECT t.modelId AS modelId, t.run AS run,
         min(CASE WHEN t.taskId = p.fpTask THEN t.startNs END) AS fpStart,
         max(CASE WHEN t.taskId = p.bpTask THEN t.endNs END) AS bpEnd
  FROM temp.STEP_POINT p JOIN TASK t ON t.modelId = p.modelId AND t.taskId IN (p.fpTask, p.bpTask)
  GROUP BY t.modelId, t.run)
SELECT e.modelId, e.run, row_number() OVER iterations, fpStart, bpEnd, e.endNs,
       e.endNs - coalesce(lag(e.endNs) OVER iterations, fpStart, e.startNs),
       bpEnd - fpStart, e.endNs - bpEnd, fpStart - lag(e.endNs) OVER iterations
FROM MODEL_EXECUTION e LEFT JOIN point ON point.modelId = e.modelId AND point.run = e.run
WINDOW iterations AS (PARTITION BY e.modelId ORDER BY e.endNs)
ORDER BY e.endNs
)sql";

const char* const kProgramSteps = R"sql(
INSERT INTO STEP_TRACE
SELECT NULL, NULL, id, NULL, NULL, endNs, endNs - startNs, NULL, NULL, NULL
FROM PROGRAM_STEP ORDER BY endNs
)sql";

}  // namespace

void derive_step_trace(Connection& connection, const std::string& fp_point,
                       const std::string& bp_point, bool with_points) {
  connection.execute(
      "CREATE TEMP TABLE STEP_POINT(modelId INTEGER, fpTask INTEGER, bpTask INTEGER)");
  if (with_points) connection.prepare(kPoints).run(fp_point, bp_point);
  // Without points no task needs to be looked at.
  connection.execute("DELETE FROM temp.STEP_POINT WHERE fpTask IS NULL AND bpTask IS NULL");
  connection.execute(kSteps);
  connection.execute(kProgramSteps);
  connection.execute("DROP TABLE temp.STEP_POINT");
  connection.execute("CREATE INDEX STEP_TRACE_iteration ON STEP_TRACE(modelId, iterationId)");
}

}  // namespace aoe::profiler
