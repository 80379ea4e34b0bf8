// Reads an ONNX model (opset 7 and newer, external data included) into a Graph with inferred
// shapes.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.h"
#include "graph/import/aipp.h"
#include "graph/import/interface_types.h"

namespace aoe::graph {

struct ImportOptions {
  /// Shapes of graph inputs with dynamic dimensions: `--input_shape`. They must agree with what the
  /// model declares; a dimension name (`batch`) bound here holds for all inputs.
  std::map<std::string, Shape> input_shapes;
  /// Inputs that are constants of this compilation, with their numbers: `--input_value` (input_values.h).
  std::map<std::string, std::vector<std::string>> input_values = {};
  /// Keep outputs only up to these ("node:index", or a value's name); empty: the model's own outputs (`--out_nodes`).
  std::vector<std::string> out_nodes;
  std::vector<Aipp>
      aipp;              ///< operators that prepare images, in front of inputs (`--insert_op_conf`)
  InterfaceTypes types;  ///< of inputs and outputs (`--output_type`, `--input_fp16_nodes`)
};

/// Shapes are inferred, values that the model computes from shapes included; what inference cannot
/// tell is taken from the model's own declarations. Throws Error(kModel): missing file, not ONNX,
/// truncated, contradictory shapes, dynamic dimensions without a given shape (with the flag to
/// give), or unsupported operators: all of those in one message, each with node name, ONNX type and
/// opset. Error(kUsage) when an option names what the model does not have.
Graph import_onnx(const std::filesystem::path& path, const ImportOptions& options);

/// The bytes of a model. `name` is what messages call it, and where it would be a file: external data lies beside it.
struct OnnxBytes {
  std::string_view bytes;
  std::filesystem::path name;
};
Graph import_onnx(const OnnxBytes& model, const ImportOptions& options);

/// What becomes of a -1 that no gear (gears.h) fills in.
enum class OpenSizes {
  kRefused,  ///< whoever measures the model needs sizes
  kTaken     ///< kUnknownDim: only a run tells it
};

/// "a:1,3,224,224;b:1,128" -> map; Error(kUsage) on a malformed text.
std::map<std::string, Shape> parse_input_shapes(const std::string& text,
                                                OpenSizes open = OpenSizes::kRefused);

}  // namespace aoe::graph
