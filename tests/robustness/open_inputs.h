// The same model with sizes of its inputs left open.
#pragma once

#include <onnx/onnx_pb.h>

#include <cstdint>

#include "graph/import/onnx_import.h"
#include "tests/seeds.h"

namespace aoe::tests {

/// Half of the sizes become names, now and then one name for all that are equal. Outputs say nothing of shapes.
onnx::ModelProto with_open_inputs(onnx::ModelProto model, std::uint32_t seed);

/// What imports it so.
graph::ImportOptions open_sizes_of(const onnx::ModelProto& model);

/// What imports it with sizes for its names: those of `given`, some changed to others, for which the model may not be valid.
graph::ImportOptions other_sizes_of(const onnx::ModelProto& model, const onnx::ModelProto& given,
                                    Random& random);

}  // namespace aoe::tests
