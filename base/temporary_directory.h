// TemporaryDirectory: a place of one's own for files that nobody needs afterwards.
#pragma once

#include <filesystem>
#include <string_view>

namespace aoe {

/// Made new below TMPDIR, and removed at the end with all that is in it, also when something is thrown meanwhile.
class TemporaryDirectory {
 public:
  /// `stem`: what its name begins with, for whoever finds one that a killed process has left. Throws Error(kOutput).
  explicit TemporaryDirectory(std::string_view stem);
  ~TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace aoe
