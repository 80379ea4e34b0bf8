// Which values of a float32 model are not float32: sizes, indices, conditions.
#pragma once

#include <onnx/onnx_pb.h>

#include <set>
#include <string>

namespace aoe::quantize {

/// By what the graph declares and, where it declares nothing, by the operators that make them.
std::set<std::string> values_of_other_types(const onnx::GraphProto& graph);

}  // namespace aoe::quantize
