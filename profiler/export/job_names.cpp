// Puts the names together.
#include "profiler/export/job_names.h"

#include <algorithm>
#include <filesystem>

namespace aoe::profiler {

std::string model_file_name(const ModelRow& model) {
  std::string stem = std::filesystem::path(model.om_path).stem().string();
  if (!stem.empty()) return stem;
  std::string name = model.name.empty() ? "NA" : model.name;
  std::replace(name.begin(), name.end(), '/', '_');
  return name;
}

std::string job_layer_name(const OpRow& op) {
  if (op.original_ops.find(';') == std::string::npos) return op.name;
  std::string joined = op.original_ops;
  std::replace(joined.begin(), joined.end(), ';', '+');
  return joined;
}

std::string batch_num(const ModelRow& model) {
  if (model.ops.empty()) return "NA";
  const std::string& shapes = model.ops.front().input_shapes;
  const std::string first = shapes.substr(0, shapes.find_first_of(",;"));
  return first.empty() || first.find_first_not_of("0123456789") != std::string::npos ? "NA" : first;
}

namespace {

/// Times the batch; `executions` is SQL for how many of the model's.
std::string pictures_of(const Database& profile, const ModelRow& model, const char* executions) {
  std::string batch = batch_num(model);
  if (batch == "NA") return batch;
  Statement row = profile.connection().prepare("SELECT " + std::string(executions) +
                                               " FROM MODEL_EXECUTION WHERE modelId = ?");
  row.bind(1, model.id);
  return std::to_string(std::stoll(batch) * (row.step() ? row.integer(0) : 0));
}

}  // namespace

std::string picture_count(const Database& profile, const ModelRow& model,
                          const ExportSelection& selection) {
  return selection.iteration ? batch_num(model) : pictures_of(profile, model, "count(*)");
}

std::string input_picture_count(const Database& profile, const ModelRow& model) {
  // Runs count from 1 whether they are sampled or not. What follows the last sampled one is not seen.
  return pictures_of(profile, model, "coalesce(max(run), 0)");
}

std::string job_timeline_stem(const std::string& kind, const ModelRow& model,
                              const ExportSelection& selection) {
  std::string stem = kind + "_0." + model_file_name(model) + "." + std::to_string(model.id) + "." +
                     batch_num(model);
  if (!selection.iteration) return stem;
  return stem + "." + std::to_string(selection.iteration->iteration_id);
}

}  // namespace aoe::profiler
