// The documented priority of bank paths.
#include "bank/location.h"

#include <gtest/gtest.h>
#include <pwd.h>
#include <unistd.h>

#include <cstdlib>

#include "base/error.h"
#include "tests/temp_dir.h"

namespace aoe::bank {
namespace {
namespace fs = std::filesystem;

class Location : public ::testing::Test {
 protected:
  std::string made(const std::string& name) {
    fs::create_directories(temp_ / name);
    return (temp_ / name).string();
  }
  tests::TempDir temp_;
};

TEST_F(Location, DefaultIsBelowHome) {
  const fs::path home = made("home");
  const auto op = custom_bank_location(BankKind::kOp, BankUse::kTune, "soc-2t", {.home = home});
  EXPECT_EQ(op.directory, home / "Ascend/latest/data/aoe/custom/op/soc-2t");
  EXPECT_EQ(op.chosen_by, "default");
  const auto graph =
      custom_bank_location(BankKind::kGraph, BankUse::kTune, "soc-2t", {.home = home});
  EXPECT_EQ(graph.directory, home / "Ascend/latest/data/aoe/custom/graph/soc-2t");
}

TEST_F(Location, AHomeThatIsNotThereIsNotMade) {
  const BankEnvironment environment{.home = temp_ / "absent"};
  try {
    custom_bank_location(BankKind::kOp, BankUse::kTune, "s", environment);
    FAIL() << "accepted a home that does not exist";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ExitCode::kBank);
    EXPECT_NE(std::string(e.what()).find("the user's home is no directory that exists"),
              std::string::npos);
  }
  const auto read = custom_bank_location(BankKind::kOp, BankUse::kRead, "s", environment);
  EXPECT_EQ(read.chosen_by, "default");  // who reads finds an empty bank
}

TEST_F(Location, WithoutHomeItIsTheUsersAndNotTheWorkingDirectory) {
  const char* const set = std::getenv("HOME");
  const std::string before = set == nullptr ? "" : set;
  ::setenv("HOME", "/from/variable", 1);
  EXPECT_EQ(BankEnvironment::from_process().home, "/from/variable");
  const passwd* const user = ::getpwuid(::getuid());
  const std::string expected = user == nullptr ? "/nonexistent" : user->pw_dir;
  ::setenv("HOME", "", 1);
  EXPECT_EQ(BankEnvironment::from_process().home, expected);
  ::unsetenv("HOME");
  EXPECT_EQ(BankEnvironment::from_process().home, expected);
  if (set != nullptr) ::setenv("HOME", before.c_str(), 1);
}

TEST_F(Location, PriorityOfEachKind) {
  const BankEnvironment all{made("tune"), made("cache"), made("home"), {}};
  const std::string flag = made("flag");
  struct Case {
    const char* name;
    BankKind kind;
    bool tune, cache, flag;
    const char* winner;
  };
  const Case cases[] = {
      {"op: variable over flag", BankKind::kOp, true, true, true, "TUNE_BANK_PATH"},
      {"op: flag over cache", BankKind::kOp, false, true, true, "--op_bank_path"},
      {"op: cache over default", BankKind::kOp, false, true, false, "ASCEND_CACHE_PATH"},
      {"graph: flag over variable", BankKind::kGraph, true, true, true, "--mdl_bank_path"},
      {"graph: variable over cache", BankKind::kGraph, true, true, false, "TUNE_BANK_PATH"},
      {"graph: cache over default", BankKind::kGraph, false, true, false, "ASCEND_CACHE_PATH"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    BankEnvironment environment = all;
    if (!c.tune) environment.tune_bank_path.reset();
    if (!c.cache) environment.ascend_cache_path.reset();
    EXPECT_EQ(custom_bank_location(c.kind, BankUse::kTune, "s", environment, c.flag ? flag : "")
                  .chosen_by,
              c.winner);
  }
}

TEST_F(Location, CachePathHoldsTheBankUnderAoeData) {
  const std::string cache = made("cache");
  const auto found = custom_bank_location(BankKind::kOp, BankUse::kTune, "s",
                                          {.ascend_cache_path = cache, .home = "/h"});
  EXPECT_EQ(found.directory, fs::path(cache) / "aoe_data/op/s");
}

TEST_F(Location, NamedRootMustExist) {
  const BankEnvironment environment{(temp_ / "absent").string(), {}, "/h", {}};
  try {
    custom_bank_location(BankKind::kOp, BankUse::kTune, "s", environment);
    FAIL() << "accepted a root that does not exist";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ExitCode::kBank);
    EXPECT_NE(std::string(e.what()).find("TUNE_BANK_PATH"), std::string::npos);
  }
}

TEST_F(Location, BuiltInBankIsOptional) {
  EXPECT_FALSE(built_in_bank_location(BankKind::kOp, "s", {.home = "/h"}));
  fs::create_directories(temp_ / "built_in/op/s");
  const auto found = built_in_bank_location(BankKind::kOp, "s",
                                            {.home = "/h", .built_in_root = temp_ / "built_in"});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->directory, temp_ / "built_in/op/s");
}

}  // namespace
}  // namespace aoe::bank
