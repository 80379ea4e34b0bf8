// Versions that CMake found, and the machine.
#include "tools/common/version.h"

#include <fmt/format.h>

#include "base/versions.h"
#include "runtime/host_soc.h"

namespace aoe::tools {

std::string version_text(const std::string& program) {
  return fmt::format("{0} {1}\nengine  aoe {1}\nLLVM    {2}\noneDNN  {3}\nsoc     {4}\n", program,
                     engine_version(), llvm_version(), onednn_version(),
                     runtime::host_soc_version());
}

}  // namespace aoe::tools
