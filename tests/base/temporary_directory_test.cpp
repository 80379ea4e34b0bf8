#include "base/temporary_directory.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "base/error.h"

namespace aoe {
namespace {
namespace fs = std::filesystem;

TEST(TemporaryDirectory, GoesWithAllThatIsInItAlsoWhenSomethingIsThrown) {
  fs::path path;
  try {
    const TemporaryDirectory directory("stem");
    path = directory.path();
    EXPECT_TRUE(path.filename().string().starts_with("stem-"));
    EXPECT_EQ(fs::status(path).permissions(), fs::perms::owner_all);
    fs::create_directory(path / "inner");
    std::ofstream(path / "inner/file") << "x";
    throw Error(ExitCode::kFailure, "what a benchmark meets");
  } catch (const Error&) {
  }
  EXPECT_FALSE(fs::exists(path));
}

TEST(TemporaryDirectory, SaysThatTmpdirIsNoDirectory) {
  const char* before = std::getenv("TMPDIR");
  const std::string kept = before == nullptr ? "" : before;
  ::setenv("TMPDIR", "/proc/self/exe", 1);
  try {
    const TemporaryDirectory directory("stem");
    ADD_FAILURE() << "made in a file";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ExitCode::kOutput);
    EXPECT_NE(std::string(e.what()).find("TMPDIR"), std::string::npos) << e.what();
  }
  before == nullptr ? ::unsetenv("TMPDIR") : ::setenv("TMPDIR", kept.c_str(), 1);
}

}  // namespace
}  // namespace aoe
