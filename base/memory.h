// How much memory this process can still have, asked before large blocks are allocated: a machine that swaps, or a
// container whose cgroup kills, is worse than a line that says how much is missing.
#pragma once

#include <cstdint>
#include <filesystem>
#include <new>
#include <string>

namespace aoe {

/// What std::bad_alloc is, said with figures.
class OutOfMemory : public std::bad_alloc {
 public:
  explicit OutOfMemory(std::string text) : text_(std::move(text)) {}
  const char* what() const noexcept override { return text_.c_str(); }

 private:
  std::string text_;
};

/// Bytes: the least of what the kernel calls available (MemAvailable), what the cgroups of this process (version 2 and 1,
/// all levels that are visible) and `ulimit -v` leave. The largest number when none of them can be read.
std::uint64_t available_memory_bytes();

/// The same where `root` stands for "/": for tests.
std::uint64_t available_memory_bytes(const std::filesystem::path& root);

/// Throws OutOfMemory when `bytes` are more than there is; `what` needs them ("a tensor of float32 1x3"). Blocks below
/// 64 MiB are only added up: the kernel is asked when they are together an eighth of what it had, or as many. Linux hands
/// out pages when they are touched: nothing is reserved by asking.
void check_memory(std::uint64_t bytes, const std::string& what);

}  // namespace aoe
