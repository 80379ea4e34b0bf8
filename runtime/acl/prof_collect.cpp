// aclprofInit ... aclprofFinalize: collecting to files.
#include <unistd.h>

#include <cstring>
#include <filesystem>

#include "acl/acl_prof.h"
#include "base/error.h"
#include "profiler/collect/option_values.h"
#include "runtime/acl/handles.h"
#include "runtime/acl/process.h"
#include "runtime/acl/prof_config.h"
#include "runtime/acl/prof_mode.h"
#include "runtime/acl/profiling.h"
#include "runtime/acl/wall.h"

namespace aoe::runtime::acl {
namespace {

namespace fs = std::filesystem;
using profiler::CollectOptions;

// The process is locked where these are used.
Handles<aclprofConfig> configs;
/// Of the last aclprofStart().
aclprofConfig started;

/// In API mode.
bool is_running() {
  return !profiling_directory().empty();
}

constexpr size_t kMostPathBytes = 4095;
constexpr size_t kMostSettingBytes = 256;
/// A list that claims to be longer is not read.
constexpr uint32_t kMostListedDevices = 64;

/// The caller's text of this length, which must be all of it.
std::string text_of(const char* text, size_t length, size_t most, const char* parameter) {
  require_pointer(text, parameter);
  if (length > most || ::strnlen(text, length + 1) != length)
    throw AclFailure(ACL_ERROR_INVALID_PARAM, std::string("the length is not that of ") +
                                                  parameter + ", or is more than " +
                                                  std::to_string(most));
  return std::string(text, length);
}

/// Made when it is not there; absolute, so that a change of the current directory does not matter.
fs::path result_directory(const std::string& text) {
  try {
    const fs::path path = profiler::output_path({"profilerResultPath", text});
    std::error_code status;
    fs::create_directories(path, status);
    const fs::path whole = fs::canonical(path, status);
    if (!status && fs::is_directory(whole) && ::access(whole.c_str(), W_OK | X_OK) == 0)
      return whole;
  } catch (const Error& e) {
    throw AclFailure(ACL_ERROR_INVALID_FILE, e.what());
  }
  throw AclFailure(ACL_ERROR_INVALID_FILE,
                   text + ": cannot be made a directory, or not be written; choose another");
}

const aclprofConfig& config_of(const aclprofConfig* handle) {
  const aclprofConfig* const config = configs.find(handle);
  require(config != nullptr, ACL_ERROR_INVALID_PARAM,
          "not a config of aclprofCreateConfig, or destroyed already");
  return *config;
}

void start(const aclprofConfig& config) {
  require(!is_running(), ACL_ERROR_PROF_ALREADY_RUN, "aclprofStart was called already");
  CollectOptions options = prepared_options();
  apply_config(config, options);
  try {
    start_collection(options);
  } catch (const Error& e) {
    throw AclFailure(
        e.code() == ExitCode::kOutput ? ACL_ERROR_INVALID_FILE : ACL_ERROR_PROFILING_FAILURE,
        e.what());
  }
  started = config;
}

void stop(const aclprofConfig& config) {
  require(is_running(), ACL_ERROR_PROF_NOT_RUN, "aclprofStart was not called");
  require(started == config, ACL_ERROR_INVALID_PROFILING_CONFIG,
          "the config is not that of aclprofStart");
  stop_collection();
}

/// The aclprof* calls that have an order among them.
template <typename Body>
aclError in_order(const char* function, ProfCall call, Body&& body) {
  return guarded(function, [&] {
    require_initialized();
    const std::lock_guard lock(process_mutex());
    prof_modes().require(call);
    body();
  });
}

}  // namespace
}  // namespace aoe::runtime::acl

using namespace aoe::runtime::acl;

aclError aclprofInit(const char* profilerResultPath, size_t length) {
  return in_order(__func__, ProfCall::kInit, [&] {
    const std::string path =
        text_of(profilerResultPath, length, kMostPathBytes, "profilerResultPath");
    require(length > 0, ACL_ERROR_INVALID_PARAM, "profilerResultPath is empty");
    prepared_options().output = result_directory(path);
    prof_modes().set(ProfMode::kApi);
  });
}

aclprofConfig* aclprofCreateConfig(uint32_t* deviceIdList, uint32_t deviceNums,
                                   aclprofAicoreMetrics aicoreMetrics,
                                   const aclprofAicoreEvents* aicoreEvents,
                                   uint64_t dataTypeConfig) {
  return guarded_or<aclprofConfig*>(__func__, nullptr, [&] {
    require(aicoreEvents == nullptr, ACL_ERROR_INVALID_PARAM, "aicoreEvents is not NULL");
    require(deviceNums <= kMostListedDevices, ACL_ERROR_INVALID_PARAM, "deviceNums is too large");
    if (deviceNums > 0) require_pointer(deviceIdList, "deviceIdList");
    aclprofConfig config{{deviceIdList, deviceIdList + deviceNums}, aicoreMetrics, dataTypeConfig};
    const std::lock_guard lock(process_mutex());
    return configs.add(std::move(config));
  });
}

aclError aclprofDestroyConfig(const aclprofConfig* profilerConfig) {
  return guarded(__func__, [&] {
    const std::lock_guard lock(process_mutex());
    config_of(profilerConfig);
    configs.erase(profilerConfig);
  });
}

aclError aclprofSetConfig(aclprofConfigType configType, const char* config, size_t configLength) {
  return guarded(__func__, [&] {
    const std::string value = text_of(config, configLength, kMostSettingBytes, "config");
    const std::lock_guard lock(process_mutex());
    prof_modes().require(ProfCall::kConfigure);
    CollectOptions changed = prepared_options();
    apply_setting(configType, value, changed);
    if (configType == ACL_PROF_PATH) changed.output = result_directory(value);
    prepared_options() = std::move(changed);
  });
}

aclError aclprofStart(const aclprofConfig* profilerConfig) {
  return in_order(__func__, ProfCall::kCollect, [&] { start(config_of(profilerConfig)); });
}

aclError aclprofStop(const aclprofConfig* profilerConfig) {
  return in_order(__func__, ProfCall::kCollect, [&] { stop(config_of(profilerConfig)); });
}

aclError aclprofFinalize() {
  return in_order(__func__, ProfCall::kCollect, [&] {
    stop_profiling();
    forget_prepared_options();
  });
}
