// Fills the fields of one task.
#include "tuner/session/task_progress.h"

namespace aoe::tuner {

void begin_task(Progress& progress, const TuningTask& task) {
  progress.op_name = task.nodes.front();
  progress.op_type = task.type_text();
  progress.shape = task.shape_text();
  progress.default_ns = progress.best_ns = 0;
  progress.trials = 0;
}

void note_batch(Progress& progress, const SearchResult& so_far) {
  progress.trials = static_cast<int>(so_far.trials.size());
  if (!so_far.trials.empty() && so_far.default_trial().timing.ok())
    progress.default_ns = so_far.default_trial().timing.median_ns();
  if (const Trial* best = so_far.best()) progress.best_ns = best->timing.median_ns();
}

}  // namespace aoe::tuner
