// Reads /proc/meminfo, /proc/self/cgroup and the files of the cgroups.
#include "base/memory.h"

#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <fstream>
#include <limits>
#include <sstream>

namespace aoe {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kUnlimited = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint64_t kAskedFrom = std::uint64_t{64} << 20;

std::uint64_t available_of_machine(const fs::path& root) {
  std::ifstream in(root / "proc/meminfo");
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::string key;
    std::uint64_t kilobytes = 0;
    if (words >> key >> kilobytes && key == "MemAvailable:") return kilobytes * 1024;
  }
  return kUnlimited;
}

/// "max", and what is missing, is no limit.
std::uint64_t number_in(const fs::path& file) {
  std::ifstream in(file);
  std::uint64_t number = 0;
  return in >> number ? number : kUnlimited;
}

/// What a version of cgroups calls its files, and its keys in memory.stat.
struct CgroupWords {
  const char* limit;
  const char* used;
  std::array<std::string_view, 2> caches;
};

constexpr CgroupWords kVersion1 = {
    "memory.limit_in_bytes", "memory.usage_in_bytes", {"total_inactive_file", "total_active_file"}};
constexpr CgroupWords kVersion2 = {
    "memory.max", "memory.current", {"inactive_file", "active_file"}};

/// What files of `directory` and of those above it, up to `top`, leave. File caches count as used there, but are given
/// up before anything is killed, those lately used as well: a model that was read twice is one.
std::uint64_t left_in(fs::path directory, const fs::path& top, const CgroupWords& words) {
  std::uint64_t least = kUnlimited;
  while (true) {
    const std::uint64_t most = number_in(directory / words.limit);
    const std::uint64_t now = number_in(directory / words.used);
    if (most != kUnlimited && now != kUnlimited) {
      std::uint64_t cache = 0;
      std::ifstream stat(directory / "memory.stat");
      std::string key;
      for (std::uint64_t value = 0; stat >> key >> value;)
        if (std::ranges::find(words.caches, key) != words.caches.end()) cache += value;
      const std::uint64_t taken = now - std::min(now, cache);
      least = std::min(least, most - std::min(most, taken));
    }
    if (directory == top || !directory.has_relative_path()) return least;
    directory = directory.parent_path();
  }
}

/// A cgroup pays for page tables as well (8 bytes for each 4096), and for pages that each processor has in stock.
std::uint64_t without_the_kernels_own(std::uint64_t left) {
  constexpr std::uint64_t kStock = 1 << 20, kPageByTableByte = 512;
  return left - std::min(left, kStock + left / kPageByTableByte);
}

std::uint64_t left_by_cgroups(const fs::path& root) {
  std::uint64_t least = kUnlimited;
  std::ifstream in(root / "proc/self/cgroup");
  for (std::string line; std::getline(in, line);) {  // "0::/path", "9:memory:/path"
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const fs::path path = fs::path(line.substr(second + 1)).relative_path();
    const auto ask = [&](const fs::path& top, const CgroupWords& words) {
      // In a container the path is often that of the host, which is not to be seen here: then the top is the limit.
      for (const fs::path& directory : {top / path, top})
        least = std::min(least, left_in(directory.lexically_normal(), top, words));
    };
    if (controllers.empty())
      ask(root / "sys/fs/cgroup", kVersion2);
    else if (controllers.find("memory") != std::string::npos)
      ask(root / "sys/fs/cgroup/memory", kVersion1);
  }
  return least == kUnlimited ? kUnlimited : without_the_kernels_own(least);
}

/// Of the address space, which `ulimit -v` bounds.
std::uint64_t left_by_limit(const fs::path& root) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return kUnlimited;
  const std::uint64_t pages = number_in(root / "proc/self/statm");
  if (pages == kUnlimited) return kUnlimited;
  const std::uint64_t taken = pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  return limit.rlim_cur - std::min<std::uint64_t>(limit.rlim_cur, taken);
}

std::string text_of(std::uint64_t bytes) {
  constexpr std::uint64_t kGib = 1 << 30, kMib = 1 << 20;
  char text[32];
  if (bytes < kGib)
    std::snprintf(text, sizeof text, "%.0f MiB", static_cast<double>(bytes) / kMib);
  else
    std::snprintf(text, sizeof text, "%.1f GiB", static_cast<double>(bytes) / kGib);
  return text;
}

}  // namespace

std::uint64_t available_memory_bytes(const fs::path& root) {
  return std::min({available_of_machine(root), left_by_cgroups(root), left_by_limit(root)});
}

std::uint64_t available_memory_bytes() {
  return available_memory_bytes("/");
}

namespace {

/// What may still be allocated in smaller blocks before the kernel is asked again. It is asked the more often the less there is.
std::atomic<std::int64_t> unasked_bytes{0};

constexpr std::uint64_t kShareUnasked = 8;

/// Of smaller blocks the address space says nothing: the allocator has some of it left from earlier ones.
std::uint64_t available_for(std::uint64_t bytes) {
  return bytes < kAskedFrom ? std::min(available_of_machine("/"), left_by_cgroups("/"))
                            : available_memory_bytes();
}

}  // namespace

void check_memory(std::uint64_t bytes, const std::string& what) {
  if (bytes < kAskedFrom) {
    const auto taken = static_cast<std::int64_t>(bytes);
    if (unasked_bytes.fetch_sub(taken) >= taken) return;
  }
  std::uint64_t available = available_for(bytes);
  if (bytes > available) {
    ::malloc_trim(0);  // what the allocator holds free is the kernel's again then
    available = available_for(bytes);
  }
  if (bytes > available)
    throw OutOfMemory(what + ": needs " + text_of(bytes) + " of memory, " + text_of(available) +
                      " are available; use a larger machine, or raise the limit of the container");
  unasked_bytes =
      static_cast<std::int64_t>(std::min(kAskedFrom, (available - bytes) / kShareUnasked));
}

}  // namespace aoe
