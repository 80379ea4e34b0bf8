// NodeCase: one ONNX test of Debian's libonnx-testdata, most of them a model of one node, its inputs and the outputs it
// must give. A sequence counts as its tensors, one behind the other.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/tensor.h"

namespace aoe::conformance {

struct NodeCase {
  std::string name;
  std::filesystem::path model;
  std::map<std::string, Shape> input_shapes =
      {};                           ///< of the tensors of sequences, as `--input_shape` has them
  std::vector<ConstantPtr> inputs;  ///< in the model's order
  std::vector<ConstantPtr> outputs;
  /// Those that inputs and outputs hold; a tensor of texts is one of int64, of their places here.
  std::vector<std::string> texts = {};
};

/// The sets of the package libonnx-testdata that have their data with them.
inline constexpr const char* kNodeSet = "node";
inline constexpr const char* kModelSets[] = {"simple", "pytorch-operator", "pytorch-converted"};

/// Whether AOE_ONNX_DATA names a directory with the sets of another ONNX than the package's.
bool is_newer_onnx();

/// Where the package libonnx-testdata puts a set, or AOE_ONNX_DATA has it.
std::filesystem::path case_directory(const std::string& set);

/// Names of all cases of a set, sorted. Throws Error(kData) that names the package to install when there are
/// none.
std::vector<std::string> case_names(const std::string& set);

/// Throws Error(kData) when a file is missing or holds something else than tensors, or sequences or optionals of them.
NodeCase load_node_case(const std::string& set, const std::string& name);

/// The same with all dimensions of its inputs left open, sequences' aside: the model is written to `model`.
NodeCase opened(NodeCase node_case, const std::filesystem::path& model);

/// Empty when `actual` is what ONNX's own runner accepts for `expected`: same type and shape,
/// floating-point values within 1e-7 + 1e-3 * |expected| (16-bit ones within some units in the last place), all others equal. Otherwise what differs,
/// with index and both values.
std::string difference(const Tensor& expected, const Tensor& actual);

}  // namespace aoe::conformance
