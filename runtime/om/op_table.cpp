// Om -> op table. Tested by tests/runtime/profiling_test.cpp.
#include "runtime/om/op_table.h"

#include <map>
#include <nlohmann/json.hpp>

#include "runtime/backend.h"
#include "runtime/om/om_bodies.h"
#include "runtime/om/om_tuning.h"

namespace aoe::runtime {
namespace {

using nlohmann::json;

std::uint64_t bytes_of(const OmTensor& tensor) {
  return is_static(tensor.desc.shape) ? storage_bytes(tensor.desc) : 0;
}

/// Of the tensors of `ids`; absent ones count nothing.
template <typename Predicate>
std::uint64_t sum_bytes(const Om& om, const std::vector<int>& ids, Predicate&& counts) {
  std::uint64_t sum = 0;
  for (const int id : ids)
    if (id >= 0 && counts(om.tensors[id])) sum += bytes_of(om.tensors[id]);
  return sum;
}

bool is_weight(const OmTensor& tensor) {
  return tensor.place == Place::kWeight;
}
bool is_any(const OmTensor&) {
  return true;
}

json tensors_json(const Om& om, const std::vector<int>& ids) {
  json list = json::array();
  for (const int id : ids) {
    if (id < 0) continue;
    const OmTensor& tensor = om.tensors[id];
    list.push_back({{"name", tensor.name},
                    {"shape", tensor.desc.shape},
                    {"dtype", name(tensor.desc.dtype)},
                    {"format", name(tensor.desc.format)}});
  }
  return list;
}

using Tunings = std::map<std::string, OpTuning>;  ///< by node

Tunings tunings_of(const Om& om) {
  Tunings tunings;
  for (OpTuning& op : op_tunings(om.tuning)) tunings[op.node] = std::move(op);
  return tunings;
}

/// Formats of the first output when the tuning section does not list the step, as with conversions.
std::string format_of(const Om& om, const OmStep& step) {
  for (const int id : step.outputs)
    if (id >= 0) return std::string(name(om.tensors[id].desc.format));
  return {};
}

std::uint64_t workspace_bytes_of(const Om& om, const OmStep& step) {
  return step.workspace < 0 ? 0 : bytes_of(om.tensors[step.workspace]);
}

json op_json(const Om& om, const OmStep& step, const std::string& path, const Tunings& tunings) {
  const std::uint64_t weight_bytes =
      sum_bytes(om, step.constants, is_any) + sum_bytes(om, step.inputs, is_weight);
  json op = {
      {"name", op_name(path, step)},
      {"type", step.types_text()},
      {"original_ops", step.origins},
      {"task_type", step.backend->traits().runs ? step.task_type() : ""},
      {"impl", step.backend->traits().library},
      {"format", format_of(om, step)},
      {"strategy", "default"},
      {"repo_key", ""},
      {"inputs", tensors_json(om, step.inputs)},
      {"outputs", tensors_json(om, step.outputs)},
      {"flops", step.flops},
      {"read_bytes", sum_bytes(om, step.inputs, is_any) + sum_bytes(om, step.constants, is_any)},
      {"write_bytes", sum_bytes(om, step.outputs, is_any)},
      {"weight_bytes", weight_bytes},
      {"workspace_bytes", workspace_bytes_of(om, step)}};
  const auto at = tunings.find(step.name);
  if (at == tunings.end()) return op;
  const OpTuning& tuning = at->second;
  if (!tuning.impl.empty()) op["impl"] = tuning.impl;
  if (!tuning.format.empty()) op["format"] = tuning.format;
  if (tuning.source == "bank") op["strategy"] = "bank";
  if (!tuning.repo_key.empty()) op["repo_key"] = tuning.repo_key;
  return op;
}

/// What each op takes of the arena: its outputs and its workspace there.
json static_ops_json(const Om& om) {
  const auto is_in_arena = [](const OmTensor& tensor) { return tensor.place == Place::kArena; };
  json list = json::array();
  for (const OmStep& step : om.steps) {
    const std::uint64_t bytes =
        (step.backend->traits().runs ? sum_bytes(om, step.outputs, is_in_arena) : 0) +
        workspace_bytes_of(om, step);
    if (bytes > 0) list.push_back({{"op", step.name}, {"bytes", bytes}});
  }
  return list;
}

json real_json(const std::optional<double>& figure) {
  return figure ? json(*figure) : json(nullptr);
}

}  // namespace

json op_table(std::span<const Om* const> gears, const OpTableContext& context) {
  json ops = json::array(), static_ops = json::array();
  std::uint64_t workspace_bytes = 0, arena_bytes = 0;
  for (const Om* gear : gears) {
    for_each_om(*gear, [&](const Om& own, const std::string& path) {
      const Tunings tunings = tunings_of(own);
      for (const OmStep& step : own.steps) ops.push_back(op_json(own, step, path, tunings));
    });
    for (const OmStep& step : gear->steps)
      workspace_bytes = std::max(workspace_bytes, workspace_bytes_of(*gear, step));
    const json own = static_ops_json(*gear);
    static_ops.insert(static_ops.end(), own.begin(), own.end());
    arena_bytes = std::max(arena_bytes, gear->arena_bytes);
  }
  const Om& om = *gears.front();
  return {{"model_id", context.model_id},
          {"model_name", om.name},
          {"om_path", context.om_path},
          {"soc_version", om.soc_version},
          {"threads", context.threads},
          {"peak_gflops", real_json(om.peak_gflops)},
          {"memory_gb_s", real_json(om.memory_gb_s)},
          {"memory",
           {{"arena_bytes", arena_bytes},
            {"workspace_bytes", workspace_bytes},
            {"weights_bytes", om.weights_view.size()},
            {"static_ops", std::move(static_ops)}}},
          {"ops", std::move(ops)}};
}

}  // namespace aoe::runtime
