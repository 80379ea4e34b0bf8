// See initializers.h.
#include "tools/make_model/initializers.h"

#include <cstring>

#include "base/check.h"

namespace aoe::make_model {

Initializers::Initializers(onnx::GraphProto& graph) : graph_(graph) {
  for (onnx::TensorProto& tensor : *graph.mutable_initializer()) tensors_[tensor.name()] = &tensor;
}

Shape Initializers::shape(const std::string& name) const {
  const onnx::TensorProto& tensor = *tensors_.at(name);
  return {tensor.dims().begin(), tensor.dims().end()};
}

std::vector<float> Initializers::floats(const std::string& name) const {
  const onnx::TensorProto& tensor = *tensors_.at(name);
  AOE_CHECK(tensor.data_type() == onnx::TensorProto::FLOAT, name + " is not float32");
  std::vector<float> values(tensor.raw_data().size() / sizeof(float));
  std::memcpy(values.data(), tensor.raw_data().data(), tensor.raw_data().size());
  return values;
}

void Initializers::set_raw(const std::string& name, const Shape& shape, int type, const void* data,
                           std::size_t size_bytes) {
  onnx::TensorProto*& tensor = tensors_[name];
  if (tensor == nullptr) tensor = graph_.add_initializer();
  tensor->Clear();
  tensor->set_name(name);
  tensor->set_data_type(type);
  for (const std::int64_t dim : shape) tensor->add_dims(dim);
  tensor->set_raw_data(data, size_bytes);
}

}  // namespace aoe::make_model
