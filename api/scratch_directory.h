// ScratchDirectory: where the oms lie that are only made to be measured.
#pragma once

#include <filesystem>

#include "base/descriptor.h"

namespace aoe::api {

/// Made new, removed at the end with all that is in it, and marked as in use meanwhile, so that a later run can tell those of
/// runs that were killed.
class ScratchDirectory {
 public:
  /// Throws Error(kOutput).
  explicit ScratchDirectory(std::filesystem::path path);
  ~ScratchDirectory();
  ScratchDirectory(const ScratchDirectory&) = delete;
  ScratchDirectory& operator=(const ScratchDirectory&) = delete;

 private:
  std::filesystem::path path_;
  Descriptor lock_;
};

/// Removes WORKSPACE/JOB/tunespace/scratch of jobs that no process works on any more; what cannot be removed stays.
void remove_abandoned_scratch(const std::filesystem::path& workspace);

}  // namespace aoe::api
