// OmBuilder: an om put together by hand, as the compiler would, for tests below the compiler.
#pragma once

#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "runtime/backend.h"
#include "runtime/om/om.h"

namespace aoe::runtime::tests {

/// 0, 1, 2 and so on.
inline std::vector<float> counting(std::int64_t count) {
  std::vector<float> values(static_cast<std::size_t>(count));
  std::iota(values.begin(), values.end(), 0.0f);
  return values;
}

inline TensorDesc floats(Shape shape) {
  return {.dtype = DataType::kFloat, .shape = std::move(shape)};
}

class OmBuilder {
 public:
  explicit OmBuilder(const std::string& name = "hand_made") {
    om.name = name;
    om.soc_version = "x86_64-test-1t";
    om.isa = "avx2";
    om.tuning = {{"ops", nlohmann::json::array()}};
  }

  int input(const std::string& name, TensorDesc desc) {
    const int id = tensor(name, std::move(desc), Place::kInput, om.inputs.size());
    om.inputs.push_back(id);
    return id;
  }
  int output(const std::string& name, TensorDesc desc) {
    const int id = tensor(name, std::move(desc), Place::kOutput, om.outputs.size());
    om.outputs.push_back(id);
    return id;
  }
  int dynamic_output(const std::string& name, TensorDesc desc) {
    const int id = dynamic(name, std::move(desc));
    om.outputs.push_back(id);
    return id;
  }
  int dynamic(const std::string& name, TensorDesc desc) {
    return tensor(name, std::move(desc), Place::kDynamic, 0);
  }
  int arena(const std::string& name, TensorDesc desc) {
    const std::uint64_t offset = om.arena_bytes;
    om.arena_bytes += (storage_bytes(desc) + 63) / 64 * 64;
    return tensor(name, std::move(desc), Place::kArena, offset);
  }
  template <typename T>
  int weight(const std::string& name, TensorDesc desc, const std::vector<T>& values) {
    om.weights.resize((om.weights.size() + 63) / 64 * 64, 0);
    const std::uint64_t offset = om.weights.size();
    const auto* const bytes = reinterpret_cast<const char*>(values.data());
    om.weights.insert(om.weights.end(), bytes, bytes + values.size() * sizeof(T));
    return tensor(name, std::move(desc), Place::kWeight, offset);
  }

  OmStep& reference(const std::string& type, std::vector<int> inputs, std::vector<int> outputs,
                    reference::Attrs attrs = {}, int version = 1) {
    OmStep step;
    step.name = "step" + std::to_string(om.steps.size()) + "_" + type;
    step.op_types = {type};
    step.origins = {"onnx_" + type};
    step.backend = &backend("reference");
    step.call = {.type = type, .version = version, .attrs = std::move(attrs)};
    step.inputs = std::move(inputs);
    step.outputs = std::move(outputs);
    om.steps.push_back(std::move(step));
    return om.steps.back();
  }
  OmStep& jit(std::vector<OmStage> stages, std::vector<int> inputs, std::vector<int> outputs) {
    OmStep& step = reference("Jit", std::move(inputs), std::move(outputs));
    step.backend = &backend("jit");
    step.stages = std::move(stages);
    return step;
  }

  Om om;

 private:
  int tensor(const std::string& name, TensorDesc desc, Place place, std::uint64_t offset) {
    om.tensors.push_back({name, std::move(desc), place, offset});
    return static_cast<int>(om.tensors.size()) - 1;
  }
};

/// relu(x + w), with the sum in the arena: one tensor of each common place.
inline Om small_om() {
  OmBuilder b("small");
  const int x = b.input("x", floats({2, 3}));
  const int w = b.weight<float>("w", floats({2, 3}), {1, -2, 3, -4, 5, -6});
  const int sum = b.arena("sum", floats({2, 3}));
  const int y = b.output("y", floats({2, 3}));
  b.reference("Add", {x, w}, {sum}).flops = 6;
  b.reference("Relu", {sum}, {y});
  b.om.code = "not really code";
  return b.om;
}

}  // namespace aoe::runtime::tests
