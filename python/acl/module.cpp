// acl._acl: the life cycle, and the submodules rt, mdl, prof, util.
#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include <cstring>
#include <optional>

#include "binding.h"

namespace aoe::pyacl {
namespace {

/// None and "" are no configuration.
aclError init(const std::optional<std::filesystem::path>& config) {
  const bool given = config && !config->empty();
  return without_gil([&] { return aclInit(given ? config->c_str() : nullptr); });
}

std::tuple<std::uint64_t, aclError> finalize_reference() {
  std::uint64_t references = 0;
  const aclError code = without_gil([&] { return aclFinalizeReference(&references); });
  return {references, code};
}

}  // namespace

py::str text_of(const char* text) {
  if (text == nullptr) return {};
  PyObject* const decoded =
      PyUnicode_DecodeUTF8(text, static_cast<Py_ssize_t>(std::strlen(text)), "replace");
  if (decoded == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::str>(decoded);
}

}  // namespace aoe::pyacl

PYBIND11_MODULE(_acl, acl) {
  using namespace aoe::pyacl;
  acl.def("init", &init, "config"_a = py::none());
  acl.def("finalize", [] { return without_gil(aclFinalize); });
  acl.def("finalize_reference", &finalize_reference);
  acl.def("get_recent_err_msg", [] { return text_of(aclGetRecentErrMsg()); });
  acl.def("get_soc_name", [] { return text_of(aclrtGetSocName()); });
  bind_constants(acl);
  bind_buffers(acl);

  py::module_ rt = acl.def_submodule("rt");
  bind_devices(rt);
  bind_memory(rt);

  py::module_ mdl = acl.def_submodule("mdl");
  bind_models(mdl);
  bind_descriptions(mdl);
  bind_gears(mdl);
  bind_datasets(mdl);
  bind_texts(mdl);

  py::module_ prof = acl.def_submodule("prof");
  bind_prof_constants(acl, prof);
  bind_collection(prof);
  bind_subscription(prof);
  bind_stamps(prof);

  py::module_ util = acl.def_submodule("util");
  bind_util(util);
}
