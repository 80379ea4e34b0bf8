// All of x86-64-v3.
#include "compiler/target/x86.h"

namespace aoe::compiler {

const Target& x86_avx2() {
  static const X86 target("avx2", {.bytes = 32, .registers = 16});
  return target;
}

}  // namespace aoe::compiler
