// The models that are loaded through the C API.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/tensor.h"
#include "profiler/recorder.h"
#include "runtime/geared_executor.h"

namespace aoe::runtime::acl {

struct Model {
  Model(std::uint32_t model_id, GearedOm om, const ExecutorOptions& options,
        std::string loaded_from)
      : executor(std::move(om), options),
        path(std::move(loaded_from)),
        id(model_id),
        name_id(profiler::intern(executor.gear(0).om().name)) {}

  std::mutex
      mutex;  ///< an Executor serves one caller at a time; also guards what follows the executor
  GearedExecutor executor;
  const std::string path;  ///< of its file; empty: from memory
  const std::uint32_t id;
  const std::uint32_t name_id;              ///< of its executions in profiles
  std::uint32_t runs = 0;                   ///< so far
  std::atomic<bool> is_subscribed = false;  ///< its tasks are recorded in a subscription
  /// Of the gear set last, or of the last execution; empty before.
  std::vector<Shape> output_shapes;
};

/// Shared, so that a model can be unloaded while it still runs. Throws ACL_ERROR_INVALID_MODEL_ID.
std::shared_ptr<Model> find_model(std::uint32_t id);
/// The same where the process is locked; valid as long as it is.
Model& find_locked_model(std::uint32_t id);

/// Throws ACL_ERROR_GE_EXEC_MODEL_PATH_INVALID when there is no such file.
GearedOm load_om(const char* path);

}  // namespace aoe::runtime::acl
