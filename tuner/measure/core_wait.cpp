// Reads /proc/PID/task/*/schedstat: time on a core, time waiting for one, time slices.
#include "tuner/measure/core_wait.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <string>
#include <vector>

namespace aoe::tuner {

namespace {

std::vector<std::uint64_t> waits_of_threads(const std::string& process) {
  std::vector<std::uint64_t> waits;
  std::error_code status;
  for (const auto& task :
       std::filesystem::directory_iterator("/proc/" + process + "/task", status)) {
    std::ifstream file(task.path() / "schedstat");
    std::uint64_t on_core_ns = 0;
    std::uint64_t waiting_ns = 0;
    if (file >> on_core_ns >> waiting_ns) waits.push_back(waiting_ns);
  }
  return waits;
}

}  // namespace

std::uint64_t core_wait_ns() {
  const std::vector<std::uint64_t> waits = waits_of_threads("self");
  return std::accumulate(waits.begin(), waits.end(), std::uint64_t{0});
}

std::uint64_t longest_core_wait_ns(pid_t process) {
  const std::vector<std::uint64_t> waits = waits_of_threads(std::to_string(process));
  return waits.empty() ? 0 : std::ranges::max(waits);
}

}  // namespace aoe::tuner
