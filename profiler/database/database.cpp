// Loads the small tables (texts, models, op tables); the large ones are read by who needs them.
#include "profiler/database/database.h"

#include "base/error.h"
#include "profiler/database/schema.h"

namespace aoe::profiler {
namespace {

template <typename T>
std::optional<T> optional_at(const Statement& row, int column) {
  if (row.is_null(column)) return std::nullopt;
  if constexpr (std::is_floating_point_v<T>)
    return row.real(column);
  else
    return row.integer(column);
}

std::vector<std::string> lines(std::string_view text) {
  std::vector<std::string> all;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    all.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return all;
}

}  // namespace

Database::Database(const std::filesystem::path& path)
    : connection_(Connection::open_read_only(path)) {
  const std::string major = meta("SCHEMA_VERSION_MAJOR").value_or("");
  if (major != std::to_string(kSchemaMajor))
    throw Error(ExitCode::kData,
                "schema version '" + major + "' is not " + std::to_string(kSchemaMajor),
                path.string(), "import the raw data again: msprof --parse=on");
  generation_ = meta("GENERATION") == "JOB" ? Generation::kJob : Generation::kProf;
  process_id_ = std::stoll(meta("PROCESS_ID").value_or("0"));
  monotonic_to_unix_ns_ = std::stoll(meta("MONOTONIC_TO_UNIX_NS").value_or("0"));
  metric_group_ = meta("METRIC_GROUP").value_or("");
  if (const auto mhz = meta("FREQUENCY_MHZ")) frequency_mhz_ = std::stod(*mhz);
  load_strings();
  load_models();
}

std::optional<std::string> Database::meta(const std::string& name) const {
  Statement row = connection_.prepare("SELECT value FROM META_DATA WHERE name = ?");
  row.bind(1, std::string_view(name));
  if (!row.step()) return std::nullopt;
  return std::string(row.text(0));
}

void Database::load_strings() {
  strings_.emplace_back("N/A");  // ids count from 1; 0 is what an absent id reads as
  Statement row = connection_.prepare("SELECT id, value FROM STRING_IDS ORDER BY id");
  while (row.step()) {
    strings_.resize(static_cast<std::size_t>(row.integer(0)) + 1, "N/A");
    strings_.back() = row.text(1);
  }
}

void Database::load_models() {
  Statement row = connection_.prepare(
      "SELECT modelId, name, omPath, socVersion, threads, arenaBytes, workspaceBytes, "
      "weightsBytes, peakGflops, memoryGBs FROM MODEL ORDER BY modelId");
  while (row.step()) {
    ModelRow model{.id = row.integer(0),
                   .name = std::string(row.text(1)),
                   .om_path = std::string(row.text(2)),
                   .soc_version = std::string(row.text(3)),
                   .threads = optional_at<std::int64_t>(row, 4),
                   .arena_bytes = optional_at<std::int64_t>(row, 5),
                   .workspace_bytes = optional_at<std::int64_t>(row, 6),
                   .weights_bytes = optional_at<std::int64_t>(row, 7),
                   .peak_gflops = optional_at<double>(row, 8),
                   .memory_gb_s = optional_at<double>(row, 9)};
    models_.push_back(std::move(model));
  }
  for (ModelRow& model : models_) load_ops(model);
}

void Database::load_ops(ModelRow& model) {
  Statement row = connection_.prepare(
      "SELECT name, opType, taskType, originalOps, impl, format, strategy, repoKey, phase, "
      "inputShapes, inputDataTypes, inputFormats, outputShapes, outputDataTypes, outputFormats, "
      "flops, readBytes, writeBytes, weightBytes, workspaceBytes, inputNames, outputNames "
      "FROM MODEL_OP WHERE modelId = ? ORDER BY taskId");
  row.bind(1, model.id);
  while (row.step()) {
    const auto text = [&](int column) { return std::string(row.text(column)); };
    model.ops.push_back({.name = string(row.integer(0)),
                         .type = string(row.integer(1)),
                         .task_type = string(row.integer(2)),
                         .original_ops = text(3),
                         .impl = text(4),
                         .format = text(5),
                         .strategy = text(6),
                         .repo_key = text(7),
                         .phase = text(8),
                         .input_shapes = string(row.integer(9)),
                         .input_data_types = string(row.integer(10)),
                         .input_formats = string(row.integer(11)),
                         .output_shapes = string(row.integer(12)),
                         .output_data_types = string(row.integer(13)),
                         .output_formats = string(row.integer(14)),
                         .input_names = lines(row.text(20)),
                         .output_names = lines(row.text(21)),
                         .flops = optional_at<double>(row, 15),
                         .read_bytes = optional_at<std::int64_t>(row, 16),
                         .write_bytes = optional_at<std::int64_t>(row, 17),
                         .weight_bytes = optional_at<std::int64_t>(row, 18),
                         .workspace_bytes = optional_at<std::int64_t>(row, 19)});
  }
}

const ModelRow* Database::model(std::int64_t id) const {
  for (const ModelRow& model : models_)
    if (model.id == id) return &model;
  return nullptr;
}

const OpRow* Database::op(std::int64_t model_id, std::int64_t task_id) const {
  const ModelRow* found = model(model_id);
  if (found == nullptr || task_id < 0 || task_id >= static_cast<std::int64_t>(found->ops.size()))
    return nullptr;
  return &found->ops[static_cast<std::size_t>(task_id)];
}

const std::string& Database::string(std::int64_t id) const {
  return id > 0 && id < static_cast<std::int64_t>(strings_.size())
             ? strings_[static_cast<std::size_t>(id)]
             : strings_.front();
}

Iteration Database::iteration(std::int64_t model_id, std::int64_t iteration_id) const {
  Statement row = connection_.prepare(
      "SELECT step.run, execution.startNs, execution.endNs FROM STEP_TRACE step "
      "JOIN MODEL_EXECUTION execution ON execution.modelId = step.modelId "
      "AND execution.run = step.run WHERE step.modelId = ? AND step.iterationId = ?");
  row.bind(1, model_id).bind(2, iteration_id);
  if (row.step()) return {model_id, iteration_id, row.integer(0), row.integer(1), row.integer(2)};
  std::string known;
  Statement counts = connection_.prepare(
      "SELECT modelId, count(*) FROM MODEL_EXECUTION GROUP BY modelId ORDER BY modelId");
  while (counts.step())
    known += (known.empty() ? "" : ", ") + std::string("model ") +
             std::to_string(counts.integer(0)) + " has " + std::to_string(counts.integer(1));
  throw Error(
      ExitCode::kUsage,
      "model " + std::to_string(model_id) + " has no iteration " + std::to_string(iteration_id),
      "--iteration-id", known.empty() ? "no execution was recorded" : known);
}

bool Database::has_rows(const std::string& table) const {
  return connection_.prepare("SELECT 1 FROM " + table + " LIMIT 1").step();
}

}  // namespace aoe::profiler
