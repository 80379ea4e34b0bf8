// The TensorFlow adapter's profiling_options: JSON in PROFILING_OPTIONS, switched on by PROFILING_MODE=true.
#pragma once

#include <optional>
#include <string>

#include "profiler/collect/options.h"

namespace aoe::profiler {

inline constexpr const char* kModeVariable = "PROFILING_MODE";
inline constexpr const char* kProfilingOptionsVariable = "PROFILING_OPTIONS";

enum class ProfilingMode { kOff, kOn, kDynamic };
/// "true", "false" (as when it is not set) or "dynamic". Throws Error(kUsage) on anything else.
ProfilingMode profiling_mode();

/// What the JSON asks for. Without an option in it (an empty text, "{}"): training_trace, task_trace, aicpu, and the metrics
/// PipeUtilization; with one, each option has its own default. Without `output` it goes to ASCEND_WORK_PATH. What has no
/// effect here is logged. Throws Error(kUsage) that names the key.
CollectOptions options_from_profiling_options(const std::string& text);

}  // namespace aoe::profiler
