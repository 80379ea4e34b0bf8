// What passes the wall, and what does not.
#include "base/memory_wall.h"

#include <gtest/gtest.h>

#include <csignal>
#include <stdexcept>
#include <system_error>

namespace aoe {
namespace {

TEST(MemoryWallDeathTest, EndsTheProcessWhereMemoryRunsOut) {
  EXPECT_EXIT(behind_memory_wall([] { throw std::bad_alloc(); }), testing::KilledBySignal(SIGABRT),
              "bad_alloc");
}

TEST(MemoryWallDeathTest, EndsTheProcessWhereNoThreadIsToBeHad) {
  const auto start_none = [] {
    throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again));
  };
  EXPECT_EXIT(behind_memory_wall(start_none), testing::KilledBySignal(SIGABRT), "unavailable");
}

TEST(MemoryWall, LetsResultsAndOtherExceptionsPass) {
  EXPECT_EQ(behind_memory_wall([] { return 7; }), 7);
  EXPECT_THROW(behind_memory_wall([] { throw std::runtime_error("no"); }), std::runtime_error);
}

}  // namespace
}  // namespace aoe
