// Models of any number of small nodes, in the forms that large models have: what work on a graph costs
// shows in how it grows with them.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace aoe::tests {

/// chain: residual blocks of convolutions; branches: modules of parallel ones; transformer: layers of
/// attention, normalisation and GELU; elementwise: one row of arithmetic with constants; star:
/// everything reads the input, one node joins all; updates: many inputs and outputs.
const std::vector<std::string>& large_model_forms();

/// An ONNX model of about this many nodes; of the same blocks, whatever their number.
std::string large_model(const std::string& form, std::size_t nodes);

}  // namespace aoe::tests
