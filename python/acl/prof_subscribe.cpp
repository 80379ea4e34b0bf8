// acl.prof: subscriptions, and what stands in the records of ops that come
// through their pipe.
#include <algorithm>
#include <vector>

#include "acl/acl_prof.h"
#include "binding.h"

namespace aoe::pyacl {
namespace {

Address create_subscribe_config(std::int8_t times, int metrics, int fd) {
  return address_of(
      aclprofCreateSubscribeConfig(times, static_cast<aclprofAicoreMetrics>(metrics), &fd));
}

aclError model_subscribe(std::uint32_t model, Address config) {
  return without_gil(
      [&] { return aclprofModelSubscribe(model, pointer_to<aclprofSubscribeConfig>(config)); });
}

aclError model_unsubscribe(std::uint32_t model) {
  return without_gil([&] { return aclprofModelUnSubscribe(model); });
}

using GetLength = aclError (*)(const void*, std::size_t, std::uint32_t, std::size_t*);
using GetText = aclError (*)(const void*, std::size_t, std::uint32_t, char*, std::size_t);

std::tuple<std::size_t, aclError> get_op_desc_size() {
  std::size_t size = 0;
  const aclError code = aclprofGetOpDescSize(&size);
  return {size, code};
}

std::tuple<std::uint32_t, aclError> get_op_num(Address records, std::size_t size) {
  std::uint32_t count = 0;
  const aclError code = aclprofGetOpNum(pointer_to(records), size, &count);
  return {count, code};
}

template <GetLength get>
std::tuple<std::size_t, aclError> length(Address records, std::size_t size, std::uint32_t index) {
  std::size_t bytes = 0;
  const aclError code = get(pointer_to(records), size, index, &bytes);
  return {bytes, code};
}

/// `max_size`: bytes of the text with its NUL. No more room is made than the text takes.
template <GetLength get_length, GetText get>
std::tuple<py::str, aclError> text(Address records, std::size_t size, std::uint32_t index,
                                   std::size_t max_size) {
  const std::size_t room =
      std::min(max_size, std::get<0>(length<get_length>(records, size, index)));
  std::vector<char> bytes(room + 1);  // "" also where there is no room at all
  const aclError code = get(pointer_to(records), size, index, bytes.data(), room);
  return {text_of(code == ACL_SUCCESS ? bytes.data() : ""), code};
}

/// Makes room by itself.
template <GetLength get_length, GetText get>
std::tuple<py::str, aclError> whole_text(Address records, std::size_t size, std::uint32_t index) {
  return text<get_length, get>(records, size, index, SIZE_MAX);
}

template <auto get>
auto value(Address records, std::size_t size, std::uint32_t index) {
  return get(pointer_to(records), size, index);
}

int get_op_flag(Address records, std::size_t size, std::uint32_t index) {
  return aclprofGetOpFlag(pointer_to(records), size, index);
}

/// "" when the record has no such attribute.
py::str get_op_attri_value(Address records, std::size_t size, std::uint32_t index, int attribute) {
  return text_of(aclprofGetOpAttriValue(pointer_to(records), size, index,
                                        static_cast<aclprofSubscribeOpAttri>(attribute)));
}

}  // namespace

void bind_subscription(py::module_& prof) {
  prof.def("create_subscribe_config", &create_subscribe_config, "time_info_switch"_a,
           "aicore_metrics"_a, "fd"_a);
  prof.def(
      "destroy_subscribe_config",
      [](Address config) {
        return aclprofDestroySubscribeConfig(pointer_to<aclprofSubscribeConfig>(config));
      },
      "subscribe_config"_a);
  prof.def("model_subscribe", &model_subscribe, "model_id"_a, "subscribe_config"_a);
  prof.def("model_un_subscribe", &model_unsubscribe, "model_id"_a);
  prof.def("model_unsubscribe", &model_unsubscribe, "model_id"_a);

  prof.def("get_op_desc_size", &get_op_desc_size);
  prof.def("get_op_num", &get_op_num, "op_info"_a, "op_info_len"_a);
  const auto record = [&](const char* name, auto function) {
    prof.def(name, function, "op_info"_a, "op_info_len"_a, "index"_a);
  };
  record("get_op_type_len", &length<aclprofGetOpTypeLen>);
  record("get_op_name_len", &length<aclprofGetOpNameLen>);
  record("get_op_type_v2", &whole_text<aclprofGetOpTypeLen, aclprofGetOpType>);
  record("get_op_name_v2", &whole_text<aclprofGetOpNameLen, aclprofGetOpName>);
  prof.def("get_op_type", &text<aclprofGetOpTypeLen, aclprofGetOpType>, "op_info"_a,
           "op_info_len"_a, "index"_a, "op_type_len"_a);
  prof.def("get_op_name", &text<aclprofGetOpNameLen, aclprofGetOpName>, "op_info"_a,
           "op_info_len"_a, "index"_a, "op_name_len"_a);
  record("get_model_id", &value<aclprofGetModelId>);
  record("get_op_start", &value<aclprofGetOpStart>);
  record("get_op_end", &value<aclprofGetOpEnd>);
  record("get_op_duration", &value<aclprofGetOpDuration>);
  record("get_op_execution_time", &value<aclprofGetOpExecutionTime>);
  record("get_op_cube_fops", &value<aclprofGetOpCubeFops>);
  record("get_op_vector_fops", &value<aclprofGetOpVectorFops>);
  record("get_op_flag", &get_op_flag);
  prof.def("get_op_attri_value", &get_op_attri_value, "op_info"_a, "op_info_len"_a, "index"_a,
           "attri"_a);
}

}  // namespace aoe::pyacl
