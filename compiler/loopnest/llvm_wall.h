// The wall around LLVM and lld, which are built without exceptions: what is thrown through their frames runs no destructor
// of theirs.
#pragma once

#include <utility>

#include "base/memory_wall.h"

namespace aoe::compiler::loopnest {

/// From now on, what LLVM allocates without throwing ends the process as what throws does behind the wall.
void watch_llvm_allocations();

template <typename Work>
auto within_llvm(Work&& work) {
  watch_llvm_allocations();
  return behind_memory_wall(std::forward<Work>(work));
}

}  // namespace aoe::compiler::loopnest
