// Looks for the program beside the library.
#include "api/worker_program.h"

#include <unistd.h>

#include "base/error.h"
#include "options/data_dirs.h"
#include "options/environment.h"

namespace aoe::api {

std::filesystem::path worker_program() {
  constexpr const char* kRelative = AOE_LIBEXEC_DIR "/aoe_worker";
  const auto named = options::variable("AOE_WORKER");
  const std::filesystem::path path =
      named ? std::filesystem::path(*named) : options::installed_path(kRelative);
  if (path.empty())
    throw Error(ExitCode::kFailure, "the program that measures is not installed", kRelative,
                "install aoe again, or name it in AOE_WORKER");
  std::error_code status;
  if (!std::filesystem::is_regular_file(path, status) || ::access(path.c_str(), X_OK) != 0)
    throw Error(ExitCode::kFailure, "cannot be executed",
                (named ? "AOE_WORKER " : "") + path.string(),
                "install aoe again, or name it in AOE_WORKER");
  return path;
}

}  // namespace aoe::api
