// File names of the SS928 generation: they carry the model and figures about it (reference 6A).
#pragma once

#include <string>

#include "profiler/database/database.h"
#include "profiler/export/timeline.h"

namespace aoe::profiler {

/// The om's file name without ".om", or the model's name.
std::string model_file_name(const ModelRow& model);
/// How many pictures one execution takes: the first dimension of the first op's first input; "N/A"
/// when it is not known.
std::string batch_num(const ModelRow& model);

/// Pictures in all executions of the selection; "NA" when it is not known.
std::string picture_count(const Database& profile, const ModelRow& model,
                          const ExportSelection& selection);

/// "task_time_0.resnet50.1.8"
std::string job_timeline_stem(const std::string& kind, const ModelRow& model);

}  // namespace aoe::profiler
