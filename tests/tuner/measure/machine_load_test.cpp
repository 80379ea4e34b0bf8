// The load of other programs, from texts as the kernel writes them.
#include "tuner/measure/machine_load.h"

#include <gtest/gtest.h>

namespace aoe::tuner {
namespace {

TEST(ProcessorTicks, ReadsTheLineOfAllCores) {
  const auto ticks = processor_ticks_from(
      "cpu  100 20 30 800 50 1 2 3 40 0\n"
      "cpu0 60 10 15 400 25 1 1 3 40 0\n"
      "intr 1234\n");
  ASSERT_TRUE(ticks);
  EXPECT_EQ(ticks->busy, 100 + 20 + 30 + 1 + 2 + 3);  // guests (40) are in user already
  EXPECT_EQ(ticks->total, ticks->busy + 800 + 50);
}

TEST(ProcessorTicks, OldKernelsHaveFewerColumns) {
  const auto ticks = processor_ticks_from("cpu 1 2 3 4\n");
  ASSERT_TRUE(ticks);
  EXPECT_EQ(ticks->busy, 6);
  EXPECT_EQ(ticks->total, 10);
}

TEST(ProcessorTicks, WhatIsNotThatLineIsNone) {
  for (const char* text : {"", "cpu0 1 2 3 4", "cpu", "cpu 1 2 x 4", "\ncpu 1 2 3 4"})
    EXPECT_FALSE(processor_ticks_from(text)) << text;
}

TEST(BusyCores, IsTheShareOfTheTimeBetweenTwoReadings) {
  const ProcessorTicks before{.busy = 1000, .total = 5000};
  EXPECT_DOUBLE_EQ(busy_cores(before, {.busy = 1009, .total = 5020}, 2), 0.9);
  EXPECT_DOUBLE_EQ(busy_cores(before, {.busy = 1000, .total = 5020}, 2), 0);
  EXPECT_DOUBLE_EQ(busy_cores(before, before, 2), 0);
  // Counters of a virtual machine that moved may run backwards.
  EXPECT_DOUBLE_EQ(busy_cores(before, {.busy = 990, .total = 5020}, 2), 0);
}

TEST(LoadWarning, IsSilentOnAQuietMachine) {
  EXPECT_FALSE(load_warning(0, 2));
  EXPECT_FALSE(load_warning(0.2, 2));
  EXPECT_FALSE(load_warning(1, 64));
}

TEST(LoadWarning, SaysHowMuchOthersUse) {
  EXPECT_EQ(load_warning(0.9, 2), "other programs use 0.9 of 2 cores; times will be noisy");
  EXPECT_EQ(load_warning(64, 64), "other programs use 64.0 of 64 cores; times will be noisy");
}

TEST(WatchBusyCores, GivesNoMoreThanThereAre) {
  const auto used = watch_busy_cores(std::chrono::milliseconds(20), 2);
  if (!used) GTEST_SKIP() << "no /proc/stat";
  EXPECT_GE(*used, 0);
  EXPECT_LE(*used, 2);
}

}  // namespace
}  // namespace aoe::tuner
