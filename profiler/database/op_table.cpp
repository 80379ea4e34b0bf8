// From JSON to rows.
#include "profiler/database/op_table.h"

#include <optional>

#include "base/json_text.h"
#include "profiler/database/phases.h"

namespace aoe::profiler {
namespace {
using nlohmann::json;

const json& member(const json& object, const char* key) {
  static const json kNothing;
  if (!object.is_object()) return kNothing;
  const auto found = object.find(key);
  return found == object.end() ? kNothing : *found;
}

std::optional<std::string> text_in(const json& object, const char* key) {
  const json& value = member(object, key);
  if (value.is_string()) return value.get<std::string>();
  return std::nullopt;
}

std::optional<std::int64_t> integer_in(const json& object, const char* key) {
  const json& value = member(object, key);
  if (value.is_number()) return value.get<std::int64_t>();
  return std::nullopt;
}

std::optional<double> real_in(const json& object, const char* key) {
  const json& value = member(object, key);
  if (value.is_number()) return value.get<double>();
  return std::nullopt;
}

std::string joined(const json& array, char separator) {
  std::string text;
  if (!array.is_array()) return text;
  for (const json& element : array) {
    if (!text.empty()) text += separator;
    text += element.is_string() ? element.get<std::string>() : json_text(element);
  }
  return text;
}

/// "1,3,224,224;64,3,7,7" for the tensors' shapes, "FLOAT;FLOAT" for their dtypes.
std::string of_tensors(const json& tensors, const char* key, char separator = ';') {
  std::string text;
  if (!tensors.is_array()) return text;
  bool is_first = true;
  for (const json& tensor : tensors) {
    if (!is_first) text += separator;
    is_first = false;
    const json& value = member(tensor, key);
    if (value.is_array())
      text += joined(value, ',');
    else if (value.is_string())
      text += value.get<std::string>();
  }
  return text;
}

}  // namespace

void OpTable::store_model(std::int64_t model_id, const json& model) {
  const json& memory = member(model, "memory");
  connection_.prepare("INSERT OR REPLACE INTO MODEL VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
      .run(model_id, text_in(model, "model_name"), text_in(model, "om_path"),
           text_in(model, "soc_version"), integer_in(model, "threads"),
           real_in(model, "peak_gflops"), real_in(model, "memory_gb_s"),
           integer_in(memory, "arena_bytes"), integer_in(memory, "workspace_bytes"),
           integer_in(memory, "weights_bytes"));
}

void OpTable::store_op(std::int64_t model_id, std::int64_t index, const json& op,
                       const std::string& phase, std::int64_t task_type) {
  const json& inputs = member(op, "inputs");
  const json& outputs = member(op, "outputs");
  connection_
      .prepare(
          "INSERT OR REPLACE INTO MODEL_OP "
          "VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
      .run(model_id, index, intern_(text_in(op, "name").value_or("N/A")),
           intern_(text_in(op, "type").value_or("N/A")), task_type,
           joined(member(op, "original_ops"), ';'), text_in(op, "impl"), text_in(op, "format"),
           text_in(op, "strategy"), text_in(op, "repo_key"), intern_(of_tensors(inputs, "shape")),
           intern_(of_tensors(inputs, "dtype")), intern_(of_tensors(inputs, "format")),
           intern_(of_tensors(outputs, "shape")), intern_(of_tensors(outputs, "dtype")),
           intern_(of_tensors(outputs, "format")), real_in(op, "flops"),
           integer_in(op, "read_bytes"), integer_in(op, "write_bytes"),
           integer_in(op, "weight_bytes"), integer_in(op, "workspace_bytes"), phase,
           of_tensors(inputs, "name", '\n'), of_tensors(outputs, "name", '\n'));
}

void OpTable::store_static_memory(std::int64_t model_id, const json& model) {
  const json& ops = member(member(model, "memory"), "static_ops");
  if (!ops.is_array()) return;
  Statement insert = connection_.prepare("INSERT INTO MODEL_STATIC_MEM VALUES(?, ?, ?, ?, ?)");
  for (const json& op : ops)
    insert.run(model_id, text_in(op, "op"), integer_in(op, "bytes"),
               integer_in(op, "node_index_start"), integer_in(op, "node_index_end"));
}

StoredModel OpTable::store(const json& model) {
  StoredModel stored{.model_id = integer_in(model, "model_id").value_or(0)};
  for (const char* table : {"MODEL_OP", "MODEL_STATIC_MEM"})
    connection_.prepare("DELETE FROM " + std::string(table) + " WHERE modelId = ?")
        .run(stored.model_id);
  store_model(stored.model_id, model);
  const json& ops = member(model, "ops");
  if (ops.is_array()) {
    const std::vector<std::string> phases = phases_of(ops);
    for (std::size_t i = 0; i < ops.size(); ++i) {
      stored.op_task_types.push_back(intern_(text_in(ops[i], "task_type").value_or("N/A")));
      store_op(stored.model_id, static_cast<std::int64_t>(i), ops[i], phases[i],
               stored.op_task_types.back());
    }
  }
  store_static_memory(stored.model_id, model);
  return stored;
}

}  // namespace aoe::profiler
