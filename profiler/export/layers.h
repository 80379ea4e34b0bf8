// What a timeline is made of: each function streams one kind of row into a TraceWriter.
#pragma once

#include "profiler/database/database.h"
#include "profiler/export/timeline.h"
#include "profiler/export/trace_writer.h"

namespace aoe::profiler {

/// API calls, one track per thread: "AscendCL@aclmdlExecute".
void write_api_layer(const Database& profile, const ExportSelection& selection, TraceWriter& trace);
/// Ops, one track per stream (the thread that ran them), and an arrow to each from the API call that
/// launched it.
void write_hardware_layer(const Database& profile, const ExportSelection& selection,
                          TraceWriter& trace);
/// Sampled series of the system and the process.
void write_sample_layer(const Database& profile, const ExportSelection& selection,
                        TraceWriter& trace);
/// Allocated bytes by component.
void write_memory_layer(const Database& profile, const ExportSelection& selection,
                        TraceWriter& trace);
/// Iterations and their parts.
void write_step_layer(const Database& profile, const ExportSelection& selection,
                      TraceWriter& trace);
/// Marks and ranges of the application.
void write_mstx_layer(const Database& profile, const ExportSelection& selection,
                      TraceWriter& trace);

}  // namespace aoe::profiler
