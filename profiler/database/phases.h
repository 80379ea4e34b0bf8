// Which ops of a training graph belong to the forward pass, the backward pass and the update.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace aoe::profiler {

/// One of "forward", "backward", "update" per op of the model's op table; all "" when the model has
/// no gradient, that is, in inference. An op that states its "phase" keeps it.
///
/// Found by data flow. A gradient is a tensor named like one: "<x>_grad", "<x>.grad", "grad_<x>" or
/// "gradients/<x>". An op that computes a gradient, or that needs one and leads to one, is backward;
/// an op that needs gradients but leads to none (new weights) is update; the others are forward.
std::vector<std::string> phases_of(const nlohmann::json& ops);

bool is_gradient_name(std::string_view tensor);

}  // namespace aoe::profiler
