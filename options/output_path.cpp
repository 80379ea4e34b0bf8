// Checks the directory of an output before the work begins.
#include "options/output_path.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/descriptor.h"
#include "base/error.h"

namespace aoe::options {
namespace fs = std::filesystem;

std::string dynamic_om_suffix(const std::string& soc_version) {
  return "_linux_" + soc_version.substr(0, soc_version.find('-'));
}

fs::path om_output_path(const std::string& given, const std::string& flag,
                        const std::string& suffix) {
  fs::path path = given;
  if (path.filename().empty())
    throw Error(ExitCode::kUsage, "'" + given + "' names no file", flag, "add a file name");
  if (path.extension() == ".om") path.replace_extension();
  path += suffix + ".om";
  check_output_file(path, flag);
  return path;
}

void check_output_file(const fs::path& path, const std::string& flag) {
  const fs::path directory = path.has_parent_path() ? path.parent_path() : fs::path(".");
  const auto complain = [&](const char* what, const char* advice) {
    throw Error(ExitCode::kOutput, what, flag + " " + path.string(), advice);
  };
  std::error_code status;
  if (!fs::is_directory(directory, status))
    complain("the directory does not exist", "create it first");
  if (fs::is_directory(path, status)) complain("is a directory", "choose another name");
  if (!is_writable_directory(directory))
    complain("the directory is not writable", "choose another one");
}

void check_is_another_file(const fs::path& path, const std::string& flag, const fs::path& other,
                           const std::string& what) {
  std::error_code status;
  if (fs::exists(path, status) && !fs::is_regular_file(path, status)) return;
  if (fs::weakly_canonical(path, status) != fs::weakly_canonical(other, status) &&
      !fs::equivalent(path, other, status))
    return;
  throw Error(ExitCode::kUsage, "is " + what, flag + " " + path.string(), "choose another name");
}

bool is_writable_directory(const fs::path& directory) {
  const fs::path probe = directory / (".aoe_probe" + std::to_string(::getpid()));
  const Descriptor file(::open(probe.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600));
  if (!file.is_open()) return false;
  ::unlink(probe.c_str());
  return true;
}

}  // namespace aoe::options
