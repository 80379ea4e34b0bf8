// Weights that a model computes from constants alone (ConstantOfShape, Cast, Reshape of an initializer) as initializers.
#pragma once

#include <onnx/onnx_pb.h>

#include <filesystem>

namespace aoe::quantize {

/// What products, normalisations and additions read becomes an initializer where it depends on no input of `model`, whose
/// initializers lie in the file itself; nodes that nobody reads then go. Values are computed as atc folds them; what that leaves to
/// the run stays. Throws Error(kModel) with `name` where such nodes are none that atc could compile.
void make_initializers_of_computed_weights(onnx::ModelProto& model,
                                           const std::filesystem::path& name);

}  // namespace aoe::quantize
