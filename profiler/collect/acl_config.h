// The `profiler` object of acl.json, in both vocabularies.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "profiler/collect/options.h"

namespace aoe::profiler {

/// What the object asks for; nullopt when its switch is not "on". An object with a key that only SS928 has (aacpu, aac_metrics,
/// acl_api, interval) gives a JOB directory, any other a PROF directory. `default_output` is where it goes when the object
/// does not say. Throws Error(kUsage) that names the key.
std::optional<CollectOptions> options_from_acl_json(const nlohmann::json& profiler,
                                                    const std::filesystem::path& default_output);

/// Sets what a list such as "cpu,mem" of host_sys (process) or host_sys_usage (machine and process) asks for. The words that
/// are not collected here come back, joined by ','. Throws Error(kUsage) on an unknown word.
std::string apply_host_sys(const std::string& words, SystemSampling& system);
std::string apply_host_sys_usage(const std::string& words, SystemSampling& system);

/// Throws Error(kUsage) when a path has a character that the tooling forbids.
void check_path_characters(const std::string& path, const std::string& where);

}  // namespace aoe::profiler
