// Reading acl.json's profiler object: which generation it is of, and the keys of option_keys.h.
#include "profiler/collect/acl_config.h"

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/log.h"
#include "profiler/collect/directory.h"
#include "profiler/collect/json_options.h"
#include "profiler/collect/option_keys.h"

namespace aoe::profiler {
namespace {

using nlohmann::json;
bool has_key_of_ss928_alone(const json& profiler) {
  for (const auto& [name, value] : profiler.items())
    if (find_option_key(name, kSs928) != nullptr && find_option_key(name, kAclJson) == nullptr)
      return true;
  return false;
}

CollectOptions ss928_options(const json& profiler) {
  CollectOptions options = default_options(kSs928);
  options.output = executable_directory();
  apply_json(profiler, "profiler.", options, [](const std::string& name) {
    const OptionKey* const key = find_option_key(name, kSs928);
    if (key == nullptr && find_option_key(name, kAclJson) != nullptr)
      throw Error(ExitCode::kUsage, "is a key of the current generation, beside keys of SS928",
                  "profiler." + name);
    return key;
  });
  std::error_code ignored;
  if (std::filesystem::is_directory(options.output, ignored)) return options;
  logger("profiler")
      ->warn("profiler.output: {} is no directory; JOB directories go to {}",
             options.output.string(), executable_directory().string());
  options.output = executable_directory();
  return options;
}

}  // namespace

std::optional<CollectOptions> options_from_acl_json(const json& profiler) {
  if (!profiler.is_object()) throw Error(ExitCode::kUsage, "is no object", "profiler");
  if (!profiler.contains("switch")) return std::nullopt;
  GivenValue given{"profiler.switch", {}};
  given.text = text_of_json(given, profiler["switch"]);
  if (!on_or_off(given)) return std::nullopt;
  if (has_key_of_ss928_alone(profiler)) return ss928_options(profiler);
  CollectOptions options = default_options(kAclJson);
  options.output = work_path().value_or(executable_directory());
  apply_json(profiler, "profiler.", options,
             [](const std::string& name) { return find_option_key(name, kAclJson); });
  return options;
}

}  // namespace aoe::profiler
