// Looks beside what is installed first, then in the source tree.
#include "options/data_dirs.h"

#include <dlfcn.h>
#include <link.h>
#include <sys/auxv.h>

#include "base/error.h"
#include "options/environment.h"

namespace aoe::options {
namespace fs = std::filesystem;
namespace {

/// The program, or the shared library that this function was linked into.
fs::path this_object() {
  Dl_info info;
  link_map* object = nullptr;
  const bool is_found = ::dladdr1(reinterpret_cast<void*>(&this_object), &info,
                                  reinterpret_cast<void**>(&object), RTLD_DL_LINKMAP) != 0;
  std::error_code status;
  if (is_found && object != nullptr && *object->l_name != '\0')
    return fs::canonical(object->l_name, status);
  return this_program();
}

}  // namespace

fs::path this_program() {
  std::error_code status;
  const fs::path program = fs::read_symlink("/proc/self/exe", status);
  if (!status) return program;
  return fs::canonical(reinterpret_cast<const char*>(::getauxval(AT_EXECFN)), status);
}

fs::path installed_path(const fs::path& relative) {
  constexpr int kLevels = 3;  // bin/, lib/, lib/x86_64-linux-gnu/
  std::error_code status;
  fs::path directory = this_object().parent_path();
  for (int i = 0; i < kLevels && directory.has_relative_path(); ++i) {
    directory = directory.parent_path();
    if (fs::exists(directory / relative, status)) return directory / relative;
  }
  return {};
}

fs::path config_directory() {
  if (const auto named = variable("AOE_CONFIG_DIR")) {
    // A trailing slash would name an empty directory below it, and its parent the directory itself.
    const fs::path directory = fs::path(*named).lexically_normal();
    std::error_code status;
    if (!fs::is_directory(directory, status))
      throw Error(ExitCode::kUsage, "there is no such directory", "AOE_CONFIG_DIR " + *named,
                  "let it name the directory that holds soc and tuning, or unset it");
    return directory.has_filename() ? directory : directory.parent_path();
  }
  const fs::path installed = installed_path("share/aoe/configs");
  return installed.empty() ? AOE_SOURCE_CONFIG_DIR : installed;
}

fs::path built_in_bank_root() {
  return config_directory().parent_path() / "bank";
}

}  // namespace aoe::options
