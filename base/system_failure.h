// What the system refuses, a thread or a look at a file: a user's to mend, no bug.
#pragma once

#include <exception>
#include <filesystem>

#include "base/thread_lack.h"

namespace aoe {

inline bool is_system_failure(const std::exception& thrown) {
  return is_lack_of_threads(thrown) ||
         dynamic_cast<const std::filesystem::filesystem_error*>(&thrown) != nullptr;
}

}  // namespace aoe
