// Files and directories that are being made; those who make them are in base/file.cpp, base/temporary_directory.cpp and others.
#include <unistd.h>

#include <mutex>
#include <set>
#include <system_error>

#include "base/held_at_fork.h"
#include "base/new_file.h"

namespace aoe {
namespace fs = std::filesystem;
namespace {

struct Unfinished {
  std::mutex mutex;
  const HeldAtFork held{mutex, LockRung::kFiles};
  std::set<fs::path> paths;
};

/// Never destroyed: a signal may come when the process ends.
Unfinished& unfinished() {
  static auto* const all = new Unfinished;
  return *all;
}

}  // namespace

fs::path make_unfinished(const std::function<fs::path()>& make) {
  Unfinished& all = unfinished();
  const std::lock_guard lock(all.mutex);
  fs::path made = make();
  all.paths.insert(made);
  return made;
}

void forget_unfinished(const fs::path& path) {
  Unfinished& all = unfinished();
  const std::lock_guard lock(all.mutex);
  all.paths.erase(path);
}

void end_without_leftovers(int exit_code) {
  Unfinished& all = unfinished();
  const std::lock_guard lock(all.mutex);  // to the end: nobody makes a further one
  std::error_code ignored;
  for (const fs::path& path : all.paths) fs::remove_all(path, ignored);
  ::_exit(exit_code);
}

}  // namespace aoe
