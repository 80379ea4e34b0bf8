// Sizes that do not fit, memory that is not there, documents that nest too deeply.
#include "base/size.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>

#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/nesting.h"
#include "tests/temp_dir.h"

namespace aoe {
namespace {

constexpr std::int64_t kHuge = std::int64_t{1} << 40;

TEST(Size, ProductsAndSumsDoNotWrap) {
  EXPECT_EQ(checked_product(1 << 20, 1 << 20), std::int64_t{1} << 40);
  EXPECT_EQ(checked_product(kUnknownDim, kHuge), kUnknownDim);
  EXPECT_EQ(checked_sum(kHuge, -5), kHuge - 5);
  EXPECT_THROW((void)checked_product(kHuge, 1 << 9), Error);
  EXPECT_THROW((void)checked_product(INT64_MAX, 2), Error);
  EXPECT_THROW((void)checked_product(INT64_MIN, 0), Error);
  EXPECT_THROW((void)checked_sum(INT64_MAX, 1), Error);
  EXPECT_THROW((void)checked_sum(kMostBytes, 1), Error);
}

TEST(Size, NothingIsLargerThan2To48Bytes) {
  check_size({DataType::kFloat, {1 << 23, 1 << 23}, Format::kND}, "t");
  check_size({DataType::kFloat, {kUnknownDim, kHuge}, Format::kND}, "t");
  const TensorDesc refused[] = {
      {DataType::kFloat, {1 << 24, 1 << 23}, Format::kND},
      {DataType::kInt8, {INT64_MAX, INT64_MAX}, Format::kND},
      {DataType::kFloat, {0, kHuge, kHuge}, Format::kND},  // its strides would wrap
      {DataType::kFloat, {-2}, Format::kND},
      {DataType::kFloat, Shape(kMostRank + 1, 1), Format::kND},
  };
  for (const TensorDesc& desc : refused) {
    try {
      check_size(desc, "tensor 't'");
      ADD_FAILURE() << to_string(desc);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::kModel);
      EXPECT_EQ(error.where(), "tensor 't'");
    }
  }
}

TEST(Size, CountsAndBytesKeepToIt) {
  EXPECT_EQ(element_count({kHuge, 0, kHuge}), 0);
  EXPECT_EQ(element_count({kHuge, kHuge, kUnknownDim}), kUnknownDim);
  EXPECT_THROW((void)element_count({kHuge, kHuge}), Error);
  EXPECT_THROW((void)storage_bytes({DataType::kDouble, {kMostBytes / 4}, Format::kND}), Error);
  // Padded to blocks of 16 channels it is 16 times as large.
  EXPECT_THROW(
      (void)storage_bytes({DataType::kFloat, {1, 1, 1 << 22, 1 << 22}, Format::kNC1HWC0, 16}),
      Error);
}

class Memory : public testing::Test {
 protected:
  void write(const std::string& path, const std::string& text) {
    std::filesystem::create_directories((root_.path() / path).parent_path());
    write_file_atomically(root_.path() / path, text);
  }
  /// Without page tables and what processors have in stock, or the last MiB before the limit kills.
  static std::uint64_t of_cgroup(std::uint64_t left) { return left - (1 << 20) - left / 512; }
  tests::TempDir root_;
};

TEST_F(Memory, IsWhatTheMachineHas) {
  write("proc/meminfo", "MemTotal:  99 kB\nMemFree: 1 kB\nMemAvailable:     2048 kB\n");
  EXPECT_EQ(available_memory_bytes(root_.path()), 2048u * 1024);
}

TEST_F(Memory, IsWhatTheTightestCgroupLeaves) {
  write("proc/meminfo", "MemAvailable: 1000000 kB\n");
  write("proc/self/cgroup", "0::/a/b\n");
  write("sys/fs/cgroup/a/memory.max", "50000000\n");
  write("sys/fs/cgroup/a/memory.current", "30000000\n");
  write("sys/fs/cgroup/a/memory.stat", "anon 1000\ninactive_file 4000000\nactive_file 1000000\n");
  write("sys/fs/cgroup/a/b/memory.max", "max\n");
  write("sys/fs/cgroup/a/b/memory.current", "30000000\n");
  EXPECT_EQ(available_memory_bytes(root_.path()), of_cgroup(25'000'000));
  write("sys/fs/cgroup/a/b/memory.max", "40000000\n");
  EXPECT_EQ(available_memory_bytes(root_.path()), of_cgroup(10'000'000));
  write("sys/fs/cgroup/a/b/memory.max", "30500000\n");
  EXPECT_EQ(available_memory_bytes(root_.path()), 0u);
}

TEST_F(Memory, IsWhatACgroupOfVersion1Leaves) {
  write("proc/meminfo", "MemAvailable: 1000000 kB\n");
  write("proc/self/cgroup", "5:cpu:/x\n4:memory:/of/the/host\n");
  write("sys/fs/cgroup/memory/memory.limit_in_bytes", "70000000\n");
  write("sys/fs/cgroup/memory/memory.usage_in_bytes", "60000000\n");
  EXPECT_EQ(available_memory_bytes(root_.path()), of_cgroup(10'000'000));
}

TEST_F(Memory, IsWhatTheAddressSpaceLeaves) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_AS, &before), 0);
  rlimit limit = before;
  limit.rlim_cur = std::uint64_t{1} << 45;
  ASSERT_EQ(::setrlimit(RLIMIT_AS, &limit), 0);
  write("proc/self/statm", "3 2 1 0 0 0 0\n");
  const std::uint64_t left = available_memory_bytes(root_.path());
  ::setrlimit(RLIMIT_AS, &before);
  EXPECT_EQ(left, limit.rlim_cur - 3 * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)));
}

TEST_F(Memory, HasNoLimitWhereNothingSaysSo) {
  EXPECT_EQ(available_memory_bytes(root_.path()), UINT64_MAX);
}

TEST_F(Memory, IsAskedBeforeLargeBlocksAreAllocated) {
  check_memory(1 << 20, "a little");
  try {
    check_memory(std::uint64_t{1} << 47, "the weights");
    FAIL() << "this machine has 128 TiB";
  } catch (const OutOfMemory& error) {
    EXPECT_EQ(std::string(error.what()).find("the weights: needs 131072.0 GiB of memory, "), 0u)
        << error.what();
  }
  EXPECT_THROW(Constant(TensorDesc{DataType::kFloat, {1 << 22, 1 << 22}, Format::kND}),
               OutOfMemory);
}

std::string repeated(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

TEST(Nesting, OfJson) {
  EXPECT_TRUE(nests_little_json(R"({"a": [1, {"b": "[[[[{{{{\"[["}]})"));
  EXPECT_TRUE(nests_little_json(repeated("[]", 100000)));
  EXPECT_TRUE(nests_little_json(repeated("[", kDeepestDocument)));
  EXPECT_FALSE(nests_little_json(repeated("[", kDeepestDocument + 1)));
  EXPECT_FALSE(nests_little_json(repeated(R"({"a":)", 1000000)));
  EXPECT_TRUE(nests_little_json("\"\\"));  // ends within an escape
}

TEST(Nesting, OfCbor) {
  EXPECT_TRUE(nests_little_cbor(""));
  EXPECT_TRUE(
      nests_little_cbor("\xa1\x61\x61\x83\x01\x02\x43\x81\x81\x81"));  // {"a": [1, 2, bytes]}
  EXPECT_TRUE(nests_little_cbor(repeated("\x81\x80", 50000)));         // items behind each other
  EXPECT_TRUE(nests_little_cbor(repeated("\x9f\xff", 50000)));
  EXPECT_TRUE(nests_little_cbor(repeated("\xa0\x80", 50000)));
  EXPECT_FALSE(nests_little_cbor(repeated("\x81", 1000000)));          // [[[...
  EXPECT_FALSE(nests_little_cbor(repeated("\x9f", 1000000)));          // of indefinite length
  EXPECT_FALSE(nests_little_cbor(repeated("\xa1\x61\x61", 1000000)));  // {"a": {"a": ...
  EXPECT_FALSE(nests_little_cbor(repeated("\xc1", 1000000)));          // tags of tags
  EXPECT_FALSE(nests_little_cbor(repeated("\x7f", 1000000)));          // strings in strings
  EXPECT_FALSE(nests_little_cbor(repeated("\x5f", 2)));
  EXPECT_TRUE(nests_little_cbor("\x5f\x41\x7f\x41\x7f\xff"));  // pieces that only look so
  EXPECT_TRUE(
      nests_little_cbor(std::string("\x5b\xff\xff\xff\xff\xff\xff\xff\xff", 9)));  // cut off
  EXPECT_TRUE(nests_little_cbor(std::string("\x9b\xff\xff\xff\xff\xff\xff\xff\xff", 9)));
}

}  // namespace
}  // namespace aoe
