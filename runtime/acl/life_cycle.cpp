// aclInit, aclFinalize and the messages.
#include <filesystem>
#include <nlohmann/json.hpp>

#include "acl/svp_acl.h"
#include "base/error.h"
#include "base/file.h"
#include "base/json_text.h"
#include "base/log.h"
#include "runtime/acl/dynamic_profiling.h"
#include "runtime/acl/process.h"
#include "runtime/acl/prof_config.h"
#include "runtime/acl/profiling.h"
#include "runtime/acl/subscription.h"
#include "runtime/acl/wall.h"

namespace aoe::runtime::acl {
namespace {

std::uint64_t references = 0;  ///< initialized while > 0
bool was_finalized = false;

/// An empty object without a path.
nlohmann::json read_config(const char* path) {
  if (path == nullptr) return nlohmann::json::object();
  std::string text;
  try {
    text = read_file(path, ExitCode::kUsage);
  } catch (const Error& e) {
    throw AclFailure(ACL_ERROR_INVALID_FILE, e.what());
  }
  nlohmann::json config = json_or_discarded(text);
  if (!config.is_object())
    throw AclFailure(ACL_ERROR_PARSE_FILE, std::string(path) + " is not a JSON object");
  for (const auto& item : config.items())
    if (item.key() != "profiler")
      logger("runtime")->warn("acl config key '{}' has no effect", item.key());
  return config;
}

/// `process_mutex()` is held.
void initialize(const char* config_path) {
  if (references > 0) {
    ++references;
    throw AclFailure(ACL_ERROR_REPEAT_INITIALIZE, "already initialized");
  }
  start_profiling(read_config(config_path));
  prepare_for_forks();
  accept_dynamic_profiling();
  references = 1;
}

/// SS928's keys, with its defaults but for the switch.
void write_default_config(const std::string& path) {
  const nlohmann::ordered_json config = {{"profiler",
                                          {{"switch", "off"},
                                           {"aacpu", "on"},
                                           {"aac_metrics", "ArithmeticUtilization"},
                                           {"acl_api", "on"},
                                           {"interval", "0"}}}};
  try {
    write_file_atomically(path, json_text(config, 2) + "\n");
  } catch (const Error& e) {
    logger("runtime")->warn("no default configuration is made: {}", e.what());
  }
}

/// `process_mutex()` is held. Who calls waits for subscribers when it no longer is.
WaitForClose finalize() {
  require(references > 0, was_finalized ? ACL_ERROR_REPEAT_FINALIZE : ACL_ERROR_UNINITIALIZE,
          was_finalized ? "already finalized" : "aclInit was not called");
  references = 0;
  was_finalized = true;
  WaitForClose wait = unsubscribe_all();
  unload_all_models();
  stop_profiling();
  forget_prepared_options();
  destroy_all_contexts();
  return wait;
}

}  // namespace

std::mutex& process_mutex() {
  static std::mutex mutex;
  return mutex;
}

void require_initialized() {
  const std::lock_guard lock(process_mutex());
  require(references > 0, ACL_ERROR_UNINITIALIZE, "aclInit was not called");
}

}  // namespace aoe::runtime::acl

using namespace aoe::runtime::acl;

aclError aclInit(const char* configPath) {
  return guarded(__func__, [&] {
    const std::lock_guard lock(process_mutex());
    initialize(configPath);
  });
}

aclError svp_acl_init(const char* config_path) {
  return guarded(__func__, [&] {
    const std::lock_guard lock(process_mutex());
    std::error_code unknown;  // then it is as if it were there, and reading it will tell
    const bool is_missing =
        config_path != nullptr && !std::filesystem::exists(config_path, unknown) && !unknown;
    if (is_missing && references == 0) write_default_config(config_path);
    initialize(is_missing ? nullptr : config_path);
  });
}

aclError aclFinalize() {
  return guarded(__func__, [&] {
    WaitForClose wait;
    {
      const std::lock_guard lock(process_mutex());
      wait = finalize();
    }
    if (wait) wait();
  });
}

aclError svp_acl_finalize() {
  return aclFinalize();
}

aclError aclFinalizeReference(uint64_t* refCount) {
  return guarded(__func__, [&] {
    WaitForClose wait;
    {
      const std::lock_guard lock(process_mutex());
      if (references > 1)
        --references;
      else
        wait = finalize();
      if (refCount != nullptr) *refCount = references;
    }
    if (wait) wait();
  });
}

const char* aclGetRecentErrMsg() {
  return take_message();
}
