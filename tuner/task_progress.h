// What progress displays are told of the operator at hand; the same in both kinds of tuning.
#pragma once

#include "tuner/search.h"
#include "tuner/task_list.h"
#include "tuner/tuner.h"

namespace aoe::tuner {

void begin_task(Progress& progress, const TuningTask& task);
void note_batch(Progress& progress, const SearchResult& so_far);

}  // namespace aoe::tuner
