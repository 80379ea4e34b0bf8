// acl.rt: device, context, stream, event. The C API knows its own handles of these.
#include "binding.h"

namespace aoe::pyacl {
namespace {

/// A C function that fills one value: (value, ret).
template <typename Value, typename Call>
std::tuple<Value, aclError> value_of(Call&& call) {
  Value value{};
  const aclError code = call(&value);
  return {value, code};
}

template <typename Call>
std::tuple<Address, aclError> handle_of(Call&& call) {
  void* handle = nullptr;
  const aclError code = call(&handle);
  return {address_of(handle), code};
}

void bind_contexts(py::module_& rt) {
  rt.def(
      "create_context",
      [](std::int32_t device) {
        return handle_of(
            [&](aclrtContext* context) { return aclrtCreateContext(context, device); });
      },
      "device_id"_a);
  rt.def(
      "destroy_context",
      [](Address context) {
        return without_gil([&] { return aclrtDestroyContext(pointer_to(context)); });
      },
      "context"_a);
  rt.def(
      "set_context", [](Address context) { return aclrtSetCurrentContext(pointer_to(context)); },
      "context"_a);
  rt.def("get_context", [] { return handle_of(aclrtGetCurrentContext); });
}

void bind_streams(py::module_& rt) {
  rt.def("create_stream", [] { return handle_of(aclrtCreateStream); });
  rt.def(
      "destroy_stream",
      [](Address stream) {
        return without_gil([&] { return aclrtDestroyStream(pointer_to(stream)); });
      },
      "stream"_a);
  rt.def(
      "synchronize_stream",
      [](Address stream) {
        return without_gil([&] { return aclrtSynchronizeStream(pointer_to(stream)); });
      },
      "stream"_a);
}

void bind_events(py::module_& rt) {
  rt.def("create_event", [] { return handle_of(aclrtCreateEvent); });
  rt.def(
      "destroy_event", [](Address event) { return aclrtDestroyEvent(pointer_to(event)); },
      "event"_a);
  rt.def(
      "record_event",
      [](Address event, Address stream) {
        return aclrtRecordEvent(pointer_to(event), pointer_to(stream));
      },
      "event"_a, "stream"_a);
  rt.def(
      "synchronize_event",
      [](Address event) {
        return without_gil([&] { return aclrtSynchronizeEvent(pointer_to(event)); });
      },
      "event"_a);
  rt.def(
      "event_elapsed_time",
      [](Address start, Address end) {
        return value_of<float>([&](float* ms) {
          return aclrtEventElapsedTime(ms, pointer_to(start), pointer_to(end));
        });
      },
      "start"_a, "end"_a);
}

std::tuple<std::int32_t, std::int32_t, std::int32_t, aclError> get_version() {
  std::int32_t major = 0, minor = 0, patch = 0;
  const aclError code = aclrtGetVersion(&major, &minor, &patch);
  return {major, minor, patch, code};
}

std::tuple<int, aclError> get_run_mode() {
  aclrtRunMode mode = ACL_DEVICE;
  const aclError code = aclrtGetRunMode(&mode);
  return {mode, code};
}

}  // namespace

void bind_devices(py::module_& rt) {
  rt.def("set_device", &aclrtSetDevice, "device_id"_a);
  rt.def(
      "reset_device",
      [](std::int32_t device) { return without_gil([&] { return aclrtResetDevice(device); }); },
      "device_id"_a);
  rt.def("get_device", [] { return value_of<std::int32_t>(aclrtGetDevice); });
  rt.def("get_device_count", [] { return value_of<std::uint32_t>(aclrtGetDeviceCount); });
  rt.def("synchronize_device", [] { return without_gil(aclrtSynchronizeDevice); });
  rt.def("get_run_mode", &get_run_mode);
  rt.def("get_soc_name", [] { return text_of(aclrtGetSocName()); });
  rt.def("get_version", &get_version);
  bind_contexts(rt);
  bind_streams(rt);
  bind_events(rt);
}

}  // namespace aoe::pyacl
