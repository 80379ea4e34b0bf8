// What this program was built from.
#pragma once

namespace aoe {

const char* engine_version();  ///< "0.1.0"
const char* llvm_version();
const char* onednn_version();

}  // namespace aoe
