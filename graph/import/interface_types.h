// Element types that a model's inputs and outputs show to the outside, other than its own: what --output_type and
// --input_fp16_nodes ask for. The model computes as before; conversions stand at its border.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace aoe::graph {

/// Output `index` of node `node`, which must be one of the graph's outputs.
struct OutputType {
  std::string node;
  int index = 0;
  DataType dtype = DataType::kUndefined;
  bool operator==(const OutputType&) const = default;
};

struct InterfaceTypes {
  std::optional<DataType> outputs;  ///< of all outputs that `single_outputs` leaves out
  std::vector<OutputType> single_outputs;
  std::vector<std::string> fp16_inputs;  ///< names of float32 inputs that become float16
};

/// "FP16", or "node:0:FP16;other:1:INT8" (--output_type). Error(kUsage) on anything else.
InterfaceTypes parse_output_type(const std::string& text);

/// Values keep their names; casts are inserted. Error(kUsage) when a node or an input is not there, and when a type
/// cannot be converted.
void set_interface_types(Graph& graph, const InterfaceTypes& types);

}  // namespace aoe::graph
