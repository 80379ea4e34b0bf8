// Looks beside the installed program first, then in the source tree.
#include "tools/common/data_dirs.h"

#include "tools/common/environment.h"

namespace aoe::tools {
namespace fs = std::filesystem;

fs::path config_directory() {
  if (const auto named = variable("AOE_CONFIG_DIR")) {
    // A trailing slash would name an empty directory below it, and its parent the directory itself.
    const fs::path directory = fs::path(*named).lexically_normal();
    return directory.has_filename() ? directory : directory.parent_path();
  }
  std::error_code status;
  const fs::path program = fs::read_symlink("/proc/self/exe", status);
  const fs::path installed = program.parent_path().parent_path() / "share/aoe/configs";
  if (fs::is_directory(installed, status)) return installed;
  return AOE_SOURCE_CONFIG_DIR;
}

fs::path built_in_bank_root() {
  return config_directory().parent_path() / "bank";
}

}  // namespace aoe::tools
