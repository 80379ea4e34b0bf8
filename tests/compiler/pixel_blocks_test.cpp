// Blocks of window outputs against the definition: a tap is inside when the element it reads exists.
#include "compiler/conv/pixel_blocks.h"

#include <gtest/gtest.h>

#include <random>

namespace aoe::compiler {
namespace {

WindowAxis random_axis(std::mt19937& random) {
  const auto up_to = [&](std::int64_t limit) {
    return static_cast<std::int64_t>(random() % static_cast<unsigned>(limit)) + 1;
  };
  WindowAxis axis{.input = up_to(20), .kernel = up_to(5), .stride = up_to(3), .dilation = up_to(3)};
  axis.pad_begin = up_to(8) - 1;
  axis.output = up_to(25);  // any number: windows wholly outside the input are legal
  return axis;
}

bool is_read(const WindowAxis& axis, std::int64_t output, std::int64_t tap) {
  const std::int64_t at = output * axis.stride - axis.pad_begin + tap * axis.dilation;
  return at >= 0 && at < axis.input;
}

TEST(PixelBlocks, TapsAreThoseThatReadTheInput) {
  std::mt19937 random(1);
  for (int trial = 0; trial < 2000; ++trial) {
    const WindowAxis axis = random_axis(random);
    const auto block = static_cast<std::int64_t>(random() % 9) + 1;
    std::int64_t next = 0;
    for (const AxisSegment& segment : segments(axis, block)) {
      ASSERT_EQ(segment.first, next) << "segments leave no gap";
      for (; next < segment.end(); ++next) {
        const TapRange& range =
            segment.taps[static_cast<std::size_t>((next - segment.first) % segment.size)];
        for (std::int64_t tap = 0; tap < axis.kernel; ++tap) {
          ASSERT_EQ(range.begin <= tap && tap < range.end, is_read(axis, next, tap))
              << "in " << axis.input << " kernel " << axis.kernel << " stride " << axis.stride
              << " dilation " << axis.dilation << " pad " << axis.pad_begin << " output " << next
              << " tap " << tap;
        }
      }
    }
    ASSERT_EQ(next, axis.output);
  }
}

TEST(PixelBlocks, InnerBlocksShareOneSegment) {
  const WindowAxis axis{.input = 56, .output = 56, .kernel = 3, .pad_begin = 1};
  const auto found = segments(axis, 14);
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[1].count, 2);
}

TEST(PixelBlocks, TapRunsCoverEachTapOnceWithItsOutputs) {
  std::mt19937 random(2);
  for (int trial = 0; trial < 500; ++trial) {
    const WindowAxis axis = random_axis(random);
    const AxisSegment segment = segments(axis, 6).front();
    std::int64_t next = 0;
    for (const TapRun& run : tap_runs(segment.taps, axis.kernel)) {
      ASSERT_EQ(run.first, next);
      for (; next < run.end; ++next) {
        ASSERT_EQ(run.outputs, outputs_with_tap(segment.taps, next));
      }
    }
    ASSERT_EQ(next, axis.kernel);
  }
}

}  // namespace
}  // namespace aoe::compiler
