// OmBuilder: lowered steps and their kernels -> om: generated code, packed constants, tensors, steps.
#pragma once

#include <string>

#include "compiler/lowering.h"
#include "runtime/om.h"

namespace aoe::compiler {

runtime::Om build_om(const std::string& name, Lowered lowered, const CompileOptions& options);

}  // namespace aoe::compiler
