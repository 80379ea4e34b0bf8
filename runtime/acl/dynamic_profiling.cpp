// One command at a time, with the process locked: {"command": "start", "options": {...}}, "stop", "status".
#include "runtime/acl/dynamic_profiling.h"

#include <memory>

#include "base/error.h"
#include "base/log.h"
#include "profiler/collect/control_socket.h"
#include "profiler/collect/profiling_options.h"
#include "runtime/acl/process.h"
#include "runtime/acl/prof_mode.h"
#include "runtime/acl/profiling.h"
#include "runtime/acl/wall.h"

namespace aoe::runtime::acl {
namespace {

using nlohmann::json;

json run_command(const json& request) {
  const std::string command = request.value("command", "");
  if (command == "status") return json::object();
  require_initialized();
  const std::lock_guard lock(process_mutex());
  const std::string running = profiling_directory().string();
  if (command == "start") {
    require(running.empty(), ACL_ERROR_PROF_ALREADY_RUN, "a collection runs already");
    prof_modes().require(ProfCall::kCommand);
    const auto directory =
        start_collection(profiler::options_from_json(request.value("options", json())));
    prof_modes().set(ProfMode::kCommand);
    return {{"directory", directory.string()}};
  }
  require(command == "stop", ACL_ERROR_INVALID_PARAM, "no such command");
  require(!running.empty(), ACL_ERROR_PROF_NOT_RUN, "no collection runs");
  require(prof_modes().mode() == ProfMode::kCommand, ACL_ERROR_PROF_ALREADY_RUN,
          "the program itself collects");
  stop_profiling();
  return {{"directory", running}};
}

json reply_to(const json& request) {
  try {
    return run_command(request);
  } catch (const std::exception& e) {
    return {{"error", e.what()}};
  }
}

std::unique_ptr<profiler::ControlServer>& control_server() {
  static std::unique_ptr<profiler::ControlServer> instance;
  return instance;
}

}  // namespace

void accept_dynamic_profiling() {
  if (profiler::profiling_mode() != profiler::ProfilingMode::kDynamic) return;
  profiling_directory();  // what the server uses is made before it, so that it is there until after
  auto& server = control_server();
  if (server != nullptr) return;
  try {
    server = std::make_unique<profiler::ControlServer>(reply_to);
  } catch (const Error& e) {
    logger("profiler")->error("msprof --dynamic cannot attach: {}", e.what());
  }
}

void forget_dynamic_profiling() {
  control_server().reset();
}

}  // namespace aoe::runtime::acl
