// The collection of this process: who starts it, and what it is told about models and executions.
//
// It is in one of two ways on from aclInit(): acl.json asks for it, or msprof does, through the environment variable
// profiler::kOptionsVariable. msprof goes first. A third way is dynamic_profiling.h.
#pragma once

#include <filesystem>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "profiler/collect/options.h"
#include "runtime/acl/model.h"

namespace aoe::runtime::acl {

// The process is locked in these.
/// Does nothing without the variable.
void start_profiling_from_environment();
/// `profiler` of acl.json. Throws ACL_ERROR_INVALID_PROFILING_CONFIG, ACL_ERROR_INVALID_FILE for a directory that cannot be made.
void start_profiling_from_config(const nlohmann::json& profiler);
/// Ends the collection, if there is one.
void stop_profiling();
/// Tells the collection about a model, if there is one.
void profile_model(const Model& model);
/// A collection in the middle of the process's life; returns its directory. Throws Error.
std::filesystem::path start_profiling(const profiler::CollectOptions& options);
/// Of the collection that runs; empty: none does.
std::filesystem::path profiling_directory();

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
