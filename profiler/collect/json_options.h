// Applying an object of options, as acl.json and PROFILING_OPTIONS have it: every key is in a table, or is refused.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "base/error.h"
#include "profiler/collect/option_keys.h"

namespace aoe::profiler {

/// A string, or a whole number as text. Throws Error(kUsage) that names `given.where`.
inline std::string text_of_json(const GivenValue& given, const nlohmann::json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number_integer()) return std::to_string(value.get<std::int64_t>());
  reject_value(given, "is neither a string nor a whole number");
}

/// `find_key(name)` gives the OptionKey of a name, or nullptr. `prefix` stands before names in messages. Logs what has no
/// effect. Throws Error(kUsage).
template <typename FindKey>
void apply_json(const nlohmann::json& object, const std::string& prefix, CollectOptions& options,
                FindKey&& find_key) {
  std::vector<std::string> unused;
  for (const auto& [name, value] : object.items()) {
    GivenValue given{prefix + name, {}};
    const OptionKey* const key = find_key(name);
    if (key == nullptr) reject_value(given, "is no option", "the manual lists them");
    given.text = text_of_json(given, value);
    key->apply(options, given, unused);
  }
  warn_of_unused(unused);
}

}  // namespace aoe::profiler
