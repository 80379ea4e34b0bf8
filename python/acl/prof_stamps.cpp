// acl.prof: stamps and ranges (msproftx), and steps. The C API knows its own
// handles of these.
#include <algorithm>
#include <string>

#include "acl/acl_prof.h"
#include "binding.h"

namespace aoe::pyacl {
namespace {

/// The first `length` characters, as UTF-8.
std::string beginning_of(const py::str& text, std::size_t length) {
  return text[py::slice(0, static_cast<py::ssize_t>(std::min(length, py::len(text))), 1)]
      .cast<std::string>();
}

aclError set_stamp_trace_message(Address stamp, const py::str& message, std::uint32_t length) {
  const std::string text = beginning_of(message, length);
  return aclprofSetStampTraceMessage(pointer_to(stamp), text.data(),
                                     static_cast<std::uint32_t>(text.size()));
}

aclError set_stamp_tag_name(Address stamp, const py::str& name, std::uint16_t length) {
  const std::string text = beginning_of(name, length);
  return aclprofSetStampTagName(
      pointer_to(stamp), text.data(),
      static_cast<std::uint16_t>(std::min<std::size_t>(text.size(), UINT16_MAX)));
}

/// `type`: 0 uint64, 1 int64, 2 double, 3 uint32, 4 int32, 5 float; the C API
/// refuses others.
aclError set_stamp_payload(Address stamp, std::int32_t type, const py::object& value) try {
  const auto set = [&](auto payload) {
    return aclprofSetStampPayload(pointer_to(stamp), type, &payload);
  };
  switch (type) {
    case 1:
      return set(value.cast<std::int64_t>());
    case 2:
      return set(value.cast<double>());
    case 3:
      return set(value.cast<std::uint32_t>());
    case 4:
      return set(value.cast<std::int32_t>());
    case 5:
      return set(value.cast<float>());
    default:
      return set(value.cast<std::uint64_t>());
  }
} catch (const py::cast_error&) {
  throw py::type_error("set_stamp_payload: no value of type " + std::to_string(type));
}

aclError mark_ex(const std::string& message, Address stream) {
  return aclprofMarkEx(message.data(), message.size(), pointer_to(stream));
}

std::tuple<std::uint32_t, aclError> range_start(Address stamp) {
  std::uint32_t range = 0;
  const aclError code = aclprofRangeStart(pointer_to(stamp), &range);
  return {range, code};
}

}  // namespace

void bind_stamps(py::module_& prof) {
  prof.def("create_stamp", [] { return address_of(aclprofCreateStamp()); });
  prof.def(
      "destroy_stamp", [](Address stamp) { aclprofDestroyStamp(pointer_to(stamp)); }, "stamp"_a);
  prof.def("set_stamp_trace_message", &set_stamp_trace_message, "stamp"_a, "msg"_a, "msg_len"_a);
  prof.def("set_stamp_tag_name", &set_stamp_tag_name, "stamp"_a, "tag_name"_a, "len"_a);
  prof.def(
      "set_category_name",
      [](std::uint32_t category, const std::string& name) {
        return aclprofSetCategoryName(category, name.c_str());
      },
      "category"_a, "category_name"_a);
  prof.def(
      "set_stamp_category",
      [](Address stamp, std::uint32_t category) {
        return aclprofSetStampCategory(pointer_to(stamp), category);
      },
      "stamp"_a, "category"_a);
  prof.def("set_stamp_payload", &set_stamp_payload, "stamp"_a, "type"_a, "value"_a);
  prof.def(
      "mark", [](Address stamp) { return aclprofMark(pointer_to(stamp)); }, "stamp"_a);
  prof.def("mark_ex", &mark_ex, "msg"_a, "stream"_a);
  prof.def(
      "push", [](Address stamp) { return aclprofPush(pointer_to(stamp)); }, "stamp"_a);
  prof.def("pop", &aclprofPop);
  prof.def("range_start", &range_start, "stamp"_a);
  prof.def("range_stop", &aclprofRangeStop, "range_id"_a);

  prof.def("create_step_info", [] { return address_of(aclprofCreateStepInfo()); });
  prof.def(
      "destroy_step_info",
      [](Address step) { aclprofDestroyStepInfo(pointer_to<aclprofStepInfo>(step)); },
      "stepinfo"_a);
  prof.def(
      "get_step_timestamp",
      [](Address step, int tag, Address stream) {
        return aclprofGetStepTimestamp(pointer_to<aclprofStepInfo>(step),
                                       static_cast<aclprofStepTag>(tag), pointer_to(stream));
      },
      "stepinfo"_a, "tag"_a, "stream"_a);
}

}  // namespace aoe::pyacl
