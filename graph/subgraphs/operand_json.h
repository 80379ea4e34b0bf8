// How operands stand in canonical descriptions of tasks and subgraphs.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "base/tensor.h"

namespace aoe::graph {

/// Dtype and shape; null for an absent tensor.
nlohmann::json tensor_json(const TensorDesc& desc);

/// The same with "constant": true for a known operand. Values of constants enter only where they
/// are parameters (axes, shapes, exponents) rather than weights: integers, and floats of a single
/// element.
nlohmann::json operand_json(const TensorDesc& desc, const ConstantPtr& constant);

}  // namespace aoe::graph
