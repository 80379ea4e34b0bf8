// BombModel: writes ModelProtos node by node, and counts bytes.
#pragma once

#include <onnx/onnx_pb.h>

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

namespace aoe::tests {

using Names = std::vector<std::string>;

/// A graph that is being written: the model's, or a body.
class BombGraph {
 public:
  explicit BombGraph(onnx::GraphProto& graph) : graph_(graph) { graph_.set_name("g"); }

  onnx::NodeProto& node(const std::string& type, const Names& inputs, const Names& outputs);
  void input(const std::string& name, const std::vector<std::int64_t>& shape,
             int type = onnx::TensorProto::FLOAT);
  void output(const std::string& name);
  /// Of int64, one axis.
  void ints(const std::string& name, const std::vector<std::int64_t>& values);
  void scalar(const std::string& name, std::int64_t value);
  void flag(const std::string& name, bool value);
  void zeros(const std::string& name, const std::vector<std::int64_t>& shape);
  void texts(const std::string& name, const Names& values);                          ///< one axis
  void byte_zeros(const std::string& name, const std::vector<std::int64_t>& shape);  ///< uint8

  onnx::GraphProto& proto() { return graph_; }
  std::size_t bytes() const { return bytes_; }  ///< roughly, of what node() wrote

 private:
  onnx::TensorProto& tensor(const std::string& name, int type,
                            const std::vector<std::int64_t>& shape);
  std::string zero_bytes(const std::vector<std::int64_t>& shape, std::size_t bytes);
  onnx::GraphProto& graph_;
  std::size_t bytes_ = 0;
};

inline constexpr int kMostNodes = 99'000;  ///< just below what the import takes

/// "v17".
inline std::string numbered(const char* stem, std::size_t n) {
  return stem + std::to_string(n);
}

void set_int(onnx::NodeProto& node, const std::string& name, std::int64_t value);
void set_ints(onnx::NodeProto& node, const std::string& name,
              const std::vector<std::int64_t>& values);
void set_text(onnx::NodeProto& node, const std::string& name, const std::string& value);
void set_texts(onnx::NodeProto& node, const std::string& name, const Names& values);
/// An attribute that is a graph, to be written.
BombGraph body_of(onnx::NodeProto& node, const std::string& name);

/// A model with the float input x of two elements; more is written into graph().
onnx::ModelProto bomb_model(int opset = 17);

}  // namespace aoe::tests
