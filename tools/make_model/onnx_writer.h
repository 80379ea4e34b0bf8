// OnnxWriter: builds an ONNX model node by node, with seeded random weights.
//
//   OnnxWriter model("net", {.opset = 13, .seed = 0});
//   const std::string x = model.input("x", {1, 8});
//   const std::string w = model.weight("fc.weight", {4, 8}, he_deviation(8));
//   model.output(model.node("/fc/Gemm", "Gemm", {x, w}, {{"transB", 1}}), "y", {1, 4});
//   write_file_atomically("net.onnx", model.serialize());
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/tensor.h"

namespace onnx {
class NodeProto;
}

namespace aoe::make_model {

/// The standard deviation of weights that keeps activations in range behind a Relu, over `fan_in`
/// inputs.
double he_deviation(std::int64_t fan_in);

struct WriterOptions {
  int opset = 13;
  std::uint64_t seed = 0;
  /// Inputs and outputs say nothing of sizes that users choose: the batch, the sides of images, the
  /// length of texts. Models that compute with them may hold sizes all the same.
  bool is_dynamic = false;
};

class OnnxWriter {
 public:
  using Attribute =
      std::variant<int, float, std::string, std::vector<std::int64_t>, std::vector<std::string>>;
  using Attributes = std::vector<std::pair<std::string, Attribute>>;

  OnnxWriter(const std::string& graph_name, WriterOptions options);
  ~OnnxWriter();

  // All of these return the name of a value, to be passed to node().

  /// `dim_names`: of dimensions that a dynamic model leaves open, "" for others; none: as of images and texts.
  std::string input(const std::string& name, const Shape& shape, DataType dtype = DataType::kFloat,
                    const std::vector<std::string>& dim_names = {});
  /// The shapes that inputs were given of which some sizes are left open.
  const std::map<std::string, Shape>& open_inputs() const;
  /// float32, uniform, with mean 0 and this standard deviation; the same for one seed on every
  /// machine.
  std::string weight(const std::string& name, const Shape& shape, double deviation);
  /// float32, uniform in [low, high).
  std::string uniform(const std::string& name, const Shape& shape, double low, double high);
  std::string floats(const std::string& name, const Shape& shape, const std::vector<float>& values);
  std::string bytes(const std::string& name, const Shape& shape,
                    const std::vector<std::uint8_t>& values);
  std::string ints(const std::string& name, const Shape& shape,
                   const std::vector<std::int64_t>& values);
  /// A Constant node of int64, scalar when `is_scalar`, as exporters write axes and indices.
  std::string constant(const std::string& node_name, const std::vector<std::int64_t>& values,
                       bool is_scalar = false);
  std::string constant(const std::string& node_name, float value);
  /// An operator with one output, named "<node_name>_output_0". A type of another domain stands behind it:
  /// "com.microsoft.Gelu".
  std::string node(const std::string& node_name, const std::string& type,
                   const std::vector<std::string>& inputs, const Attributes& attributes = {});
  std::vector<std::string> node_with_outputs(const std::string& node_name, const std::string& type,
                                             const std::vector<std::string>& inputs,
                                             std::size_t outputs,
                                             const Attributes& attributes = {});
  /// Gives out only the outputs of these numbers, which ascend; returns their names.
  std::vector<std::string> node_with_outputs(const std::string& node_name, const std::string& type,
                                             const std::vector<std::string>& inputs,
                                             const std::vector<std::size_t>& wanted,
                                             const Attributes& attributes = {});

  /// Numbers in [low, high): the next ones of the seed.
  std::vector<float> draw(std::size_t count, double low, double high);

  /// Gives `value` out under the name `name`; -1 is a size that only a run tells.
  void output(const std::string& value, const std::string& name, const Shape& shape);
  std::string serialize() const;

 private:
  void set_type(onnx::NodeProto& node, const std::string& type);

  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace aoe::make_model
