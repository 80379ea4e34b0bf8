// Writes a float32 ONNX model whose products are computed from bytes: QuantizeLinear and DequantizeLinear around them (QDQ), as
// post-training quantisers do. Bytes become the inputs and outputs of convolutions and of matrix products with constant
// weights, and, in image models, of additions and of maximum pooling between them; the rest stays float32.
//
// Activations are uint8 with one scale and zero point, from a range; weights int8 with a scale per output channel, symmetric;
// biases int32.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

namespace onnx {
class GraphProto;
class ModelProto;
}  // namespace onnx

namespace aoe::quantize {

enum class QuantForm {
  kQdq,     ///< QuantizeLinear and DequantizeLinear around float32 operators
  kQLinear  ///< QLinearConv and QLinearMatMul; the operators that have no such form as in kQdq
};

struct Range {
  float low = 0, high = 0;
};
using Ranges = std::map<std::string, Range>;  ///< by value

/// What is quantised or kept in float32 as one.
struct Layer {
  std::string node;  ///< its name; without one, its first output
  std::string op_type;
  std::string output;  ///< its first output: what tells layers apart
};

struct QdqOptions {
  QuantForm form = QuantForm::kQdq;
  std::set<std::string> float_layers = {};  ///< by output: these stay float32
};

// All of these want weights as initializers with raw bytes (model_file.h) and change nothing but the main graph.

/// BatchNormalization behind a convolution that nobody else reads becomes part of its weights.
void fold_batch_norms(onnx::ModelProto& model);

/// What can be quantised, in the order of the model.
std::vector<Layer> layers_of(const onnx::GraphProto& graph);

/// The values whose ranges the others need.
std::set<std::string> values_to_calibrate(const onnx::GraphProto& graph);

/// `ranges` has those of values_to_calibrate().
void write_qdq(onnx::ModelProto& model, const Ranges& ranges, const QdqOptions& options);

/// Beside every layer, a copy of it that computes from bytes, reading the float32 values; nothing reads its output. What
/// they are off is each layer's own share of the error. Returns the copies' outputs, by those of the layers.
std::map<std::string, std::string> add_quantised_copies(onnx::ModelProto& model,
                                                        const Ranges& ranges);

}  // namespace aoe::quantize
