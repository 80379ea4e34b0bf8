// Reading acl.json's profiler object: the current generation's keys are those of option_keys.h, SS928 has some of its own.
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
using Unused = std::vector<std::string>;

/// Front 0: no other way of giving options has these meanings.
constexpr OptionKey kSs928Keys[] = {
    {"switch", 0, [](CollectOptions&, const GivenValue&, Unused&) {}},
    {"output", 0,
     [](CollectOptions& o, const GivenValue& given, Unused&) { o.output = output_path(given); }},
    {"aacpu", 0,
     [](CollectOptions& o, const GivenValue& given, Unused&) { o.aicpu = on_or_off(given); }},
    {"aac_metrics", 0,
     [](CollectOptions& o, const GivenValue& given, Unused&) {
       // "other = none" is the tool's rule.
       o.aic_metrics = given.text == "ArithmeticUtilization" ? given.text : std::string();
     }},
    {"acl_api", 0,
     [](CollectOptions& o, const GivenValue& given, Unused&) { o.acl_api = on_or_off(given); }},
    {"interval", 0,
     [](CollectOptions& o, const GivenValue& given, Unused&) {
       o.interval = whole_number(given, 0, 1'000'000'000);
     }},
};

const OptionKey* find_ss928_key(const std::string& name) {
  for (const OptionKey& key : kSs928Keys)
    if (name == key.name) return &key;
  return nullptr;
}

bool has_key_of_ss928_alone(const json& profiler) {
  for (const OptionKey& key : kSs928Keys)
    if (profiler.contains(key.name) && find_option_key(key.name, kAclJson) == nullptr) return true;
  return false;
}

CollectOptions ss928_options(const json& profiler) {
  CollectOptions options{
      .generation = Generation::kJob, .output = executable_directory(), .aicpu = true};
  apply_json(profiler, "profiler.", options, [](const std::string& name) {
    const OptionKey* const key = find_ss928_key(name);
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
  CollectOptions options{.output = work_path().value_or(executable_directory()),
                         .runtime_api = true,
                         .msproftx = false,
                         .aic_metrics = "PipeUtilization"};
  apply_json(profiler, "profiler.", options,
             [](const std::string& name) { return find_option_key(name, kAclJson); });
  return options;
}

}  // namespace aoe::profiler
