// Format assignment against brute force on random graphs.
#include "compiler/format_assignment.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>

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
  problem.conversion_ns = [](int value, Format from, Format to) {
    return 5.0 + 7 * value + 3 * static_cast<int>(from) + static_cast<int>(to);
  };
  return problem;
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

TEST(FormatAssignment, IsNearlyExactOnGraphsThatBranch) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  double found = 0;
  double best = 0;
  for (int i = 0; i < 300; ++i) {
    const FormatProblem problem = random_problem(random, false);
    const double total = total_ns(problem, assign_formats(problem));
    const double least = brute_force(problem);
    EXPECT_GE(total, least - 1e-9);
    found += total;
    best += least;
  }
  EXPECT_LE(found, 1.02 * best);
}

TEST(FormatAssignment, ConvertsAValueOncePerFormat) {
  FormatProblem problem;
  problem.nodes = {node_of({0}, 1, {1}), node_of({1}, 2, {100, 1}), node_of({1}, 3, {100, 1})};
  problem.value_count = 4;
  problem.conversion_ns = [](int, Format, Format) { return 10.0; };
  const std::vector<int> both_converted = {0, 1, 1};
  EXPECT_DOUBLE_EQ(total_ns(problem, both_converted), 13);
  EXPECT_EQ(assign_formats(problem), both_converted);
}

TEST(FormatAssignment, DenseFormatsNeedNoConversion) {
  FormatProblem problem;
  problem.nodes = {{{{1, {Format::kNCHW}, {Format::kNCHW}}}, {0}, {1}}};
  problem.value_count = 2;
  problem.model_outputs = {1};
  problem.conversion_ns = [](int, Format, Format) { return 1e9; };
  EXPECT_DOUBLE_EQ(total_ns(problem, assign_formats(problem)), 1);
}

}  // namespace
}  // namespace aoe::compiler
