// The mark is a lock on the directory itself, which the system takes back however the process ends.
#include "api/scratch_directory.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <utility>

#include "base/error.h"
#include "base/log.h"

namespace aoe::api {
namespace fs = std::filesystem;
namespace {

/// None when it is no directory (a link to one is none), or is in use.
Descriptor lock_directory(const fs::path& path) {
  Descriptor directory(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (directory.is_open() && ::flock(directory.number(), LOCK_EX | LOCK_NB) != 0) directory.reset();
  return directory;
}

}  // namespace

ScratchDirectory::ScratchDirectory(fs::path path) : path_(std::move(path)) {
  std::error_code status;
  // Until it is locked, another run may take it for abandoned.
  for (int attempt = 0; !lock_.is_open() && attempt < 100; ++attempt) {
    fs::create_directories(path_, status);
    if (status)
      throw Error(ExitCode::kOutput, "cannot be created: " + status.message(), path_.string(),
                  "set ASCEND_WORK_PATH to a writable place");
    lock_ = lock_directory(path_);
    if (lock_.is_open() && fs::is_directory(path_, status)) {
      for (const auto& left : fs::directory_iterator(path_, status))  // by a killed run of this job
        fs::remove_all(left.path(), status);
      return;
    }
    lock_.reset();
    ::usleep(1000);
  }
  throw Error(ExitCode::kOutput, "cannot be locked", path_.string());
}

ScratchDirectory::~ScratchDirectory() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

void remove_abandoned_scratch(const fs::path& workspace) {
  std::error_code status;
  for (fs::directory_iterator job(workspace, status), end; !status && job != end;
       job.increment(status)) {
    const fs::path scratch = job->path() / "tunespace" / "scratch";
    const Descriptor lock = lock_directory(scratch);
    if (!lock.is_open()) continue;
    std::error_code ignored;
    fs::remove_all(scratch, ignored);
    logger("aoe")->info("removed {}, which a run that was killed had left", scratch.string());
  }
}

}  // namespace aoe::api
