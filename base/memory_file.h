// A file in memory: nothing of it can be left behind, and no directory needs to take it. Libraries that want a path get the one that
// /proc has for it.
#pragma once

#include <string>

#include "base/descriptor.h"

namespace aoe {

/// Empty, for reading and writing. Not open: errno says why.
Descriptor make_memory_file(const char* name);

/// For this process, while the file is open.
std::string path_in_proc(const Descriptor& file);

}  // namespace aoe
