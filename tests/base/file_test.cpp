// Files appear whole or not at all.
#include "base/file.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace aoe
