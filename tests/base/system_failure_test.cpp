// Which exceptions are the system's: they end a program with exit code 1, and are no bugs.
#include "base/system_failure.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <system_error>

namespace aoe {
namespace {

TEST(SystemFailure, ThreadsAndFilesAreTheSystems) {
  const auto denied = std::make_error_code(std::errc::permission_denied);
  EXPECT_TRUE(is_system_failure(std::filesystem::filesystem_error("status", "/root/x", denied)));
  EXPECT_TRUE(is_system_failure(
      std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again))));
  EXPECT_FALSE(is_system_failure(std::system_error(denied)));
  EXPECT_FALSE(is_system_failure(std::logic_error("a bug")));
}

}  // namespace
}  // namespace aoe
