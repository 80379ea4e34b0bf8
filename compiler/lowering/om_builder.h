// OmBuilder: lowered steps and their kernels -> om: generated code, packed constants, tensors, steps.
#pragma once

#include <string>
#include <vector>

#include "compiler/lowering/lowering.h"
#include "runtime/om/om.h"

namespace aoe::compiler {

struct BuiltOm {
  runtime::Om om;
  std::vector<StepSource> steps;             ///< by step of the om
  std::vector<PackedConstant> weights = {};  ///< as in Compilation
};

BuiltOm build_om(const std::string& name, Lowered lowered, const CompileOptions& options);

}  // namespace aoe::compiler
