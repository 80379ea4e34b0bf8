// Task <-> JSON.
#include "tuner/measure/task_json.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <span>

#include "base/check.h"
#include "base/random_tensor.h"

namespace aoe::tuner {
using compiler::Task;
using compiler::TaskInput;
using nlohmann::json;
namespace {

/// Biases, scales and shape parameters stay exact; weight matrices do not.
constexpr std::size_t kByValueBytes = 64 << 10;

json to_json(const TensorDesc& desc) {
  return {{"dtype", static_cast<int>(desc.dtype)},
          {"shape", desc.shape},
          {"format", static_cast<int>(desc.format)},
          {"c0", desc.c0}};
}

TensorDesc desc_from_json(const json& j) {
  return {static_cast<DataType>(j.at("dtype").get<int>()), j.at("shape").get<Shape>(),
          static_cast<Format>(j.at("format").get<int>()), j.at("c0").get<int>()};
}

json range_of_floats(const Constant& constant) {
  const std::span values(static_cast<const float*>(constant.data()),
                         static_cast<std::size_t>(element_count(constant.desc().shape)));
  double low = std::numeric_limits<double>::infinity();
  double high = -low;
  for (const float value : values) {
    if (!std::isfinite(value)) continue;
    low = std::min(low, static_cast<double>(value));
    high = std::max(high, static_cast<double>(value));
  }
  if (low < high) return {low, high};
  // Equal weights would hide a kernel that mixes them up.
  return low > high || low == 0 ? json{-1, 1} : json{0.5 * low, 1.5 * low};
}

json constant_to_json(const Constant& constant) {
  const bool by_value =
      constant.desc().dtype != DataType::kFloat || constant.size_bytes() <= kByValueBytes;
  if (!by_value) return {{"range", range_of_floats(constant)}};
  const auto* bytes = static_cast<const std::uint8_t*>(constant.data());
  return {{"bytes", json::binary({bytes, bytes + constant.size_bytes()})}};
}

ConstantPtr constant_from_json(const json& j, const TensorDesc& desc, std::size_t index) {
  if (const auto bytes = j.find("bytes"); bytes != j.end()) {
    const json::binary_t& binary = bytes->get_binary();
    AOE_CHECK(binary.size() == storage_bytes(desc), "a constant of another size than its shape");
    return std::make_shared<Constant>(desc, binary.data());
  }
  const json& range = j.at("range");
  return random_tensor(desc, 0x5eed + index, range.at(0), range.at(1));
}

}  // namespace

json to_json(const Task& task) {
  json inputs = json::array();
  for (const TaskInput& input : task.inputs) {
    json entry = {{"desc", to_json(input.desc)}};
    if (input.constant) entry["constant"] = constant_to_json(*input.constant);
    inputs.push_back(std::move(entry));
  }
  json outputs = json::array();
  for (const TensorDesc& output : task.outputs) outputs.push_back(to_json(output));
  return {{"op", reference::to_json(task.op)},
          {"inputs", std::move(inputs)},
          {"outputs", std::move(outputs)}};
}

Task task_from_json(const json& j) {
  Task task{reference::op_call_from_json(j.at("op")), {}, {}};
  for (const json& entry : j.at("inputs")) {
    TaskInput input{desc_from_json(entry.at("desc")), nullptr};
    if (const auto constant = entry.find("constant"); constant != entry.end())
      input.constant = constant_from_json(*constant, input.desc, task.inputs.size());
    task.inputs.push_back(std::move(input));
  }
  for (const json& output : j.at("outputs")) task.outputs.push_back(desc_from_json(output));
  return task;
}

std::size_t constant_bytes(const Task& task) {
  std::size_t bytes = 0;
  for (const TaskInput& input : task.inputs)
    if (input.constant) bytes += input.constant->size_bytes();
  return bytes;
}

}  // namespace aoe::tuner
