// acl.mdl: loading and unloading.
#include <pybind11/stl/filesystem.h>

#include "handles.h"

namespace aoe::pyacl {
namespace {

using Path = std::filesystem::path;

template <typename Load>
std::tuple<std::uint32_t, aclError> loaded(Load&& load) {
  std::uint32_t model = 0;
  const aclError code = without_gil([&] { return load(&model); });
  return {model, code};
}

template <typename Query>
std::tuple<std::size_t, std::size_t, aclError> sizes(Query&& query) {
  std::size_t work = 0, weights = 0;
  const aclError code = without_gil([&] { return query(&work, &weights); });
  return {work, weights, code};
}

Handles<aclmdlConfigHandle>& configs() {
  static auto& made = immortal<Handles<aclmdlConfigHandle>>(aclmdlDestroyConfigHandle);
  return made;
}

/// The value in the form that the attribute has in C.
aclError set_config_opt(Address handle, int attribute, const py::object& value) {
  aclmdlConfigHandle* const config = configs().find(handle).get();
  const auto attr = static_cast<aclmdlConfigAttr>(attribute);
  const auto set = [&](const auto& given) {
    return aclmdlSetConfigOpt(config, attr, &given, sizeof given);
  };
  if (attr == ACL_MDL_PATH_PTR) {
    const auto path = value.cast<Path>();
    return set(path.c_str());
  }
  if (attr == ACL_MDL_PRIORITY_INT32) return set(value.cast<std::int32_t>());
  return set(value.cast<std::uint64_t>());  // sizes and addresses
}

aclError set_config_opt_checked(Address handle, int attribute, const py::object& value) try {
  return set_config_opt(handle, attribute, value);
} catch (const py::cast_error&) {
  throw py::type_error("set_config_opt: attribute " + std::to_string(attribute) +
                       " takes no value of this type");
}

std::tuple<std::uint32_t, aclError> load_with_config(Address handle) {
  const auto config = configs().find(handle);
  return loaded([&](std::uint32_t* model) { return aclmdlLoadWithConfig(config.get(), model); });
}

void bind_loading(py::module_& mdl) {
  mdl.def(
      "load_from_file",
      [](const Path& path) {
        return loaded(
            [&](std::uint32_t* model) { return aclmdlLoadFromFile(path.c_str(), model); });
      },
      "path"_a);
  mdl.def(
      "load_from_mem",
      [](Address bytes, std::size_t size) {
        return loaded([&](std::uint32_t* model) {
          return aclmdlLoadFromMem(pointer_to(bytes), size, model);
        });
      },
      "model"_a, "size"_a);
  mdl.def(
      "load_from_file_with_mem",
      [](const Path& path, Address work, std::size_t work_size, Address weights,
         std::size_t weights_size) {
        return loaded([&](std::uint32_t* model) {
          return aclmdlLoadFromFileWithMem(path.c_str(), model, pointer_to(work), work_size,
                                           pointer_to(weights), weights_size);
        });
      },
      "path"_a, "work_ptr"_a, "work_size"_a, "weight_ptr"_a, "weight_size"_a);
  mdl.def(
      "load_from_mem_with_mem",
      [](Address bytes, std::size_t size, Address work, std::size_t work_size, Address weights,
         std::size_t weights_size) {
        return loaded([&](std::uint32_t* model) {
          return aclmdlLoadFromMemWithMem(pointer_to(bytes), size, model, pointer_to(work),
                                          work_size, pointer_to(weights), weights_size);
        });
      },
      "model"_a, "size"_a, "work_ptr"_a, "work_size"_a, "weight_ptr"_a, "weight_size"_a);
  mdl.def(
      "unload",
      [](std::uint32_t model) { return without_gil([&] { return aclmdlUnload(model); }); },
      "model_id"_a);
}

}  // namespace

void bind_models(py::module_& mdl) {
  mdl.def(
      "query_size",
      [](const Path& path) {
        return sizes([&](std::size_t* work, std::size_t* weights) {
          return aclmdlQuerySize(path.c_str(), work, weights);
        });
      },
      "path"_a);
  mdl.def(
      "query_size_from_mem",
      [](Address bytes, std::size_t size) {
        return sizes([&](std::size_t* work, std::size_t* weights) {
          return aclmdlQuerySizeFromMem(pointer_to(bytes), size, work, weights);
        });
      },
      "model"_a, "size"_a);
  bind_loading(mdl);
  mdl.def("create_config_handle", [] { return configs().add(aclmdlCreateConfigHandle()); });
  mdl.def(
      "destroy_config_handle", [](Address config) { return configs().destroy(config); },
      "config_handle"_a);
  mdl.def("set_config_opt", &set_config_opt_checked, "config_handle"_a, "attr"_a, "value"_a);
  mdl.def("load_with_config", &load_with_config, "config_handle"_a);
}

}  // namespace aoe::pyacl
