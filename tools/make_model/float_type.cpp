// Rewrites tensors and the types that a model declares.
#include "tools/make_model/float_type.h"

#include <onnx/onnx_pb.h>

#include <cstring>
#include <set>

#include "base/check.h"
#include "base/error.h"
#include "reference/elements/float16.h"
#include "reference/elements/onnx_data_type.h"

namespace aoe::make_model {
namespace {

template <typename T>
std::string narrowed(const std::string& floats) {
  std::string bytes(floats.size() / sizeof(float) * sizeof(T), '\0');
  for (std::size_t i = 0; i < floats.size() / sizeof(float); ++i) {
    float wide = 0;
    std::memcpy(&wide, floats.data() + i * sizeof(float), sizeof(float));
    const T narrow(wide);
    std::memcpy(bytes.data() + i * sizeof(T), &narrow, sizeof(T));
  }
  return bytes;
}

class Narrower {
 public:
  Narrower(onnx::GraphProto& graph, DataType dtype)
      : graph_(graph), dtype_(dtype), number_(static_cast<int>(reference::onnx_number(dtype))) {
    for (const auto& node : graph.node())
      if (node.op_type() == "Resize" && node.input_size() > 2) float32_.insert(node.input(2));
  }

  void run() {
    for (auto& tensor : *graph_.mutable_initializer())
      if (!float32_.contains(tensor.name())) narrow(tensor);
    for (auto& node : *graph_.mutable_node()) rewrite(node);
    for (auto* list :
         {graph_.mutable_input(), graph_.mutable_output(), graph_.mutable_value_info()})
      for (auto& info : *list) declare(info);
  }

 private:
  void narrow(onnx::TensorProto& tensor) const {
    if (tensor.data_type() != onnx::TensorProto::FLOAT) return;
    AOE_CHECK(tensor.has_raw_data() || tensor.float_data_size() == 0, "writers give raw data");
    tensor.set_data_type(number_);
    tensor.set_raw_data(dtype_ == DataType::kFloat16
                            ? narrowed<reference::Float16>(tensor.raw_data())
                            : narrowed<reference::BFloat16>(tensor.raw_data()));
  }

  void rewrite(onnx::NodeProto& node) const {
    for (auto& attribute : *node.mutable_attribute()) {
      if (attribute.has_t() && !float32_.contains(node.output(0))) narrow(*attribute.mutable_t());
      const bool is_type = node.op_type() == "Cast" && attribute.name() == "to";
      if (is_type && attribute.i() == onnx::TensorProto::FLOAT) attribute.set_i(number_);
    }
  }

  void declare(onnx::ValueInfoProto& info) const {
    auto& type = *info.mutable_type()->mutable_tensor_type();
    if (type.elem_type() == onnx::TensorProto::FLOAT) type.set_elem_type(number_);
  }

  onnx::GraphProto& graph_;
  DataType dtype_;
  int number_;
  std::set<std::string> float32_;  ///< names of values
};

}  // namespace

std::string in_float_type(const std::string& model_bytes, DataType dtype) {
  onnx::ModelProto model;
  AOE_CHECK(model.ParseFromString(model_bytes), "the model was written here");
  for (const auto& node : model.graph().node())
    if (node.op_type() == "NonMaxSuppression")
      throw Error(ExitCode::kUsage, "NonMaxSuppression takes boxes of float32 alone", node.name(),
                  "leave --float_type out");
  Narrower(*model.mutable_graph(), dtype).run();
  return model.SerializeAsString();
}

}  // namespace aoe::make_model
