// Random models with control flow: If, Loop and Scan around random bodies, which read what lies around them, also nested.
#pragma once

#include <onnx/onnx_pb.h>

#include <cstdint>

namespace aoe::tests {

/// The same for the same seed; at least one node has bodies.
onnx::ModelProto random_control_flow(std::uint32_t seed);

}  // namespace aoe::tests
