// File names of the SS928 generation: they carry the model and figures about it (reference 6A).
#pragma once

#include <string>

#include "profiler/database/database.h"
#include "profiler/export/timeline.h"

namespace aoe::profiler {

/// The om's file name without ".om", or the model's name.
std::string model_file_name(const ModelRow& model);
/// What a layer is called: a fused one by the names of the ops in it, joined by '+'.
std::string job_layer_name(const OpRow& op);
/// How many pictures one execution takes: the first dimension of the first op's first input; "N/A"
/// when it is not known.
std::string batch_num(const ModelRow& model);

/// Pictures in all executions of the selection that were sampled; "NA" when it is not known.
std::string picture_count(const Database& profile, const ModelRow& model,
                          const ExportSelection& selection);
/// Pictures in all executions that the model had, sampled or not; "NA" when it is not known.
std::string input_picture_count(const Database& profile, const ModelRow& model);

/// "task_time_0.resnet50.1.8"; of one iteration alone "task_time_0.resnet50.1.8.3", so that it does
/// not replace the file of all.
std::string job_timeline_stem(const std::string& kind, const ModelRow& model,
                              const ExportSelection& selection);

}  // namespace aoe::profiler
