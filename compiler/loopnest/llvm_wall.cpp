// See llvm_wall.h. Tested by tests/robustness/faults_test.py.
#include "compiler/loopnest/llvm_wall.h"

#include <llvm/Support/ErrorHandling.h>

#include <mutex>
#include <new>

namespace aoe::compiler::loopnest {
namespace {

void end_by_bad_alloc(void*, const char*, bool) {
  behind_memory_wall([] { throw std::bad_alloc(); });
}

}  // namespace

void watch_llvm_allocations() {
  static std::once_flag once;
  std::call_once(once, [] { llvm::install_bad_alloc_error_handler(end_by_bad_alloc); });
}

}  // namespace aoe::compiler::loopnest
