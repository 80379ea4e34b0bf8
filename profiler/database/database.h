// An imported profile, ready to be asked: what exports, advice and tables read.
//
//   const Database profile(database_path("PROF_000001_..."));
//   Statement tasks = profile.connection().prepare("SELECT ... FROM TASK");
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "profiler/database/sqlite.h"
#include "profiler/raw/raw_format.h"

namespace aoe::profiler {

/// A row of MODEL_OP. Absent figures are unknown, not zero.
struct OpRow {
  std::string name, type, task_type, original_ops, impl, format, strategy, repo_key, phase;
  std::string input_shapes, input_data_types, input_formats;
  std::string output_shapes, output_data_types, output_formats;
  std::vector<std::string> input_names, output_names;  ///< of tensors: the data flow
  std::optional<double> flops;
  std::optional<std::int64_t> read_bytes, write_bytes, weight_bytes, workspace_bytes;
};

struct ModelRow {
  std::int64_t id = 0;
  std::string name, om_path, soc_version;
  std::optional<std::int64_t> threads, arena_bytes, workspace_bytes, weights_bytes;
  std::optional<double> peak_gflops, memory_gb_s;
  std::vector<OpRow> ops;  ///< by task id
};

/// Only what lies within one execution of one model.
struct Iteration {
  std::int64_t model_id = 0;
  std::int64_t iteration_id = 0;  ///< from 1
  std::int64_t run = 0;
  std::int64_t start_ns = 0;  ///< Unix
  std::int64_t end_ns = 0;
};

class Database {
 public:
  /// Throws Error(kData) when it is missing, damaged, or of a newer major version.
  explicit Database(const std::filesystem::path& path);

  const Connection& connection() const { return connection_; }
  Generation generation() const { return generation_; }
  std::int64_t process_id() const { return process_id_; }
  /// Exports write CLOCK_MONOTONIC times: subtract this from the database's Unix times. A double
  /// holds microseconds of uptime to the nanosecond, but those since 1970 only to a quarter of one,
  /// so that viewers would show neighbouring ops overlapping.
  std::int64_t monotonic_to_unix_ns() const { return monotonic_to_unix_ns_; }
  const std::string& metric_group() const { return metric_group_; }
  std::optional<double> frequency_mhz() const { return frequency_mhz_; }
  const std::vector<ModelRow>& models() const { return models_; }
  const ModelRow* model(std::int64_t id) const;
  /// nullptr when the op table does not know it.
  const OpRow* op(std::int64_t model_id, std::int64_t task_id) const;
  /// The text of an id; "N/A" when there is none.
  const std::string& string(std::int64_t id) const;
  std::optional<std::string> meta(const std::string& name) const;
  /// Throws Error(kUsage) that says which there are.
  Iteration iteration(std::int64_t model_id, std::int64_t iteration_id) const;
  bool has_rows(const std::string& table) const;

 private:
  void load_strings();
  void load_models();
  void load_ops(ModelRow& model);

  Connection connection_;
  Generation generation_ = Generation::kProf;
  std::int64_t process_id_ = 0;
  std::int64_t monotonic_to_unix_ns_ = 0;
  std::string metric_group_;
  std::optional<double> frequency_mhz_;
  std::vector<std::string> strings_;  ///< by id
  std::vector<ModelRow> models_;
};

}  // namespace aoe::profiler
