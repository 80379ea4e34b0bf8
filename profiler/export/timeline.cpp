// Which timelines there are, in both generations.
#include "profiler/export/timeline.h"

#include <algorithm>

#include "profiler/database/profile_directory.h"
#include "profiler/export/api_names.h"
#include "profiler/export/job_names.h"
#include "profiler/export/layers.h"
#include "profiler/export/selection.h"

namespace aoe::profiler {
namespace fs = std::filesystem;
namespace {

struct NamedLayer {
  const char* name;  ///< in --reports; nullptr: it is all of its file
  decltype(&write_api_layer) write;
};
using Layers = std::vector<NamedLayer>;

const Layers& main_layers() {
  static const Layers layers = {
      {"cann", write_api_layer},
      {"ascend_hardware", write_hardware_layer},
      {"system", write_sample_layer},
      {"memory", write_memory_layer},
      {"overlap_analysis", write_overlap_layer},
  };
  return layers;
}

struct File {
  const char* name;
  const char* rows;  ///< there is no such file without rows here; nullptr: always
  Layers layers;
};

// What older releases showed in files of their own is in msprof_*.json as well.
void write_host_stack(const Database& profile, const ExportSelection& selection,
                      TraceWriter& trace) {
  write_api_view(
      profile, selection,
      {.acl = true, .model = true, .node = true, .runtime = true, .process_per_level = true},
      trace);
}
void write_thread_group(const Database& profile, const ExportSelection& selection,
                        TraceWriter& trace) {
  write_api_view(profile, selection, {.acl = true, .model = true, .node = true, .runtime = true},
                 trace);
}
void write_runtime_calls(const Database& profile, const ExportSelection& selection,
                         TraceWriter& trace) {
  write_api_view(profile, selection, {.runtime = true, .process_per_level = true}, trace);
}
void write_executions(const Database& profile, const ExportSelection& selection,
                      TraceWriter& trace) {
  write_api_view(profile, selection, {.model = true, .process_per_level = true}, trace);
}
void write_launches(const Database& profile, const ExportSelection& selection, TraceWriter& trace) {
  write_api_view(profile, selection, {.node = true, .process_per_level = true}, trace);
}

const std::vector<File>& prof_files() {
  static const std::vector<File> files = {
      {"msprof", nullptr, main_layers()},
      {"step_trace", "STEP_TRACE", {{nullptr, write_step_layer}}},
      {"msprof_tx", "MSTX_EVENTS", {{nullptr, write_mstx_layer}}},
      {"ai_stack_time", "TASK", {{nullptr, write_host_stack}, {nullptr, write_task_layer}}},
      {"thread_group", "API_CALL", {{nullptr, write_thread_group}}},
      {"task_time", "TASK", {{nullptr, write_task_layer}}},
      {"runtime_api", kRuntimeCalls, {{nullptr, write_runtime_calls}}},
      {"ge", "MODEL_EXECUTION", {{nullptr, write_executions}}},
      {"ge_op_execute", "TASK", {{nullptr, write_launches}}},
  };
  return files;
}

bool is_named(const std::vector<std::string>& names, const char* name) {
  return name != nullptr && std::find(names.begin(), names.end(), name) != names.end();
}

std::vector<fs::path> export_prof(const Database& profile, const fs::path& directory,
                                  const std::string& suffix, const ExportSelection& selection,
                                  const std::vector<std::string>& left_out) {
  std::vector<fs::path> written;
  for (const File& file : prof_files()) {
    if (is_named(left_out, file.name)) continue;
    if (file.rows != nullptr && !profile.has_rows(file.rows)) continue;
    written.push_back(directory / (std::string(file.name) + "_" + suffix + ".json"));
    TraceWriter trace(written.back());
    for (const NamedLayer& layer : file.layers)
      if (!is_named(left_out, layer.name)) layer.write(profile, selection, trace);
    trace.finish();
  }
  return written;
}

void write_job_tasks(const Database& profile, const ModelRow& model, const std::string& filter,
                     TraceWriter& trace) {
  const std::int64_t offset_ns = profile.monotonic_to_unix_ns();
  Statement row =
      profile.connection().prepare("SELECT startNs, endNs, taskId, streamId FROM TASK" + filter);
  while (row.step()) {
    const OpRow* op = profile.op(model.id, row.integer(2));
    std::string task_type(op == nullptr ? "N/A" : job_task_type(op->task_type));
    for (char& c : task_type)
      if (c == '_') c = ' ';
    trace
        .slice(op == nullptr ? "N/A" : job_layer_name(*op), {profile.process_id(), row.integer(3)},
               row.integer(0) - offset_ns, row.integer(1) - row.integer(0))
        .arg("Task Type", task_type)
        .arg("Stream Id", row.integer(3))
        .arg("Task Id", row.integer(2))
        .close();
  }
}

/// The calls that launched this model's runs, and those that launched none.
void write_job_api(const Database& profile, const ModelRow& model, const ExportSelection& selection,
                   TraceWriter& trace) {
  const std::int64_t offset_ns = profile.monotonic_to_unix_ns();
  const std::string time = time_filter(selection);
  Statement row = profile.connection().prepare(
      "SELECT startNs, endNs, globalTid, name FROM " + std::string(kCallsAlone) +
      (time.empty() ? std::string(" WHERE") : time + " AND") +
      " (connectionId IS NULL OR connectionId & " + std::to_string((1 << kModelBits) - 1) + " = " +
      std::to_string(model.id) + ")");
  while (row.step()) {
    const std::string& name = profile.string(row.integer(3));
    const std::int64_t thread = thread_of(row.integer(2));
    trace
        .slice(name, {profile.process_id(), thread}, row.integer(0) - offset_ns,
               row.integer(1) - row.integer(0))
        .arg("Mode", api_mode(name))
        .arg("Process_Id", profile.process_id())
        .arg("Thread_Id", thread)
        .close();
  }
}

std::vector<fs::path> export_job(const Database& profile, const fs::path& directory,
                                 const ExportSelection& selection) {
  std::vector<fs::path> written;
  for (const ModelRow& model : profile.models()) {
    if (selection.iteration && selection.iteration->model_id != model.id) continue;
    const std::string filter = selection.iteration ? task_filter(selection)
                                                   : " WHERE modelId = " + std::to_string(model.id);
    const auto write = [&](const char* kind, auto&& body) {
      written.push_back(directory / (job_timeline_stem(kind, model, selection) + ".json"));
      TraceWriter trace(written.back());
      body(trace);
      trace.finish();
    };
    if (profile.has_rows("TASK"))
      write("task_time",
            [&](TraceWriter& trace) { write_job_tasks(profile, model, filter, trace); });
    if (profile.has_rows("API_CALL"))
      write("acl", [&](TraceWriter& trace) { write_job_api(profile, model, selection, trace); });
  }
  return written;
}

}  // namespace

std::vector<fs::path> export_timelines(const Database& profile, const fs::path& directory,
                                       const std::string& timestamp,
                                       const ExportSelection& selection,
                                       const std::vector<std::string>& left_out) {
  make_directories(directory);
  if (profile.generation() == Generation::kJob) return export_job(profile, directory, selection);
  return export_prof(profile, directory, export_suffix(timestamp, selection), selection, left_out);
}

std::string export_suffix(const std::string& timestamp, const ExportSelection& selection) {
  if (!selection.iteration) return timestamp;
  return "0_" + std::to_string(selection.iteration->model_id) + "_" +
         std::to_string(selection.iteration->iteration_id);
}

std::vector<std::string> timeline_files() {
  std::vector<std::string> names;
  for (const File& file : prof_files()) names.emplace_back(file.name);
  return names;
}

std::vector<std::string> timeline_layers() {
  std::vector<std::string> names;
  for (const NamedLayer& layer : main_layers()) names.emplace_back(layer.name);
  return names;
}

}  // namespace aoe::profiler
