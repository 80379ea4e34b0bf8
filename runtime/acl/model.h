// The models that are loaded through the C API.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "profiler/recorder.h"
#include "runtime/executor.h"

namespace aoe::runtime::acl {

struct Model {
  Model(std::uint32_t model_id, Om om, const ExecutorOptions& options)
      : executor(std::move(om), options),
        id(model_id),
        name_id(profiler::intern(executor.om().name)) {}

  std::mutex
      mutex;  ///< an Executor serves one caller at a time; also guards what follows the executor
  Executor executor;
  const std::uint32_t id;
  const std::uint32_t name_id;       ///< of its executions in profiles
  std::uint32_t runs = 0;            ///< so far
  std::vector<Shape> output_shapes;  ///< of the last execution; empty before it
};

/// Shared, so that a model can be unloaded while it still runs. Throws ACL_ERROR_INVALID_MODEL_ID.
std::shared_ptr<Model> find_model(std::uint32_t id);

/// Throws ACL_ERROR_GE_EXEC_MODEL_PATH_INVALID when there is no such file.
Om load_om(const char* path);

}  // namespace aoe::runtime::acl
