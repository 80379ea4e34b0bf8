// Reads /proc/self/task/*/schedstat: time on a core, time waiting for one, time slices.
#include "tuner/measure/core_wait.h"

#include <filesystem>
#include <fstream>

namespace aoe::tuner {

std::uint64_t core_wait_ns() {
  std::uint64_t sum = 0;
  std::error_code status;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task", status)) {
    std::ifstream file(task.path() / "schedstat");
    std::uint64_t on_core_ns = 0;
    std::uint64_t waiting_ns = 0;
    if (file >> on_core_ns >> waiting_ns) sum += waiting_ns;
  }
  return sum;
}

}  // namespace aoe::tuner
