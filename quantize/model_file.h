// Reading a float32 model the way a quantiser wants it, and writing what became of it.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "base/tensor.h"

namespace onnx {
class ModelProto;
}

namespace aoe::quantize {

/// Weights that lie beside the file, or that nodes compute from constants, become initializers with raw bytes; those that
/// are listed as inputs as well are inputs no more. Throws Error(kModel) when the file is no ONNX model, and when it is
/// quantised already.
onnx::ModelProto load_float_model(const std::filesystem::path& path);

/// Throws OutOfMemory when there is not so much memory, as serialize() does.
onnx::ModelProto copy_of(const onnx::ModelProto& model);

/// What a model is fed with, initializers not among them.
std::vector<std::pair<std::string, TensorDesc>> inputs_of(const onnx::ModelProto& model);

/// `values`, float32 ones of the model, become its outputs in place of those it has.
void show_values(onnx::ModelProto& model, const std::vector<std::string>& values);

/// The file's bytes; throws Error(kModel) above 2 GB, which protobuf cannot write.
std::string serialize(const onnx::ModelProto& model, const std::filesystem::path& path);

}  // namespace aoe::quantize
