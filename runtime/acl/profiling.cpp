// Starting, feeding and ending the process's collection.
#include "runtime/acl/profiling.h"

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/log.h"
#include "profiler/collect/acl_config.h"
#include "profiler/collect/collection.h"
#include "runtime/acl/api_span.h"
#include "runtime/acl/process.h"
#include "runtime/acl/wall.h"
#include "runtime/op_table.h"

namespace aoe::runtime::acl {
namespace {

namespace fs = std::filesystem;

/// A child process leaves its copy alone.
struct EndInItsProcess {
  void operator()(profiler::Collection* collection) const {
    if (collection->is_of_this_process()) std::default_delete<profiler::Collection>()(collection);
  }
};
using CollectionPtr = std::unique_ptr<profiler::Collection, EndInItsProcess>;

/// Ends at the latest when the process does, for programs that never call aclFinalize().
CollectionPtr& collection() {
  logger("profiler");  // made before, so that it is there until after
  static CollectionPtr instance;
  return instance;
}

/// Executions between two whose tasks are recorded, as SS928's `interval`; 0 and 1: all are.
std::atomic<std::uint32_t> sampling_interval = 0;

void start(const profiler::CollectOptions& options) {
  collection().reset();
  collection() = CollectionPtr(std::make_unique<profiler::Collection>(options).release());
  sampling_interval = static_cast<std::uint32_t>(options.interval);
}

/// ASCEND_WORK_PATH, else where the executable lies.
fs::path default_output() {
  const char* const work_path = std::getenv("ASCEND_WORK_PATH");
  if (work_path != nullptr && *work_path != '\0') return work_path;
  std::error_code status;
  const fs::path executable = fs::read_symlink("/proc/self/exe", status);
  return status ? fs::current_path() : executable.parent_path();
}

aclError code_of(const Error& e) {
  return e.code() == ExitCode::kOutput ? ACL_ERROR_INVALID_FILE
                                       : ACL_ERROR_INVALID_PROFILING_CONFIG;
}

}  // namespace

void start_profiling_from_environment() {
  const char* const text = std::getenv(profiler::kOptionsVariable);
  if (text == nullptr) return;
  try {
    start(profiler::options_from_json(
        nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false)));
  } catch (const Error& e) {  // the program does not know of msprof, and shall not suffer from it
    logger("profiler")->error("nothing is collected: {}", e.what());
  }
}

void start_profiling_from_config(const nlohmann::json& profiler) {
  if (collection() != nullptr) {
    logger("profiler")->info("the profiler object of acl.json is ignored: msprof collects");
    return;
  }
  try {
    if (const auto options = profiler::options_from_acl_json(profiler, default_output()))
      start(*options);
  } catch (const Error& e) {
    throw AclFailure(code_of(e), e.what());
  }
}

void stop_profiling() {
  collection().reset();
  sampling_interval = 0;
}

fs::path start_profiling(const profiler::CollectOptions& options) {
  start(options);
  profile_all_models();
  return collection()->directory();
}

fs::path profiling_directory() {
  return collection() == nullptr ? fs::path() : collection()->directory();
}

void profile_model(const Model& model) {
  if (collection() != nullptr)
    collection()->add_model(
        op_table(model.executor.oms(), {.model_id = model.id & profiler::kMostModelId,
                                        .om_path = model.path,
                                        .threads = model.executor.gear(0).threads()}));
}

ExecutionSpan::ExecutionSpan(Model& model) : model_(model) {
  const std::uint32_t interval = sampling_interval.load(std::memory_order_relaxed);
  tag_.is_sampled = interval <= 1 || model.runs % interval == 0;
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
