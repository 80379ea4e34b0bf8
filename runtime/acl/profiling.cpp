// Starting, feeding and ending the process's collection.
#include "runtime/acl/profiling.h"

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/error.h"
#include "base/json_text.h"
#include "base/log.h"
#include "profiler/collect/acl_config.h"
#include "profiler/collect/collection.h"
#include "profiler/collect/profiling_options.h"
#include "runtime/acl/api_span.h"
#include "runtime/acl/process.h"
#include "runtime/acl/prof_mode.h"
#include "runtime/acl/prof_stamps.h"
#include "runtime/acl/stamp_names.h"
#include "runtime/acl/subscription.h"
#include "runtime/acl/wall.h"
#include "runtime/om/op_table.h"

namespace aoe::runtime::acl {
namespace {

namespace fs = std::filesystem;

using CollectionPtr = std::unique_ptr<profiler::Collection>;

/// Ends at the latest when the process does, for programs that never call aclFinalize().
CollectionPtr& running_collection() {
  static CollectionPtr instance;
  return instance;
}

/// Executions between two whose tasks are recorded, as SS928's `interval`; 0 and 1: all are.
std::atomic<std::uint32_t> sampling_interval = 0;

/// Somebody else than the program asks for it, through aclInit().
void start_as_asked(const profiler::CollectOptions& options) {
  start_collection(options);
  prof_modes().set(ProfMode::kCommand);
}

void start_for_msprof(const char* text) {
  try {
    start_as_asked(profiler::options_from_json(json_or_discarded(text)));
  } catch (const Error& e) {  // the program does not know of msprof, and shall not suffer from it
    logger("profiler")->error("nothing is collected: {}", e.what());
  }
}

std::optional<profiler::CollectOptions> options_of_profiling_mode() {
  const char* const text = std::getenv(profiler::kProfilingOptionsVariable);
  if (profiler::profiling_mode() == profiler::ProfilingMode::kOn)
    return profiler::options_from_profiling_options(text == nullptr ? "" : text);
  if (text != nullptr)
    logger("profiler")->warn("PROFILING_OPTIONS has no effect without PROFILING_MODE=true");
  return std::nullopt;
}

/// All of them are checked, and the first is heard.
void start_first_of_three(const nlohmann::json& acl_json) {
  const char* const of_msprof = std::getenv(profiler::kOptionsVariable);
  const auto of_program = acl_json.contains("profiler")
                              ? profiler::options_from_acl_json(acl_json["profiler"])
                              : std::nullopt;
  const auto of_environment = options_of_profiling_mode();
  if (of_environment && (of_program || of_msprof != nullptr))
    logger("profiler")->warn("PROFILING_MODE=true has no effect: msprof or acl.json collects");
  if (of_program && of_msprof != nullptr)
    logger("profiler")->info("the profiler object of acl.json is ignored: msprof collects");
  if (of_msprof != nullptr)
    start_for_msprof(of_msprof);
  else if (of_program || of_environment)
    start_as_asked(of_program ? *of_program : *of_environment);
}

}  // namespace

void start_profiling(const nlohmann::json& acl_json) {
  try {
    start_first_of_three(acl_json);
  } catch (const Error& e) {
    throw AclFailure(
        e.code() == ExitCode::kOutput ? ACL_ERROR_INVALID_FILE : ACL_ERROR_INVALID_PROFILING_CONFIG,
        e.what());
  }
}

void stop_profiling() {
  stop_collection();
  prof_modes().set(ProfMode::kOff);
}

fs::path start_collection(const profiler::CollectOptions& options) {
  stop_collection();
  forget_open_ranges();
  running_collection() = std::make_unique<profiler::Collection>(options);
  sampling_interval = static_cast<std::uint32_t>(options.interval);
  profile_all_models();
  return running_collection()->directory();
}

void stop_collection() {
  running_collection().reset();
  sampling_interval = 0;
  if (const std::uint64_t dropped = stamp_names().take_dropped(); dropped > 0)
    logger("profiler")
        ->warn("{} texts of stamps are recorded as '{}': a process can have {} different ones",
               dropped, kDroppedText, kMostStampNames);
}

void forget_collection() {
  if (prof_modes().mode() == ProfMode::kCommand) prof_modes().set(ProfMode::kOff);
  if (running_collection() == nullptr) return;
  profiler::Collection::forget_in_child();
  sampling_interval = 0;
  (void)running_collection().release();  // its thread is not here
}

fs::path profiling_directory() {
  return running_collection() == nullptr ? fs::path() : running_collection()->directory();
}

void profile_model(const Model& model) {
  if (running_collection() != nullptr)
    running_collection()->add_model(
        op_table(model.executor.oms(), {.model_id = model.id & profiler::kMostModelId,
                                        .om_path = model.path,
                                        .threads = model.executor.gear(0).threads()}));
}

ExecutionSpan::ExecutionSpan(Model& model) : model_(model) {
  const std::uint32_t interval = sampling_interval.load(std::memory_order_relaxed);
  tag_.is_sampled = is_subscription_on() ? model.is_subscribed.load(std::memory_order_relaxed)
                                         : interval <= 1 || model.runs % interval == 0;
  ++model.runs;
  tag_.run_and_model = model.runs << profiler::kModelBits | (model.id & profiler::kMostModelId);
  connect_api_call(tag_.run_and_model);
  if (tag_.is_sampled && profiler::is_recorded(profiler::EventKind::kStep))
    begin_ = profiler::now_ticks();
}

ExecutionSpan::~ExecutionSpan() {
  if (begin_ != 0)
    profiler::record(profiler::EventKind::kStep, model_.name_id, begin_, profiler::now_ticks(),
                     profiler::task_value(profiler::kWholeModel, tag_.run_and_model));
}

}  // namespace aoe::runtime::acl
