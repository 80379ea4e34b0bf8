// Initializers of a model that is being rewritten: reading and adding them by name.
#pragma once

#include <onnx/onnx_pb.h>

#include <map>
#include <string>
#include <vector>

#include "base/tensor.h"

namespace aoe::make_model {

class Initializers {
 public:
  explicit Initializers(onnx::GraphProto& graph);

  bool has(const std::string& name) const { return tensors_.contains(name); }
  Shape shape(const std::string& name) const;
  /// float32 values.
  std::vector<float> floats(const std::string& name) const;

  /// Replaces one of that name.
  template <typename T>
  void set(const std::string& name, const Shape& shape, const std::vector<T>& values) {
    set_raw(name, shape, onnx_type(T{}), values.data(), values.size() * sizeof(T));
  }

 private:
  static int onnx_type(float) { return onnx::TensorProto::FLOAT; }
  static int onnx_type(std::int8_t) { return onnx::TensorProto::INT8; }
  static int onnx_type(std::uint8_t) { return onnx::TensorProto::UINT8; }
  static int onnx_type(std::int32_t) { return onnx::TensorProto::INT32; }
  void set_raw(const std::string& name, const Shape& shape, int type, const void* data,
               std::size_t size_bytes);

  onnx::GraphProto& graph_;
  std::map<std::string, onnx::TensorProto*>
      tensors_;  ///< protobuf's own pointers stay where they are
};

}  // namespace aoe::make_model
