// PROFILING_MODE, and the table of option_keys.h with one more default: nothing said at all.
#include "profiler/collect/profiling_options.h"

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string_view>

#include "base/error.h"
#include "base/json_text.h"
#include "profiler/collect/directory.h"
#include "profiler/collect/json_options.h"

namespace aoe::profiler {
namespace {

using nlohmann::json;

json parsed(const std::string& text) {
  if (text.empty()) return json::object();
  json object = json_or_discarded(text);
  if (!object.is_object())
    throw Error(ExitCode::kUsage, "is no JSON object", kProfilingOptionsVariable,
                R"(write {"output":"DIR","task_trace":"on"}, for example)");
  return object;
}

}  // namespace

ProfilingMode profiling_mode() {
  const char* const value = std::getenv(kModeVariable);
  const std::string_view mode = value == nullptr ? "" : value;
  if (mode.empty() || mode == "false") return ProfilingMode::kOff;
  if (mode == "true") return ProfilingMode::kOn;
  if (mode == "dynamic") return ProfilingMode::kDynamic;
  throw Error(ExitCode::kUsage, "'" + std::string(mode) + "' is not known", kModeVariable,
              "use true, false or dynamic");
}

CollectOptions options_from_profiling_options(const std::string& text) {
  const json object = parsed(text);
  CollectOptions options = default_options(kProfilingOptions);
  if (object.empty()) {
    options.aicpu = true;
    options.training_trace = true;
  }
  apply_json(object, std::string(kProfilingOptionsVariable) + ".", options,
             [](const std::string& name) { return find_option_key(name, kProfilingOptions); });
  if (options.output.empty()) options.output = work_path().value_or("");
  if (options.output.empty())
    throw Error(ExitCode::kUsage, "there is no directory for the profile",
                std::string(kProfilingOptionsVariable) + ".output",
                "give one, or set ASCEND_WORK_PATH");
  return options;
}

}  // namespace aoe::profiler
