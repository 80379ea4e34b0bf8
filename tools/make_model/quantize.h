// Quantises a float32 model the way post-training quantisers do: bytes for the inputs and outputs of convolutions, matrix
// products with constant weights, and, in image models, additions; the rest stays float32.
//
// Activations are uint8 with one scale and zero point, from the range that the model's values have on random inputs;
// weights are int8 with a scale per output channel; biases int32.
#pragma once

#include <map>
#include <string>

namespace onnx {
class ModelProto;
}

namespace aoe::make_model {

enum class QuantForm {
  kQdq,     ///< QuantizeLinear and DequantizeLinear around float32 operators
  kQLinear  ///< QLinearConv and QLinearMatMul; the operators that have no such form as in kQdq
};

struct Range {
  float low = 0, high = 0;
};

/// The range of every float32 value of a model file, by name, on random inputs; run by the reference.
std::map<std::string, Range> calibrate(const std::string& path, std::uint64_t seed);

/// BatchNormalization behind a convolution becomes part of its weights, as before any quantisation.
void fold_batch_norms(onnx::ModelProto& model);

void quantize(onnx::ModelProto& model, const std::map<std::string, Range>& ranges, QuantForm form);

/// All of that. `scratch_path`: for the float32 model, while it is calibrated; removed again.
std::string quantized(const std::string& model_bytes, QuantForm form, std::uint64_t seed,
                      const std::string& scratch_path);

}  // namespace aoe::make_model
