// The shapes of a model's inputs: what the model declares together with what --input_shape says.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/tensor.h"

namespace aoe::graph {

/// An input as the model declares it.
struct DeclaredInput {
  std::string name;
  TensorDesc desc;  ///< unknown dimensions are kUnknownDim, a missing shape is kUnknownRankShape
  std::vector<std::string>
      dim_names;  ///< per dimension; empty where the model gives a number or nothing
};

/// "a:-1,3,224,224;b:1,128", in its order; -1 is kUnknownDim. Error(kUsage) on a malformed text.
std::vector<std::pair<std::string, Shape>> parse_open_input_shapes(const std::string& text);

/// Puts the given shapes in place; a dimension name bound by one input holds for all others, kUnknownDim included. Throws
/// Error(kUsage) when a given name is no input, Error(kModel) on contradictions and when nothing is said of a
/// dimension: with the flag to give.
void resolve_input_shapes(std::vector<DeclaredInput>& inputs,
                          const std::map<std::string, Shape>& given);

}  // namespace aoe::graph
