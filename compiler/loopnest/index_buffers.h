// Which buffers of a Function say where it reads.
#pragma once

#include <vector>

#include "compiler/loopnest/loopnest.h"

namespace aoe::compiler::loopnest {

/// Places, in the order of the ABI, of the buffers whose values become indices: load_int() and load_indexed() read them.
/// Ascending.
std::vector<int> index_buffers(const Function& function);

}  // namespace aoe::compiler::loopnest
