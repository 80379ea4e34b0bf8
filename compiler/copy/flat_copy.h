// The loop nest that copies bytes: for views and concatenations that cannot share memory.
#pragma once

#include <cstdint>

#include "compiler/loopnest/loopnest.h"

namespace aoe::compiler {

/// Copies `size_bytes` from the first buffer to the second; any element type, bit for bit.
loopnest::Function flat_copy_function(std::uint64_t size_bytes);

}  // namespace aoe::compiler
