// The same model with sizes of its inputs left open.
#pragma once

#include <onnx/onnx_pb.h>

#include <cstdint>

#include "graph/import/onnx_import.h"

namespace aoe::tests {

/// Half of the sizes become names, now and then one name for all that are equal. Outputs say nothing of shapes.
onnx::ModelProto with_open_inputs(onnx::ModelProto model, std::uint32_t seed);

/// What imports it so.
graph::ImportOptions open_sizes_of(const onnx::ModelProto& model);

}  // namespace aoe::tests
