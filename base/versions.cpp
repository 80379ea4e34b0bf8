// As CMake found them.
#include "base/versions.h"

namespace aoe {

const char* engine_version() {
  return AOE_VERSION;
}

const char* llvm_version() {
  return AOE_LLVM_VERSION;
}

const char* onednn_version() {
  return AOE_ONEDNN_VERSION;
}

}  // namespace aoe
