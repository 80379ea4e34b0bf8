// Reads an ONNX model (opset 7 and newer, external data included) into a Graph with inferred shapes.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "graph/graph.h"

namespace aoe::graph {

struct ImportOptions {
  /// Static shapes for graph inputs whose dimensions are dynamic (or to override them): `--input_shape`.
  std::map<std::string, Shape> input_shapes;
  /// Keep outputs only up to these ("node:index"); empty: the model's own outputs (`--out_nodes`).
  std::vector<std::string> out_nodes;
};

/// Throws Error(kModel): missing file, not ONNX, truncated, contradictory shapes, dynamic dimensions without a given
/// shape, or unsupported operators: all of those in one message, each with node name, ONNX type and opset.
Graph import_onnx(const std::filesystem::path& path, const ImportOptions& options);

/// "a:1,3,224,224;b:1,128" -> map; Error(kUsage) on a malformed text.
std::map<std::string, Shape> parse_input_shapes(const std::string& text);

}  // namespace aoe::graph
