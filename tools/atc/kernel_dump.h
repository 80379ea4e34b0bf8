// KernelDump: what --op_debug_level keeps of the generated kernels, for people who read code.
#pragma once

#include <filesystem>
#include <vector>

#include "compiler/loopnest/loopnest.h"
#include "compiler/soc.h"
#include "runtime/om/om.h"

namespace aoe::tools {

/// Writes into `directory`, which is made: kernels.json (symbol -> the nodes that run it), and for each kernel
///   <symbol>.s             levels 1 to 4
///   <symbol>.nest          the loop nest with its Schedule applied; levels 1, 2 and 4
///   <symbol>.ll            LLVM IR as it is compiled; levels 1 and 2
///   <symbol>.unopt.ll      LLVM IR as it was generated; level 2
/// The kernels in the om are the same at every level. Throws Error(kOutput).
void dump_kernels(const std::vector<compiler::loopnest::Function>& functions, const runtime::Om& om,
                  const compiler::Soc& soc, int op_debug_level,
                  const std::filesystem::path& directory);

}  // namespace aoe::tools
