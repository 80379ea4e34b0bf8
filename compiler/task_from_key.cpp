// Tested by tests/compiler/task_from_key_test.cpp.
#include "compiler/task_from_key.h"

#include <cstdint>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <vector>

#include "base/json_text.h"
#include "base/nesting.h"
#include "base/random_tensor.h"
#include "graph/verify.h"

namespace aoe::compiler {
namespace {
using nlohmann::json;

constexpr std::int64_t kMostElements = std::int64_t{1} << 32;

struct NotThisTask : std::runtime_error {
  using std::runtime_error::runtime_error;
};

TensorDesc desc_from(const json& j) {
  if (j.is_null()) return {};
  const auto dtype = data_type_from_name(j.at("dtype").get<std::string>());
  if (!dtype) throw NotThisTask("unknown type " + json_text(j.at("dtype")));
  TensorDesc desc{.dtype = *dtype, .shape = j.at("shape").get<Shape>()};
  std::int64_t elements = 1;
  for (const std::int64_t extent : desc.shape) {
    if (extent < 0) throw NotThisTask("its sizes are open");
    if (extent > 0 && elements > kMostElements / extent) throw NotThisTask("it is too large");
    elements *= extent;
  }
  return desc;
}

int digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  throw NotThisTask("a value is no hexadecimal text");
}

ConstantPtr constant_from(const json& j, const TensorDesc& desc, std::size_t index) {
  const auto value = j.find("value");
  if (value == j.end()) return random_tensor(desc, 0x5eed + index);
  const std::string hex = value->get<std::string>();
  std::vector<std::uint8_t> bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
    bytes.push_back(static_cast<std::uint8_t>(digit(hex[i]) << 4 | digit(hex[i + 1])));
  if (bytes.size() != storage_bytes(desc) || hex.size() != 2 * bytes.size())
    throw NotThisTask("it has a long parameter, of which the description keeps the digest alone");
  return std::make_shared<Constant>(desc, bytes.data());
}

Task parse(const json& description) {
  Task task{reference::op_call_from_json(description.at("op")), {}, {}};
  for (const json& j : description.at("inputs")) {
    TaskInput input{desc_from(j), nullptr};
    if (input.is_present() && j.contains("constant"))
      input.constant = constant_from(j, input.desc, task.inputs.size());
    task.inputs.push_back(std::move(input));
  }
  for (const json& j : description.at("outputs")) task.outputs.push_back(desc_from(j));
  return task;
}

}  // namespace

Result<Task> task_from_key(const bank::TaskKey& key) {
  if (!nests_little_json(key.description)) return Unexpected("it nests too deeply");
  try {
    Task task = parse(parse_json(key.description));
    graph::verify(graph_of(task), "the bank");
    if (key_of(task, {.version = key.soc_version}).description != key.description)
      return Unexpected("what it describes is written differently today");
    return task;
  } catch (const json::exception&) {
    return Unexpected("it is no operator's description");
  } catch (const std::exception&
               e) {  // Error and InternalError as well: no operator, or shapes that contradict it
    return Unexpected(std::string(e.what()));
  }
}

}  // namespace aoe::compiler
