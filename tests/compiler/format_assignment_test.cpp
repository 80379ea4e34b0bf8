// Format assignment against brute force on random graphs.
#include "compiler/lowering/format_assignment.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>

#include "compiler/lowering/format_frontier.h"

namespace aoe::compiler {
namespace {

constexpr Format kFormats[] = {Format::kND, Format::kNHWC, Format::kNC1HWC0};

/// A node with an option per Format, in and out alike.
FormatNode node_of(std::vector<int> inputs, int output, std::vector<double> times) {
  FormatNode node{{}, std::move(inputs), {output}};
  for (std::size_t f = 0; f < times.size(); ++f)
    node.options.push_back(
        {times[f], std::vector<Format>(node.inputs.size(), kFormats[f]), {kFormats[f]}});
  return node;
}

double brute_force(const FormatProblem& problem) {
  std::vector<int> choice(problem.nodes.size(), 0);
  double least = std::numeric_limits<double>::infinity();
  for (;;) {
    least = std::min(least, total_ns(problem, choice));
    std::size_t n = 0;
    while (n < choice.size() && ++choice[n] == static_cast<int>(problem.nodes[n].options.size()))
      choice[n++] = 0;
    if (n == choice.size()) return least;
  }
}

FormatProblem random_problem(std::mt19937& random, bool is_chain) {
  FormatProblem problem;
  const int nodes = 2 + static_cast<int>(random() % 6);
  for (int n = 0; n < nodes; ++n) {
    std::vector<int> inputs = {is_chain ? n : static_cast<int>(random() % (n + 1))};
    if (!is_chain && random() % 2) inputs.push_back(static_cast<int>(random() % (n + 1)));
    std::vector<double> times;
    for (int f = 0; f < 3; ++f) times.push_back(1 + static_cast<double>(random() % 100));
    problem.nodes.push_back(node_of(inputs, n + 1, times));
  }
  problem.value_count = nodes + 1;
  problem.model_outputs = {nodes};
  problem.conversion_ns = [](int value, const Layout& from, const Layout& to) {
    EXPECT_NE(from, to);
    const double transfer = from.memory == to.memory ? 0 : 20;
    return 5.0 + transfer + 7 * value + 3 * static_cast<int>(from.format) +
           static_cast<int>(to.format);
  };
  return problem;
}

/// Options in either memory, some of which do not care how values are stored.
FormatProblem random_problem_of_two_memories(std::mt19937& random) {
  FormatProblem problem = random_problem(random, false);
  for (FormatNode& node : problem.nodes)
    for (FormatOption& option : node.options) {
      option.memory = random() % 2 == 0 ? Memory::kHost : Memory::kDevice;
      for (Format& format : option.inputs)
        if (random() % 4 == 0) format = Format::kUndefined;
      if (random() % 8 == 0) option.outputs[0] = Format::kUndefined;
    }
  return problem;
}

TEST(FormatAssignment, IsExactAcrossMemories) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  for (int i = 0; i < 500; ++i) {
    const FormatProblem problem = random_problem_of_two_memories(random);
    EXPECT_NEAR(total_ns(problem, assign_formats(problem)), brute_force(problem), 1e-9);
  }
}

/// A slow host and a fast device: what lies between two ops of the device stays there, and the whole model moves only
/// when the transfers of its ends cost less than that gains.
TEST(FormatAssignment, TransfersArePricedWithConversions) {
  FormatProblem problem;
  problem.value_count = 4;
  problem.model_outputs = {3};
  for (int n = 0; n < 3; ++n)
    problem.nodes.push_back({{{100, {Format::kND}, {Format::kND}, Memory::kHost},
                              {10, {Format::kND}, {Format::kND}, Memory::kDevice}},
                             {n},
                             {n + 1}});
  double transfer = 120;
  problem.conversion_ns = [&](int, const Layout&, const Layout&) { return transfer; };
  EXPECT_EQ(assign_formats(problem), (std::vector<int>{1, 1, 1}));
  EXPECT_DOUBLE_EQ(total_ns(problem, std::vector<int>{1, 1, 1}), 270);
  transfer = 140;
  EXPECT_EQ(assign_formats(problem), (std::vector<int>{0, 0, 0}));
  EXPECT_DOUBLE_EQ(total_ns(problem, std::vector<int>{1, 0, 1}), 120 + 4 * 140);
}

TEST(FormatAssignment, IsExactOnChains) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  for (int i = 0; i < 200; ++i) {
    const FormatProblem problem = random_problem(random, true);
    EXPECT_DOUBLE_EQ(total_ns(problem, assign_formats(problem)), brute_force(problem));
  }
}

TEST(FormatAssignment, IsExactOnGraphsThatBranch) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  for (int i = 0; i < 500; ++i) {
    const FormatProblem problem = random_problem(random, false);
    EXPECT_NEAR(total_ns(problem, assign_formats(problem)), brute_force(problem), 1e-9);
  }
}

TEST(FormatAssignment, SaysWhenItGaveUpStates) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  bool has_given_up = false;
  for (int i = 0; i < 100; ++i) {
    const FormatProblem problem = random_problem(random, false);
    const double least = brute_force(problem);
    const FrontierResult narrow = sweep_frontier(problem, 1);
    EXPECT_GE(total_ns(problem, narrow.choice), least - 1e-9);
    if (narrow.is_exact) {
      EXPECT_NEAR(total_ns(problem, narrow.choice), least, 1e-9);
    }
    has_given_up |= !narrow.is_exact;
  }
  EXPECT_TRUE(has_given_up);
}

/// 12 ops of 3 options each before one that joins them: 531441 frontiers, too many to keep. Once the joining op has its
/// option, each of the others chooses for itself, so the least total is easily told.
TEST(FormatAssignment, FindsItsWayThroughWideModels) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  constexpr int kWidth = 12;
  const auto times = [&] {
    return std::vector<double>{1 + static_cast<double>(random() % 100),
                               1 + static_cast<double>(random() % 100),
                               1 + static_cast<double>(random() % 100)};
  };
  FormatProblem problem;
  std::vector<int> joined;
  for (int i = 0; i < kWidth; ++i) {
    problem.nodes.push_back(node_of({}, i, times()));
    joined.push_back(i);
  }
  problem.nodes.push_back(node_of(joined, kWidth, times()));
  problem.value_count = kWidth + 1;
  problem.conversion_ns = [](int value, const Layout&, const Layout&) { return 20.0 + value; };

  double least = std::numeric_limits<double>::infinity();
  for (const FormatOption& join : problem.nodes.back().options) {
    double sum = join.time_ns;
    for (int i = 0; i < kWidth; ++i) {
      double cheapest = std::numeric_limits<double>::infinity();
      for (const FormatOption& option : problem.nodes[i].options) {
        const bool fits = option.outputs[0] == join.outputs[0];
        cheapest = std::min(cheapest, option.time_ns + (fits ? 0.0 : 20.0 + i));
      }
      sum += cheapest;
    }
    least = std::min(least, sum);
  }
  EXPECT_FALSE(sweep_frontier(problem, 2048).is_exact);
  EXPECT_DOUBLE_EQ(total_ns(problem, assign_formats(problem)), least);
}

TEST(FormatAssignment, ConvertsModelOutputsThatOthersReadOnce) {
  FormatProblem problem;
  problem.nodes = {node_of({0}, 1, {5, 1}), node_of({1}, 2, {1})};
  problem.value_count = 3;
  problem.model_outputs = {1, 2};
  problem.conversion_ns = [](int, const Layout&, const Layout&) { return 3.0; };
  const std::vector<int> choice = assign_formats(problem);
  EXPECT_EQ(choice, (std::vector<int>{0, 0})) << "in NHWC it would be 3 + 1 + 3 + 1";
  EXPECT_DOUBLE_EQ(total_ns(problem, choice), 6);
  EXPECT_DOUBLE_EQ(total_ns(problem, std::vector<int>{1, 0}), 8);
}

TEST(FormatAssignment, ConvertsAValueOncePerFormat) {
  FormatProblem problem;
  problem.nodes = {node_of({0}, 1, {1}), node_of({1}, 2, {100, 1}), node_of({1}, 3, {100, 1})};
  problem.value_count = 4;
  problem.conversion_ns = [](int, const Layout&, const Layout&) { return 10.0; };
  const std::vector<int> both_converted = {0, 1, 1};
  EXPECT_DOUBLE_EQ(total_ns(problem, both_converted), 13);
  EXPECT_EQ(assign_formats(problem), both_converted);
}

TEST(FormatAssignment, DenseFormatsNeedNoConversion) {
  FormatProblem problem;
  problem.nodes = {{{{1, {Format::kNCHW}, {Format::kNCHW}}}, {0}, {1}}};
  problem.value_count = 2;
  problem.model_outputs = {1};
  problem.conversion_ns = [](int, const Layout&, const Layout&) { return 1e9; };
  EXPECT_DOUBLE_EQ(total_ns(problem, assign_formats(problem)), 1);
}

}  // namespace
}  // namespace aoe::compiler
