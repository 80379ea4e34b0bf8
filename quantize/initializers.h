// Initializers of a model by name: reading them, and adding to those of a model that is being rewritten. Their data is
// raw bytes (model_file.h).
#pragma once

#include <onnx/onnx_pb.h>

#include <map>
#include <string>
#include <vector>

#include "base/tensor.h"

namespace aoe::quantize {

class Initializers {
 public:
  /// `graph` outlives it and keeps its initializers.
  explicit Initializers(const onnx::GraphProto& graph);

  bool has(const std::string& name) const { return tensors_.contains(name); }
  bool is_float(const std::string& name) const;
  Shape shape(const std::string& name) const;
  /// Of one that is_float().
  std::vector<float> floats(const std::string& name) const;

 protected:
  std::map<std::string, const onnx::TensorProto*>
      tensors_;  ///< protobuf's own pointers stay where they are
};

class WritableInitializers : public Initializers {
 public:
  explicit WritableInitializers(onnx::GraphProto& graph) : Initializers(graph), graph_(graph) {}

  /// Adds one, or replaces one that it has added.
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
  std::map<std::string, onnx::TensorProto*> added_;
};

}  // namespace aoe::quantize
