// Mutants of ONNX models: fields changed to what files should not hold, where the model still parses.
#pragma once

#include <onnx/onnx_pb.h>

#include <random>
#include <string>

namespace aoe::tests {

/// Changes one to three fields of the model: values, kinds and names of attributes, dimensions, types and contents of
/// tensors, declared types and shapes, names that nodes read and write, operator types, operator sets. Returns what it
/// changed, in words.
std::string mutate(onnx::ModelProto& model, std::mt19937& random);

}  // namespace aoe::tests
