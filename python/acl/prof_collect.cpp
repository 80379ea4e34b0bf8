// acl.prof: collecting to files. The C API knows its own handles of configs.
#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include <string>
#include <vector>

#include "acl/acl_prof.h"
#include "binding.h"

namespace aoe::pyacl {
namespace {

aclError init(const std::filesystem::path& directory) {
  const std::string path = directory.string();
  return without_gil([&] { return aclprofInit(path.data(), path.size()); });
}

/// `aicore_events` is 0.
Address create_config(std::vector<std::uint32_t> devices, int metrics, Address aicore_events,
                      std::uint64_t data_types) {
  return address_of(aclprofCreateConfig(devices.data(), static_cast<std::uint32_t>(devices.size()),
                                        static_cast<aclprofAicoreMetrics>(metrics),
                                        pointer_to<const aclprofAicoreEvents>(aicore_events),
                                        data_types));
}

template <aclError (*act)(const aclprofConfig*)>
aclError with_config(Address config) {
  return without_gil([&] { return act(pointer_to<aclprofConfig>(config)); });
}

aclError set_config(int type, const std::string& value) {
  return aclprofSetConfig(static_cast<aclprofConfigType>(type), value.data(), value.size());
}

}  // namespace

void bind_collection(py::module_& prof) {
  prof.def("init", &init, "prof_result_path"_a);
  prof.def("finalize", [] { return without_gil(aclprofFinalize); });
  prof.def("create_config", &create_config, "device_list"_a, "aicore_metrics"_a, "aicore_events"_a,
           "data_type_config"_a);
  prof.def("destroy_config", &with_config<aclprofDestroyConfig>, "prof_config"_a);
  prof.def("set_config", &set_config, "config_type"_a, "config"_a);
  prof.def("start", &with_config<aclprofStart>, "prof_config"_a);
  prof.def("stop", &with_config<aclprofStop>, "prof_config"_a);
}

}  // namespace aoe::pyacl
