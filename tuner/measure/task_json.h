// Task <-> JSON for the worker process. Small constants and integers go by value. Of large weights
// only the range goes: no time depends on the values in it, and the worker draws its own.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "compiler/task.h"

namespace aoe::tuner {

nlohmann::json to_json(const compiler::Task& task);
compiler::Task task_from_json(const nlohmann::json& json);

/// Bytes of all constants of the task.
std::size_t constant_bytes(const compiler::Task& task);

}  // namespace aoe::tuner
