// By mkdtemp(), so that nobody can have laid a link under the name.
#include "base/temporary_directory.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>

#include "base/error.h"
#include "base/new_file.h"

namespace aoe {
namespace fs = std::filesystem;

TemporaryDirectory::TemporaryDirectory(std::string_view stem) {
  std::error_code status;
  const fs::path parent = fs::temp_directory_path(status);
  if (status)
    throw Error(ExitCode::kOutput, "there is no directory for temporary files: " + status.message(),
                {}, "set TMPDIR to one");
  path_ = make_unfinished([&] {
    std::string pattern = (parent / (std::string(stem) + "-XXXXXX")).string();
    if (::mkdtemp(pattern.data()) == nullptr)
      throw Error(ExitCode::kOutput, std::strerror(errno), parent.string(),
                  "set TMPDIR to a directory that can be written");
    return fs::path(pattern);
  });
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code ignored;  // a leftover in the temporary directory harms nobody
  fs::remove_all(path_, ignored);
  forget_unfinished(path_);
}

}  // namespace aoe
