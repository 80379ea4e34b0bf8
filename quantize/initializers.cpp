// See initializers.h.
#include "quantize/initializers.h"

#include <cstring>

#include "base/check.h"
#include "base/memory.h"

namespace aoe::quantize {

Initializers::Initializers(const onnx::GraphProto& graph) {
  for (const onnx::TensorProto& tensor : graph.initializer()) tensors_[tensor.name()] = &tensor;
}

bool Initializers::is_float(const std::string& name) const {
  return tensors_.at(name)->data_type() == onnx::TensorProto::FLOAT;
}

Shape Initializers::shape(const std::string& name) const {
  const onnx::TensorProto& tensor = *tensors_.at(name);
  return {tensor.dims().begin(), tensor.dims().end()};
}

std::vector<float> Initializers::floats(const std::string& name) const {
  const onnx::TensorProto& tensor = *tensors_.at(name);
  AOE_CHECK(is_float(name), name + " is not float32");
  check_memory(tensor.raw_data().size(), "the numbers of '" + name + "'");
  std::vector<float> values(tensor.raw_data().size() / sizeof(float));
  std::memcpy(values.data(), tensor.raw_data().data(), tensor.raw_data().size());
  return values;
}

void WritableInitializers::set_raw(const std::string& name, const Shape& shape, int type,
                                   const void* data, std::size_t size_bytes) {
  AOE_CHECK(added_.contains(name) || !has(name), "the model has an initializer " + name);
  check_memory(size_bytes, "initializer '" + name + "'");
  onnx::TensorProto*& tensor = added_[name];
  if (tensor == nullptr) tensor = graph_.add_initializer();
  tensors_[name] = tensor;
  tensor->Clear();
  tensor->set_name(name);
  tensor->set_data_type(type);
  for (const std::int64_t dim : shape) tensor->add_dims(dim);
  tensor->set_raw_data(data, size_bytes);
}

}  // namespace aoe::quantize
