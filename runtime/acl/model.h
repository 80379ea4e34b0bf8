// The models that are loaded through the C API.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "runtime/executor.h"

namespace aoe::runtime::acl {

struct Model {
  Model(Om om, const ExecutorOptions& options) : executor(std::move(om), options) {}

  std::mutex mutex;  ///< an Executor serves one caller at a time; also guards the shapes
  Executor executor;
  std::vector<Shape> output_shapes;  ///< of the last execution; empty before it
};

/// Shared, so that a model can be unloaded while it still runs. Throws ACL_ERROR_INVALID_MODEL_ID.
std::shared_ptr<Model> find_model(std::uint32_t id);

/// Throws ACL_ERROR_GE_EXEC_MODEL_PATH_INVALID when there is no such file.
Om load_om(const char* path);

}  // namespace aoe::runtime::acl
