// One dash becomes two.
#include "tools/msprof/directory_flag.h"

#include "base/error.h"
#include "profiler/database/profile_directory.h"

namespace aoe::tools {

DirectoryFlag::DirectoryFlag(int argc, char** argv) : words_(argv, argv + argc) {
  for (std::string& word : words_)
    if (word == "-dir" || word.starts_with("-dir=")) word.insert(0, 1, '-');
  for (std::string& word : words_) pointers_.push_back(word.data());
  pointers_.push_back(nullptr);
}

void DirectoryFlag::declare(Tool& tool) {
  tool.flags.add_options()("dir", text("DIR"),
                           "a JOB* or PROF_* directory, also as -dir DIR or the word alone")(
      "collection-dir", text("DIR"), "the same");
  tool.positional.add("dir", 1);
}

std::vector<std::filesystem::path> DirectoryFlag::directories(const po::variables_map& flags) {
  std::string given = text_of(flags, "dir");
  if (given.empty()) given = text_of(flags, "collection-dir");
  if (given.empty())
    throw Error(ExitCode::kUsage, "no directory given", {}, "name a JOB* or PROF_* with -dir DIR");
  return profiler::profile_directories(given);
}

}  // namespace aoe::tools
