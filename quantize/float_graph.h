// FloatGraph: what a quantiser asks of a float32 model: which nodes it takes, who reads a value, where a layer ends.
#pragma once

#include <onnx/onnx_pb.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "quantize/initializers.h"
#include "quantize/qdq.h"

namespace aoe::quantize {

std::int64_t int_attribute(const onnx::NodeProto& node, const std::string& name,
                           std::int64_t fallback);

/// Of a graph that outlives it and keeps its nodes.
class FloatGraph {
 public:
  FloatGraph(const onnx::GraphProto& graph, const Initializers& initializers);

  /// A convolution or a matrix product with constant float32 weights.
  bool is_product(const onnx::NodeProto& node) const;
  /// Of two images, neither of them constant, and no sizes or indices.
  bool is_addition(const onnx::NodeProto& node) const;
  bool is_layer(const onnx::NodeProto& node) const { return is_product(node) || is_addition(node); }
  /// Maximum pooling changes no value: what it reads and what it gives share their bytes' meaning.
  bool is_pooling(const onnx::NodeProto& node) const;
  bool has_constant_bias(const onnx::NodeProto& node) const;
  bool is_output(const std::string& value) const { return outputs_.contains(value); }

  /// The only reader of a value that the model does not give out; null otherwise.
  const onnx::NodeProto* sole_reader(const std::string& value) const;
  /// The value behind the bias and the activation that belong to a layer. An addition behind a product is its bias in QDQ
  /// form alone.
  std::string result_of(const onnx::NodeProto& layer, QuantForm form) const;

  /// Which axis of a product's weights counts the outputs.
  static std::size_t output_axis(const onnx::NodeProto& product);

 private:
  bool is_float_constant(const std::string& value) const;

  const Initializers& initializers_;
  bool has_images_ = false;
  std::map<std::string, std::vector<const onnx::NodeProto*>> readers_;
  std::set<std::string> outputs_;
  std::set<std::string> others_;  ///< not float32
};

}  // namespace aoe::quantize
