// NodeCase: one ONNX node test of Debian's libonnx-testdata: a model, its inputs and the outputs it
// must give.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/tensor.h"

namespace aoe::conformance {

struct NodeCase {
  std::string name;
  std::filesystem::path model;
  std::vector<ConstantPtr> inputs;  ///< in the model's order
  std::vector<ConstantPtr> outputs;
};

/// Where the package libonnx-testdata puts them.
std::filesystem::path node_test_directory();

/// Names of all cases, sorted. Throws Error(kData) that names the package to install when there are
/// none.
std::vector<std::string> node_case_names();

/// Throws Error(kData) when a file is missing or holds something else than a tensor of numbers or
/// bools.
NodeCase load_node_case(const std::string& name);

/// Empty when `actual` is what ONNX's own runner accepts for `expected`: same type and shape,
/// floating-point values within 1e-7 + 1e-3 * |expected| (16-bit ones within some units in the last place), all others equal. Otherwise what differs,
/// with index and both values.
std::string difference(const Tensor& expected, const Tensor& actual);

}  // namespace aoe::conformance
