// Stores a model's op table: MODEL, MODEL_OP, MODEL_STATIC_MEM.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "profiler/database/sqlite.h"

namespace aoe::profiler {

struct StoredModel {
  std::int64_t model_id = 0;
  std::vector<std::int64_t> op_task_types;  ///< ids of strings, by op index
};

class OpTable {
 public:
  using Intern = std::function<std::int64_t(std::string_view)>;
  OpTable(Connection& connection, Intern intern)
      : connection_(connection), intern_(std::move(intern)) {}

  /// The JSON is that of raw_reader.h; a field that is missing or of another type is NULL. A model
  /// that is told twice replaces itself.
  StoredModel store(const nlohmann::json& model);

 private:
  void store_model(std::int64_t model_id, const nlohmann::json& model);
  void store_op(std::int64_t model_id, std::int64_t index, const nlohmann::json& op,
                const std::string& phase, std::int64_t task_type);
  void store_static_memory(std::int64_t model_id, const nlohmann::json& model);

  Connection& connection_;
  Intern intern_;
};

}  // namespace aoe::profiler
