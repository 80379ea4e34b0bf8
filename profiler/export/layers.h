// What a timeline is made of: each function streams one kind of row into a TraceWriter.
#pragma once

#include "profiler/database/database.h"
#include "profiler/export/timeline.h"
#include "profiler/export/trace_writer.h"

namespace aoe::profiler {

/// Arrows from the launch of a node to its op.
inline constexpr std::string_view kArrowCategory = "HostToDevice";
inline std::string arrow_name(std::int64_t connection_id) {
  return "HostToDevice" + std::to_string(connection_id);
}

/// Which levels of what the host does, and how they are shown.
struct ApiView {
  bool acl = false, model = false, node = false, runtime = false;
  bool arrows = false;             ///< from each launch to its op, which the hardware layer ends
  bool process_per_level = false;  ///< "AscendCL", "GE", "Runtime" instead of "CANN"
};

/// What the host does, one track per thread: "AscendCL@aclmdlExecute", in it "Model@ModelExecute", in that
/// one "Node@launch" for each op, where an arrow begins.
void write_api_layer(const Database& profile, const ExportSelection& selection, TraceWriter& trace);
void write_api_view(const Database& profile, const ExportSelection& selection, const ApiView& view,
                    TraceWriter& trace);
/// Ops, one track per stream (the thread that ran them), and the ends of their arrows.
void write_hardware_layer(const Database& profile, const ExportSelection& selection,
                          TraceWriter& trace);
/// The same without arrows, as the process "Task Scheduler" of older releases.
void write_task_layer(const Database& profile, const ExportSelection& selection,
                      TraceWriter& trace);
/// When some op runs, and when none does.
void write_overlap_layer(const Database& profile, const ExportSelection& selection,
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
