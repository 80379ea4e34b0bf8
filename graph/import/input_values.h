// Reading --input_value: inputs that are the same in every run, such as a sample rate. They become constants of the model,
// so that what depends on them folds away.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/tensor.h"

namespace aoe::graph {

/// "sr:16000;size:1,2" -> the numbers of each, as they are written. Error(kUsage) on a malformed text.
std::map<std::string, std::vector<std::string>> parse_input_values(const std::string& text);

/// The numbers as a constant of the declared type: as many as the shape wants, where it leaves one dimension open as many
/// as fit, or one for all. Throws Error(kUsage) naming the input otherwise, and where a number does not fit the type.
ConstantPtr constant_of_input(const std::string& name, const TensorDesc& declared,
                              const std::vector<std::string>& numbers);

}  // namespace aoe::graph
