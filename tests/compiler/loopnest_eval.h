// The plainest meaning of the loop-nest language: an interpreter that walks the tree, one lane at a
// time. What the lowering to machine code is tested against.
#pragma once

#include <cstdint>
#include <span>

#include "compiler/loopnest/loopnest.h"

namespace aoe::compiler::loopnest {

struct EvalBuffer {
  void* data = nullptr;
  std::int64_t elements = 0;
};

/// Runs all parallel iterations in order. `buffers` are those of the ABI, in their order. Throws
/// std::out_of_range that names the buffer when the function touches an element outside.
void evaluate(const Function& function, std::span<const EvalBuffer> buffers);

}  // namespace aoe::compiler::loopnest
