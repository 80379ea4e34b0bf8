// The words of msprof for API levels, calls and tasks.
#pragma once

#include <cstdint>
#include <string_view>

namespace aoe::profiler {

struct ApiLevel {
  std::int64_t type;       ///< of CANN_API, as ENUM_API_TYPE has them
  std::string_view level;  ///< in summaries
  std::string_view layer;  ///< in timelines
};
inline constexpr ApiLevel kApiLevels[] = {
    {20000, "acl", "AscendCL"},   {15000, "model", "Model"},
    {10000, "node", "Node"},      {5500, "communication", "Communication"},
    {5000, "runtime", "Runtime"}, {50003, "trace", "Trace"},
};

constexpr std::string_view level_name(std::int64_t type) {
  for (const ApiLevel& level : kApiLevels)
    if (level.type == type) return level.level;
  return "N/A";
}

constexpr std::string_view layer_name(std::int64_t type) {
  for (const ApiLevel& level : kApiLevels)
    if (level.type == type) return level.layer;
  return "N/A";
}

/// The component of older releases that does it: they have no levels, and call model and node GE.
constexpr std::string_view component_name(std::int64_t type) {
  const std::string_view level = level_name(type);
  if (level == "model" || level == "node") return "GE";
  return level == "runtime" ? "Runtime" : "AscendCL";
}

constexpr std::string_view api_mode(std::string_view api) {
  if (api.starts_with("aclmdl") || api.starts_with("Model")) return "ACL_MODEL";
  if (api.starts_with("aclrt") || api.starts_with("Launch")) return "ACL_RTS";
  if (api.starts_with("aclop") || api == "launch") return "ACL_OP";
  return "ACL_OTHERS";
}

/// The operating system's thread of a globalTid (pid << 32 | tid).
constexpr std::int64_t thread_of(std::int64_t global_tid) {
  return global_tid & 0xffffffff;
}

/// SS928 has other words: AA_CORE in tables, "AA CORE" in timelines.
constexpr std::string_view job_task_type(std::string_view task_type) {
  if (task_type == "AI_CORE") return "AA_CORE";
  if (task_type == "AI_CPU") return "AA_CPU";
  return task_type;
}

/// The Type of acl_statistic: what the call is about.
constexpr std::string_view job_api_type(std::int64_t type, std::string_view api) {
  if (api.starts_with("aclmdl")) return "model";
  if (api.starts_with("aclrt")) return "runtime";
  if (api.starts_with("aclop")) return "op";
  return level_name(type);
}

/// op_summary and task_time call a task's kind so.
constexpr std::string_view kernel_type(std::string_view task_type) {
  if (task_type == "AI_CORE") return "KERNEL_AICORE";
  if (task_type == "AI_CPU") return "KERNEL_AICPU";
  return "N/A";
}

}  // namespace aoe::profiler
