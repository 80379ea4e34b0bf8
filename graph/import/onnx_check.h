// Says of every node of an ONNX model whether it can be imported; for reports before a conversion.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "graph/import/onnx_import.h"

namespace aoe::graph {

struct NodeCheck {
  std::string name, type;  ///< as in the model; unnamed nodes go by their first output
  std::string problem;     ///< empty: none
};

struct ModelCheck {
  std::vector<NodeCheck> nodes;  ///< as far as the import came
  std::string problem;           ///< what import_onnx() says; empty: nothing
};

/// Throws what import_onnx() does when the file cannot be read at all, or when an option is wrong.
ModelCheck check_onnx(const std::filesystem::path& path, const ImportOptions& options);

}  // namespace aoe::graph
