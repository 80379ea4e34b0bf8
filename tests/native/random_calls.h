// Calls of the operators that have native kernels, with shapes, attributes and values that a seed decides.
#pragma once

#include <random>
#include <string>
#include <vector>

#include "base/tensor.h"
#include "reference/op.h"

namespace aoe::native {

struct RandomCall {
  reference::OpCall call;
  std::vector<ConstantPtr> inputs;  ///< null: absent
  std::size_t outputs = 1;
  double tolerance = 0;  ///< of float32 results, as a share of the largest of them
};

/// One for each kernel, by IR type; those that share a kernel share it here.
std::vector<std::string> drawn_types();
RandomCall draw_call(const std::string& type, unsigned seed);

}  // namespace aoe::native
