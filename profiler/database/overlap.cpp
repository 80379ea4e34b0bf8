// One pass over the tasks in the order of their begins.
#include "profiler/database/overlap.h"

#include <algorithm>

namespace aoe::profiler {

void derive_overlap(Connection& connection) {
  Statement insert = connection.prepare("INSERT INTO OVERLAP_ANALYSIS VALUES(?, ?, ?, 0)");
  Statement task = connection.prepare("SELECT startNs, endNs FROM TASK ORDER BY startNs");
  if (!task.step()) return;
  std::int64_t start_ns = task.integer(0);
  std::int64_t end_ns = task.integer(1);
  while (task.step()) {
    const std::int64_t next_ns = task.integer(0);
    if (next_ns - end_ns >= kShortestFreeNs) {
      insert.run(start_ns, end_ns, kOverlapComputing);
      insert.run(end_ns, next_ns, kOverlapFree);
      start_ns = next_ns;
    }
    end_ns = std::max(end_ns, task.integer(1));
  }
  insert.run(start_ns, end_ns, kOverlapComputing);
}

}  // namespace aoe::profiler
