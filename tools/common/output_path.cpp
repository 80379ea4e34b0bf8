// Checks the directory of an output before the work begins.
#include "tools/common/output_path.h"

#include <unistd.h>

#include "base/error.h"

namespace aoe::tools {
namespace fs = std::filesystem;

fs::path om_output_path(const std::string& given, const std::string& flag) {
  fs::path path = given;
  if (path.filename().empty())
    throw Error(ExitCode::kUsage, "'" + given + "' names no file", flag, "add a file name");
  if (path.extension() != ".om") path += ".om";
  const fs::path directory = path.has_parent_path() ? path.parent_path() : fs::path(".");
  std::error_code status;
  if (!fs::is_directory(directory, status))
    throw Error(ExitCode::kOutput, "the directory does not exist", flag + " " + path.string(),
                "create it first");
  if (::access(directory.c_str(), W_OK | X_OK) != 0)
    throw Error(ExitCode::kOutput, "the directory is not writable", flag + " " + path.string(),
                "choose another one");
  return path;
}

}  // namespace aoe::tools
