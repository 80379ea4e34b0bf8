// Models written as text, in the syntax of onnx/defs/parser.h:
//
//   g (float[1,3,8,8] x) => (float[1,4,8,8] y) <float[4,3,3,3] w> {
//     c = Conv <pads = [1,1,1,1]> (x, w)
//     y = Relu (c)
//   }
//
// Declared values that nothing produces (w above) become initializers with random numbers of their floating-point type, or bytes, and
// a fixed seed.
#pragma once

#include <filesystem>
#include <string>

#include "graph/graph.h"
#include "graph/import/gears.h"
#include "graph/import/onnx_import.h"

namespace onnx {
class ModelProto;
}

namespace aoe::tests {

/// The bytes of a model with this graph. Text behind the graph's last brace may define functions of
/// the domain "local".
std::string model_bytes(const std::string& graph_text, int opset = 13);
/// The same, to be changed by the test (which includes onnx/onnx_pb.h).
onnx::ModelProto parsed_model(const std::string& graph_text, int opset = 13);

/// y = x + w, with two numbers in `w` that lie in another file, which the test names.
onnx::ModelProto external_model();

/// Writes bytes to a fresh file and imports it.
graph::Graph import_bytes(const std::string& bytes, const graph::ImportOptions& options = {});
graph::Graph import_text(const std::string& graph_text, int opset = 13,
                         const graph::ImportOptions& options = {});

/// The file in all gears, with all passes.
graph::GearedGraph import_gears(const std::filesystem::path& path,
                                const graph::GearRequest& request);

}  // namespace aoe::tests
