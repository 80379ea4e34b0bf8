// The collection of this process: who starts it, and what it is told about models and executions.
//
// aclInit() starts one when it is asked to: by msprof, through the environment variable profiler::kOptionsVariable, by
// acl.json, or by PROFILING_MODE=true; the first of them that does is heard. Others begin later: dynamic_profiling.h,
// aclprofStart().
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>

#include "profiler/collect/options.h"
#include "runtime/acl/model.h"

namespace aoe::runtime::acl {

// The process is locked in these.
/// What aclInit() does; `acl_json` is the whole file, an object. Throws ACL_ERROR_INVALID_PROFILING_CONFIG,
/// ACL_ERROR_INVALID_FILE for a directory that cannot be made.
void start_profiling(const nlohmann::json& acl_json);
/// Ends the collection, if there is one, and whatever mode is on.
void stop_profiling();
/// A collection from now on, in place of the one that runs; it knows the models that are loaded. Returns its directory.
/// Throws Error.
std::filesystem::path start_collection(const profiler::CollectOptions& options);
void stop_collection();
/// In the child of a fork(), which has no collection: it may begin one of its own, in API mode with what it was told before.
void forget_collection();
/// Of the collection that runs; empty: none does.
std::filesystem::path profiling_directory();
/// Tells the collection about a model, if there is one.
void profile_model(const Model& model);

/// One execution of a model: its number, whether it is sampled, and its event.
class ExecutionSpan {
 public:
  /// Counts the execution; the model is locked.
  explicit ExecutionSpan(Model& model);
  ~ExecutionSpan();
  ExecutionSpan(const ExecutionSpan&) = delete;
  ExecutionSpan& operator=(const ExecutionSpan&) = delete;
  const RunTag& tag() const { return tag_; }

 private:
  const Model& model_;
  RunTag tag_;
  std::uint64_t begin_ = 0;
};

}  // namespace aoe::runtime::acl
