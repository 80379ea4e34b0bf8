// DirectoryFlag: -dir DIR, the one flag that the tooling writes with a single dash.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tools/common/tool.h"

namespace aoe::tools {

/// Turns "-dir" of a command line into "--dir", which flags understand; lives as long as argv() is
/// used.
class DirectoryFlag {
 public:
  DirectoryFlag(int argc, char** argv);
  int argc() const { return static_cast<int>(pointers_.size()) - 1; }
  char** argv() { return pointers_.data(); }

  /// --dir, of which the next word of the program may be the value, and --collection-dir.
  static void declare(Tool& tool);
  /// The profiling directories meant. Throws Error.
  static std::vector<std::filesystem::path> directories(const po::variables_map& flags);

 private:
  std::vector<std::string> words_;
  std::vector<char*> pointers_;  ///< with a null at the end
};

}  // namespace aoe::tools
