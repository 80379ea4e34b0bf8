// Lanes over the borders of groups: each lane sums up every input channel of its own group once, whatever the widths.
#include "compiler/conv/group_lanes.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <set>

#include "tests/compiler/impl_check.h"
#include "tests/compiler/machine_code.h"

namespace aoe::compiler {
namespace {

struct Widths {
  std::int64_t groups, in, out;  ///< of a group
};

ConvShape shape_of(const Widths& w) {
  ConvShape shape;
  shape.groups = w.groups;
  shape.in_channels = w.groups * w.in;
  shape.out_channels = w.groups * w.out;
  return shape;
}

/// The group that lane `lane` of a vector reads, counted from the block's first.
std::int64_t group_of(const VectorLanes& vector, std::int64_t lane) {
  std::int64_t group = 0;
  for (const LaneRun& run : vector.runs)
    if (run.lane <= lane) group = run.group;
  return group;
}

std::size_t kind_of(const GroupLanes& lanes, std::int64_t block) {
  return lanes.kind_of()[static_cast<std::size_t>(block) % lanes.kind_of().size()];
}

/// Every lane of every block belongs to the group of its channel.
void expect_own_groups(const ConvShape& s, const GroupLanes& lanes, int width,
                       std::int64_t vectors) {
  std::vector<std::int64_t> blocks(lanes.kinds().size());  // by kind
  for (std::int64_t block = 0; block * vectors * width < s.out_channels; ++block) {
    const std::int64_t first = block * vectors * width;
    const std::size_t kind = kind_of(lanes, block);
    ++blocks[kind];
    for (std::int64_t i = 0; i < vectors * width; ++i) {
      const std::int64_t channel = std::min(first + i, s.out_channels - 1);
      const VectorLanes& vector = lanes.kinds()[kind].vectors[static_cast<std::size_t>(i / width)];
      EXPECT_EQ(first / s.group_out_channels() + group_of(vector, i % width),
                channel / s.group_out_channels())
          << "lane " << i << " of block " << block;
    }
  }
  for (std::size_t kind = 0; kind < blocks.size(); ++kind) {
    EXPECT_EQ(lanes.kinds()[kind].blocks, blocks[kind]);
    EXPECT_LE(blocks[kind], blocks[0]);
  }
}

/// What a permuted vector's lanes find at each step is what the weights are packed for.
void expect_own_channels(const ConvShape& s, const GroupLanes& lanes, const VectorLanes& vector,
                         int width, std::int64_t first_input, std::int64_t first_output) {
  const std::int64_t from = first_input - vector.phase;
  std::vector<std::set<std::int64_t>> seen(static_cast<std::size_t>(width));
  for (std::int64_t step = 0; step < s.group_in_channels(); ++step) {
    const std::vector<int> sources = lanes.sources_of_lanes(vector, step - step % lanes.unit());
    const std::vector<int> moved = lanes.lanes_in_unit(step);
    for (std::int64_t lane = 0; lane < width; ++lane) {
      const std::int64_t output = first_output + lane;
      if (output >= s.out_channels) continue;
      const int source = sources[static_cast<std::size_t>(moved[static_cast<std::size_t>(lane)])];
      EXPECT_LT(source, lanes.sources(vector) * width);
      const std::int64_t channel = lanes.channel(output % s.group_out_channels(), step);
      EXPECT_EQ(from + source, output / s.group_out_channels() * s.group_in_channels() + channel)
          << "step " << step << " of output channel " << output;
      EXPECT_TRUE(seen[static_cast<std::size_t>(lane)].insert(channel).second);
    }
  }
}

void check(const Widths& widths, Format in, int width, std::int64_t vectors) {
  SCOPED_TRACE(std::to_string(widths.groups) + " groups of " + std::to_string(widths.in) + " to " +
               std::to_string(widths.out) + ", " + std::to_string(vectors) + " vectors of " +
               std::to_string(width));
  const ConvShape s = shape_of(widths);
  const GroupLanes lanes(s, in, width, vectors);
  expect_own_groups(s, lanes, width, vectors);
  if (!lanes.is_permuted()) return;
  for (std::int64_t vector = 0; vector * width < s.out_channels; ++vector) {
    const BlockLanes& block = lanes.kinds()[kind_of(lanes, vector / vectors)];
    const std::int64_t output = vector * width;
    expect_own_channels(s, lanes, block.vectors[static_cast<std::size_t>(vector % vectors)], width,
                        output / s.group_out_channels() * s.group_in_channels(), output);
  }
}

TEST(GroupLanes, EachLaneSumsUpItsOwnGroup) {
  for (const Format in : {Format::kNHWC, Format::kNC1HWC0}) {
    for (const int width : {8, 16}) {
      for (const Widths widths : {Widths{1, 5, 40},
                                  {32, 4, 4},
                                  {3, 8, 8},
                                  {20, 3, 3},
                                  {4, 17, 17},
                                  {4, 68, 68},
                                  {8, 4, 8},
                                  {8, 12, 4},
                                  {5, 2, 10},
                                  {16, 1, 3}})
        check(widths, in, width, 1);
    }
  }
}

TEST(GroupLanes, OfAnyWidths) {
  constexpr unsigned kSeed = 5;
  std::mt19937 random(kSeed);
  const auto below = [&](std::int64_t n) { return static_cast<std::int64_t>(random() % n); };
  for (int i = 0; i < 300; ++i) {
    const Widths widths{.groups = 1 + below(12), .in = 1 + below(20), .out = 1 + below(40)};
    check(widths, below(2) == 0 ? Format::kNHWC : Format::kNC1HWC0, below(2) == 0 ? 8 : 16,
          1 + below(5));
  }
}

TEST(GroupLanes, PermutesWhatFewVectorsHold) {
  EXPECT_TRUE(is_permuted(shape_of({32, 4, 4}), Format::kNHWC, 16));
  EXPECT_TRUE(is_permuted(shape_of({4, 12, 12}), Format::kNHWC, 16));
  EXPECT_TRUE(is_permuted(shape_of({4, 12, 12}), Format::kNC1HWC0, 16));
  EXPECT_FALSE(is_permuted(shape_of({32, 4, 4}), Format::kNCHW, 16));
  EXPECT_FALSE(is_permuted(shape_of({32, 16, 16}), Format::kNHWC, 16));
  EXPECT_FALSE(is_permuted(shape_of({10, 13, 13}), Format::kNHWC, 16));
  EXPECT_FALSE(is_permuted(shape_of({8, 16, 4}), Format::kNHWC, 16));
  ConvShape shuffled = shape_of({4, 4, 4});
  shuffled.input_shuffle = 4;
  EXPECT_FALSE(is_permuted(shuffled, Format::kNHWC, 16));
}

/// Groups had been told apart by zero weights, and zero times a NaN is one.
TEST(GroupLanes, NaNsStayInTheirGroup) {
  for (const char* text : {"Conv2D in=1x16x4x5 in=16x4x3x3:const group=4 pads=[1,1,1,1]",
                           "Conv2D in=1x40x4x5 in=40x20x1x1:const group=2"}) {
    ShapeLine line = parse_shape_line(text);
    const Tensor x = line.inputs[0]->view();
    const auto group = x.elements() / line.task.anchor().attrs.get_int("group", 1);
    std::fill_n(x.as<float>(), group, std::numeric_limits<float>::quiet_NaN());
    for (const Soc& soc : loopnest::planned_socs(false))
      check_impl(*impls().find("direct"), line, soc);
  }
}

}  // namespace
}  // namespace aoe::compiler
