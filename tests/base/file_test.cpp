// Files appear whole or not at all.
#include "base/file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <fstream>

#include "base/memory.h"
#include "base/new_file.h"
#include "base/temporary_directory.h"
#include "tests/temp_dir.h"

namespace aoe {
namespace {
namespace fs = std::filesystem;

std::size_t count_files(const fs::path& directory) {
  return static_cast<std::size_t>(std::distance(fs::directory_iterator(directory), {}));
}

TEST(File, RoundTripsBytes) {
  const tests::TempDir dir;
  const std::string bytes("a\0b\xff\n", 5);
  write_file_atomically(dir / "f", bytes, true);
  EXPECT_EQ(read_file(dir / "f", ExitCode::kData), bytes);
  write_file_atomically(dir / "f", "second");
  EXPECT_EQ(read_file(dir / "f", ExitCode::kData), "second");
  EXPECT_EQ(count_files(dir.path()), 1U);
}

/// Whoever wants no result names /dev/null, as root too.
TEST(File, DevicesPipesAndStreamsAreWrittenAndStay) {
  const tests::TempDir dir;
  fs::create_symlink("/dev/null", dir / "null");
  write_file_atomically(dir / "null", "x");
  EXPECT_TRUE(fs::is_symlink(dir / "null"));

  ASSERT_EQ(::mkfifo((dir / "pipe").c_str(), 0600), 0);
  EXPECT_THROW(write_file_atomically(dir / "pipe", "x"), Error) << "nobody reads from it";
  const Descriptor reader(::open((dir / "pipe").c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  write_file_atomically(dir / "pipe", "words", true);
  std::array<char, 10> read{};
  EXPECT_EQ(::read(reader.number(), read.data(), read.size()), 5);
  EXPECT_EQ(std::string(read.data()), "words");

  write_file_atomically("/proc/self/fd/1", "nothing was renamed\n");
  EXPECT_EQ(count_files(dir.path()), 2U);
}

TEST(File, NamesMayBeAsLongAsTheSystemAllows) {
  const tests::TempDir dir;
  const std::string name(255, 'n');
  write_file_atomically(dir / name, "x");
  EXPECT_EQ(read_file(dir / name, ExitCode::kData), "x");
  EXPECT_EQ(count_files(dir.path()), 1U);
}

TEST(File, FailuresNameThePathAndLeaveNothing) {
  const tests::TempDir dir;
  fs::create_directory(dir / "taken");
  for (const fs::path& target : {dir / "absent/f", dir / "taken"}) {
    try {
      write_file_atomically(target, "x");
      FAIL() << "wrote " << target;
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ExitCode::kOutput);
      EXPECT_NE(std::string(e.what()).find(target.string()), std::string::npos);
    }
  }
  EXPECT_EQ(count_files(dir.path()), 1U);
}

TEST(File, ReadingSaysWhatIsWrong) {
  const tests::TempDir dir;
  EXPECT_THROW(read_file(dir / "absent", ExitCode::kModel), Error);
  try {
    read_file(dir.path(), ExitCode::kModel);
    FAIL() << "read a directory";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ExitCode::kModel);
    EXPECT_NE(std::string(e.what()).find("directory"), std::string::npos);
  }
}

TEST(File, WhatMemoryCannotHoldIsNotRead) {
  const tests::TempDir dir;
  std::ofstream(dir / "large") << "holes";
  std::filesystem::resize_file(dir / "large", std::uintmax_t{1} << 40);
  EXPECT_THROW(read_file(dir / "large", ExitCode::kData), OutOfMemory);
}

TEST(File, APipeIsRefusedAtOnce) {
  const tests::TempDir dir;
  ASSERT_EQ(::mkfifo((dir / "pipe").c_str(), 0600), 0);  // nobody ever writes into it
  try {
    read_file(dir / "pipe", ExitCode::kModel);
    FAIL() << "read a pipe";
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("not a regular file"), std::string::npos);
  }
}

TEST(File, ReadsFilesThatClaimNoSize) {
  EXPECT_FALSE(read_file("/proc/self/status", ExitCode::kData).empty());
}

TEST(File, NewFilesHaveNamesOfTheirOwn) {
  const tests::TempDir dir;
  fs::path first, second;
  const Descriptor one = create_file_beside(dir / "f", 0600, first);
  const Descriptor other = create_file_beside(dir / "f", 0600, second);
  EXPECT_NE(first, second);
  EXPECT_EQ(first.parent_path(), dir.path());
  EXPECT_EQ(count_files(dir.path()), 2U);
  EXPECT_NE(one.number(), other.number());
}

TEST(File, WhoEndsTheProcessLeavesNothingThatIsUnfinished) {
  const tests::TempDir dir;
  const auto end_meanwhile = [&] {
    fs::path file;
    create_file_beside(dir / "file", 0600, file);
    std::ofstream(create_directory_beside(dir / "directory") / "inner") << "x";
    ::setenv("TMPDIR", dir.path().c_str(), 1);
    const TemporaryDirectory temporary("stem");
    write_file_atomically(dir / "whole", "x");
    end_without_leftovers(3);
  };
  EXPECT_EXIT(end_meanwhile(), testing::ExitedWithCode(3), "");
  EXPECT_EQ(count_files(dir.path()), 1U);
  EXPECT_TRUE(fs::exists(dir / "whole"));
}

}  // namespace
}  // namespace aoe
