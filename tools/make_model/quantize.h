// Networks of bytes: quantised the way post-training quantisers do (quantize/qdq.h), their ranges being those of the model's
// values on random inputs.
#pragma once

#include <map>
#include <string>

#include "base/tensor.h"
#include "quantize/qdq.h"

namespace aoe::make_model {

/// The range of every float32 value of a model file, by name, on random inputs; run by the reference, so that every
/// machine makes the same model. `input_shapes`: of a model that leaves sizes open.
quantize::Ranges calibrate(const std::string& path, std::uint64_t seed,
                           const std::map<std::string, Shape>& input_shapes = {});

/// `scratch_path`: for the float32 model, while it is calibrated; removed again.
std::string quantized(const std::string& model_bytes, quantize::QuantForm form, std::uint64_t seed,
                      const std::string& scratch_path,
                      const std::map<std::string, Shape>& input_shapes = {});

}  // namespace aoe::make_model
