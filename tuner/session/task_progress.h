// What progress displays are told of the operator at hand; the same in both kinds of tuning.
#pragma once

#include "tuner/search/search.h"
#include "tuner/session/run.h"
#include "tuner/tasks/task_list.h"

namespace aoe::tuner {

void begin_task(Progress& progress, const TuningTask& task);
void note_batch(Progress& progress, const SearchResult& so_far);

}  // namespace aoe::tuner
