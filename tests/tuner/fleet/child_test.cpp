// What is said of a program that has ended.
#include "tuner/fleet/child.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "tests/temp_dir.h"

namespace aoe::tuner {
namespace {

using tests::TempDir;

std::string end_of(const std::string& script) {
  const TempDir directory;
  Child child({"sh", "-c", script}, directory.path() / "log");
  for (;;) {
    if (const auto how = child.how_it_ended()) return *how;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

TEST(Child, EndsWithItsLastWords) {
  EXPECT_EQ(end_of("echo first; echo refused >&2; exit 3"), "exit status 3: refused");
}

TEST(Child, HasNotEndedForWhatItOnlyWarnedOf) {
  EXPECT_EQ(end_of("echo '[2026-11-27 07:14:14.116] [warning] [aoe] others measure'; kill -9 $$"),
            "Killed");
  EXPECT_EQ(end_of("echo no space; echo '[2026-11-27 07:14:14.116] [info] [fleet] on'; exit 1"),
            "exit status 1: no space");
}

}  // namespace
}  // namespace aoe::tuner
