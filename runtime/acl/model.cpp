// Loading and unloading models.
#include "runtime/acl/model.h"

#include <atomic>
#include <cstring>
#include <filesystem>
#include <map>

#include "acl/acl_mdl.h"
#include "base/error.h"
#include "runtime/acl/process.h"
#include "runtime/acl/profiling.h"
#include "runtime/acl/subscription.h"
#include "runtime/acl/wall.h"
#include "runtime/aligned_memory.h"

/// What aclmdlSetConfigOpt() was told.
struct aclmdlConfigHandle {
  size_t load_type = 0;
  std::string path;
  void* model = nullptr;
  size_t model_bytes = 0;
  void* weights = nullptr;
  size_t weights_bytes = 0;
  void* work = nullptr;
  size_t work_bytes = 0;
};

namespace aoe::runtime::acl {
namespace {

std::map<std::uint32_t, std::shared_ptr<Model>> models;
std::atomic<std::uint32_t> next_model_id = 1;

/// The caller's memory for a model; nullptr: the library's own.
struct GivenMemory {
  void* work = nullptr;
  size_t work_bytes = 0;
  void* weights = nullptr;
  size_t weights_bytes = 0;
};

GearedOm parse_copy(const void* bytes, size_t size_bytes) {
  require_pointer(bytes, "model");
  require(size_bytes > 0, ACL_ERROR_INVALID_PARAM, "modelSize is 0");
  const auto copy = std::make_shared<const AlignedMemory>(size_bytes);
  std::memcpy(copy->data(), bytes, size_bytes);
  const std::string_view file(static_cast<const char*>(copy->data()), size_bytes);
  constexpr const char* kWhere = "model in memory";
  OmKeys::from_environment().check(file, kWhere);
  return GearedOm::parse(file, copy, kWhere);
}

void require_room(size_t given_bytes, size_t needed_bytes, const char* what) {
  if (given_bytes < needed_bytes)
    throw AclFailure(ACL_ERROR_INVALID_PARAM,
                     std::string(what) + " has " + std::to_string(given_bytes) +
                         " bytes, the model needs " + std::to_string(needed_bytes));
}

void move_weights(GearedOm& model, const GivenMemory& memory) {
  const std::string_view weights = model.oms.front().weights_view;
  require_room(memory.weights_bytes, weights.size(), "the weight memory");
  std::memcpy(memory.weights, weights.data(), weights.size());
  for (Om& om : model.oms)
    om.weights_view = {static_cast<const char*>(memory.weights), weights.size()};
}

std::uint32_t add_model(GearedOm om, const GivenMemory& memory, const std::string& path) {
  ExecutorOptions options;
  if (memory.work != nullptr) {
    require_room(memory.work_bytes, om.arena_bytes(), "the working memory");
    options.arena = {static_cast<std::byte*>(memory.work), memory.work_bytes};
  }
  if (memory.weights != nullptr) move_weights(om, memory);
  const std::uint32_t id = next_model_id++;
  std::shared_ptr<Model> model;
  try {
    model = std::make_shared<Model>(id, std::move(om), options, path);
  } catch (const Error& e) {
    // What this process lacks (descriptors, /proc) is not the om's fault.
    throw AclFailure(e.code() == ExitCode::kFailure ? ACL_ERROR_FAILURE : ACL_ERROR_GE_LOAD_MODEL,
                     e.what());
  }
  const std::lock_guard lock(process_mutex());
  profile_model(*model);
  models[id] = std::move(model);
  return id;
}

template <typename Read>
aclError load(const char* function, uint32_t* model_id, const GivenMemory& memory, const char* path,
              Read&& read) {
  return guarded(function, [&] {
    require_context();
    require_pointer(model_id, "modelId");
    const profiler::Span span(profiler::EventKind::kApi, profiler::intern("ModelLoad"),
                              kModelLevel);
    *model_id = add_model(read(), memory, path == nullptr ? "" : path);
  });
}

template <typename Read>
aclError query_size(const char* function, size_t* work_bytes, size_t* weight_bytes, Read&& read) {
  return guarded(function, [&] {
    require_initialized();
    require_pointer(work_bytes, "workSize");
    require_pointer(weight_bytes, "weightSize");
    const GearedOm om = read();
    *work_bytes = om.arena_bytes();
    *weight_bytes = om.oms.front().weights_view.size();
  });
}

template <typename T>
void read_option(T& option, const void* value, size_t value_bytes) {
  require(value_bytes == sizeof option, ACL_ERROR_INVALID_PARAM,
          "valueSize does not fit the attribute");
  std::memcpy(&option, value, sizeof option);
}

void set_option(aclmdlConfigHandle& config, aclmdlConfigAttr attr, const void* value,
                size_t value_bytes) {
  switch (attr) {
    case ACL_MDL_PRIORITY_INT32: {
      std::int32_t no_effect = 0;
      return read_option(no_effect, value, value_bytes);
    }
    case ACL_MDL_LOAD_TYPE_SIZET:
      return read_option(config.load_type, value, value_bytes);
    case ACL_MDL_PATH_PTR: {
      const char* path = nullptr;
      read_option(path, value, value_bytes);
      require_pointer(path, "the path");
      config.path = path;
      return;
    }
    case ACL_MDL_MEM_ADDR_PTR:
      return read_option(config.model, value, value_bytes);
    case ACL_MDL_MEM_SIZET:
      return read_option(config.model_bytes, value, value_bytes);
    case ACL_MDL_WEIGHT_ADDR_PTR:
      return read_option(config.weights, value, value_bytes);
    case ACL_MDL_WEIGHT_SIZET:
      return read_option(config.weights_bytes, value, value_bytes);
    case ACL_MDL_WORKSPACE_ADDR_PTR:
      return read_option(config.work, value, value_bytes);
    case ACL_MDL_WORKSPACE_SIZET:
      return read_option(config.work_bytes, value, value_bytes);
  }
  throw AclFailure(ACL_ERROR_INVALID_PARAM, "unknown attribute " + std::to_string(attr));
}

/// The process is locked.
const std::shared_ptr<Model>& entry_of(std::uint32_t id) {
  const auto found = models.find(id);
  if (found == models.end())
    throw AclFailure(ACL_ERROR_INVALID_MODEL_ID, "no model " + std::to_string(id) + " is loaded");
  return found->second;
}

}  // namespace

std::shared_ptr<Model> find_model(std::uint32_t id) {
  const std::lock_guard lock(process_mutex());
  return entry_of(id);
}

Model& find_locked_model(std::uint32_t id) {
  return *entry_of(id);
}

GearedOm load_om(const char* path) {
  require_pointer(path, "the model's path");
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored))
    throw AclFailure(ACL_ERROR_GE_EXEC_MODEL_PATH_INVALID,
                     std::string(path) + ": there is no such file");
  return GearedOm::load(path, OmKeys::from_environment(), file_as_from_environment());
}

void lock_all_models() {
  for (const auto& [id, model] : models) model->mutex.lock();
}

void unlock_all_models() {
  for (const auto& [id, model] : models) model->mutex.unlock();
}

void unload_all_models() {
  models.clear();
}

void profile_all_models() {
  for (const auto& [id, model] : models) profile_model(*model);
}

}  // namespace aoe::runtime::acl

using namespace aoe::runtime::acl;

aclError aclmdlQuerySize(const char* fileName, size_t* workSize, size_t* weightSize) {
  return query_size(__func__, workSize, weightSize, [&] { return load_om(fileName); });
}

aclError aclmdlQuerySizeFromMem(const void* model, size_t modelSize, size_t* workSize,
                                size_t* weightSize) {
  return query_size(__func__, workSize, weightSize, [&] { return parse_copy(model, modelSize); });
}

aclError aclmdlLoadFromFile(const char* modelPath, uint32_t* modelId) {
  return load(__func__, modelId, {}, modelPath, [&] { return load_om(modelPath); });
}

aclError aclmdlLoadFromMem(const void* model, size_t modelSize, uint32_t* modelId) {
  return load(__func__, modelId, {}, nullptr, [&] { return parse_copy(model, modelSize); });
}

aclError aclmdlLoadFromFileWithMem(const char* modelPath, uint32_t* modelId, void* workPtr,
                                   size_t workSize, void* weightPtr, size_t weightSize) {
  return load(__func__, modelId, {workPtr, workSize, weightPtr, weightSize}, modelPath,
              [&] { return load_om(modelPath); });
}

aclError aclmdlLoadFromMemWithMem(const void* model, size_t modelSize, uint32_t* modelId,
                                  void* workPtr, size_t workSize, void* weightPtr,
                                  size_t weightSize) {
  return load(__func__, modelId, {workPtr, workSize, weightPtr, weightSize}, nullptr,
              [&] { return parse_copy(model, modelSize); });
}

aclError aclmdlUnload(uint32_t modelId) {
  return guarded(__func__, [&] {
    require_initialized();
    std::shared_ptr<Model> model;  // ends after the lock
    WaitForClose wait;
    {
      const std::lock_guard lock(process_mutex());
      model = entry_of(modelId);
      wait = unsubscribe(modelId);
      models.erase(modelId);
    }
    if (wait) wait();
  });
}

aclmdlConfigHandle* aclmdlCreateConfigHandle() {
  return guarded_or<aclmdlConfigHandle*>(
      __func__, nullptr, [] { return std::make_unique<aclmdlConfigHandle>().release(); });
}

aclError aclmdlDestroyConfigHandle(aclmdlConfigHandle* handle) {
  return guarded(__func__, [&] {
    require_pointer(handle, "handle");
    std::default_delete<aclmdlConfigHandle>()(handle);
  });
}

aclError aclmdlSetConfigOpt(aclmdlConfigHandle* handle, aclmdlConfigAttr attr,
                            const void* attrValue, size_t valueSize) {
  return guarded(__func__, [&] {
    require_pointer(handle, "handle");
    require_pointer(attrValue, "attrValue");
    set_option(*handle, attr, attrValue, valueSize);
  });
}

aclError aclmdlLoadWithConfig(const aclmdlConfigHandle* handle, uint32_t* modelId) {
  return guarded(__func__, [&] {
    require_context();
    require_pointer(handle, "handle");
    require_pointer(modelId, "modelId");
    const size_t type = handle->load_type;
    require(type >= ACL_MDL_LOAD_FROM_FILE && type <= ACL_MDL_LOAD_FROM_MEM_WITH_MEM,
            ACL_ERROR_INVALID_PARAM, "ACL_MDL_LOAD_TYPE_SIZET is not set to a known type");
    const bool from_file =
        type == ACL_MDL_LOAD_FROM_FILE || type == ACL_MDL_LOAD_FROM_FILE_WITH_MEM;
    const bool with_memory =
        type == ACL_MDL_LOAD_FROM_FILE_WITH_MEM || type == ACL_MDL_LOAD_FROM_MEM_WITH_MEM;
    GivenMemory memory;
    if (with_memory)
      memory = {handle->work, handle->work_bytes, handle->weights, handle->weights_bytes};
    *modelId = add_model(
        from_file ? load_om(handle->path.c_str()) : parse_copy(handle->model, handle->model_bytes),
        memory, from_file ? handle->path : std::string());
  });
}
