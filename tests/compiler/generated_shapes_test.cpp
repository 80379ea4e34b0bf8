// Every Impl on shapes that nobody thought of: shape lines with other extents (ones, primes, tails of vectors and blocks), strides,
// dilations and groups, for one to four threads. AOE_FIRST_SEED=n and AOE_SHAPES=n choose others; one seed is
//
//   AOE_FIRST_SEED=4711 AOE_SHAPES=1 aoe_impls_test --gtest_filter='*GeneratedShapes*/0'
#include <gtest/gtest.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <iostream>
#include <random>
#include <set>

#include "base/error.h"
#include "base/words.h"
#include "tests/compiler/impl_check.h"
#include "tests/compiler/machine_code.h"

namespace aoe::compiler {
namespace {

constexpr std::uint32_t kShards = 4;
constexpr std::uint32_t kShapesByDefault = 400;
/// Larger ones take long in the reference, and have no more corners.
constexpr double kMostElements = 1 << 17, kMostFlops = 1 << 23;

std::uint32_t number_from(const char* variable, std::uint32_t otherwise) {
  const char* const text = std::getenv(variable);
  return text == nullptr ? otherwise : static_cast<std::uint32_t>(std::atoll(text));
}

class ShapeDraw {
 public:
  explicit ShapeDraw(std::uint32_t seed) : engine_(seed) {}

  std::uint32_t below(std::size_t limit) { return static_cast<std::uint32_t>(engine_() % limit); }

  /// The line with one to three of its numbers changed, each wherever it stands among extents and groups: what has to be equal
  /// mostly stays so.
  std::string change(const std::string& line) {
    std::vector<std::string> words = split_words(line, ' ');
    for (std::uint32_t i = 0, changes = 1 + below(3); i < changes; ++i) {
      const std::set<std::string> known = extents(words);
      if (known.empty()) break;
      rename(words, *std::next(known.begin(), below(known.size())), extent());
    }
    for (std::string& word : words) {
      if (word.starts_with("strides=[") && below(2) == 0) word = steps("strides", word, 3);
      if (word.starts_with("dilations=[") && below(2) == 0) word = steps("dilations", word, 3);
    }
    return join(words);
  }

 private:
  std::string extent() {
    static constexpr int kExtents[] = {1,  2,  3,  4,  5,  7,  8,  9,  11, 13, 15, 16,
                                       17, 19, 23, 31, 32, 33, 37, 47, 48, 63, 64, 65};
    return std::to_string(kExtents[below(std::size(kExtents))]);
  }

  std::string steps(const std::string& name, const std::string& word, std::uint32_t most) {
    std::string list;
    for (auto left = std::count(word.begin(), word.end(), ',') + 1; left > 0; --left)
      list += (list.empty() ? "" : ",") + std::to_string(1 + below(most));
    return name + "=[" + list + "]";
  }

  static bool is_shape(const std::string& word) {
    return word.starts_with("in=") && word.size() > 3 && word[3] >= '0' && word[3] <= '9';
  }

  /// What stands between "in=" and ":": extents.
  static std::vector<std::string> extents_of(const std::string& word) {
    return split_words(word.substr(3, word.find(':') - 3), 'x');
  }

  static std::set<std::string> extents(const std::vector<std::string>& words) {
    std::set<std::string> known;
    for (const std::string& word : words) {
      if (!is_shape(word)) continue;
      for (const std::string& each : extents_of(word))
        if (each != "1") known.insert(each);
    }
    return known;
  }

  static void rename(std::vector<std::string>& words, const std::string& from,
                     const std::string& to) {
    for (std::string& word : words) {
      if (word == "group=" + from) word = "group=" + to;
      if (!is_shape(word)) continue;
      std::string shape;
      for (const std::string& each : extents_of(word))
        shape += (shape.empty() ? "" : "x") + (each == from ? to : each);
      const auto rest = word.find(':');
      word = "in=" + shape + (rest == std::string::npos ? "" : word.substr(rest));
    }
  }

  static std::string join(const std::vector<std::string>& words) {
    std::string line;
    for (const std::string& word : words) line += (line.empty() ? "" : " ") + word;
    return line;
  }

  std::mt19937 engine_;
};

bool is_small(const Task& task) {
  double elements = 0;
  for (const TaskInput& input : task.inputs)
    if (input.is_present()) elements += static_cast<double>(element_count(input.desc.shape));
  for (const TensorDesc& output : task.outputs)
    elements += static_cast<double>(element_count(output.shape));
  return task.is_static() && elements <= kMostElements && flops(task) <= kMostFlops;
}

/// Nothing where the operator refuses the shapes, or the reference the values.
std::optional<ShapeLine> valid(const std::string& text) {
  try {
    ShapeLine line = parse_shape_line(text);
    if (!is_small(line.task)) return {};
    if (line.task.op.type != "TransData") compute_reference(line);
    return line;
  } catch (const Error&) {
    return {};
  }
}

std::vector<std::string> all_lines() {
  std::vector<std::string> lines;
  for (const auto& file : shape_files())
    for (std::string& line : read_shape_lines(file)) lines.push_back(std::move(line));
  return lines;
}

/// How many Impls took the line.
int check_line(const ShapeLine& line, const Soc& soc, std::uint32_t seed) {
  int taken = 0;
  for (const Impl* impl : impls().all()) {
    if (!impl->supports(line.task, soc)) continue;
    ++taken;
    check_impl(*impl, line, soc, {.sampled_schedules = 1, .seed = seed});
    if (testing::Test::HasFailure()) break;
  }
  return taken;
}

/// Shards, so that CTest runs them side by side.
class GeneratedShapes : public testing::TestWithParam<std::uint32_t> {};

TEST_P(GeneratedShapes, AgreeWithTheReference) {
  const std::vector<std::string> lines = all_lines();
  const std::uint32_t shapes = number_from("AOE_SHAPES", kShapesByDefault);
  const std::uint32_t first = number_from("AOE_FIRST_SEED", 1);
  int checked = 0, kernels = 0, refused = 0;
  for (std::uint32_t seed = first + GetParam(); seed < first + shapes; seed += kShards) {
    ShapeDraw draw(seed);
    const std::optional<ShapeLine> line = valid(draw.change(lines[draw.below(lines.size())]));
    if (!line) {
      ++refused;
      continue;
    }
    SCOPED_TRACE("AOE_FIRST_SEED=" + std::to_string(seed) + " AOE_SHAPES=1");
    const auto socs = line->task.anchor().type.starts_with("Quant")
                          ? loopnest::quantised_test_socs()
                          : loopnest::test_socs();
    Soc soc = socs[draw.below(socs.size())];
    soc.threads = 1 + static_cast<int>(draw.below(4));
    kernels += check_line(*line, soc, seed);
    ++checked;
    if (HasFailure()) return;
  }
  std::cout << checked << " shapes, " << kernels << " times an Impl; " << refused
            << " were none that the operator takes\n";
  if (shapes >= kShapesByDefault) {
    EXPECT_GT(checked, refused / 2);
  }
}
INSTANTIATE_TEST_SUITE_P(Shards, GeneratedShapes, testing::Range(0u, kShards));

}  // namespace
}  // namespace aoe::compiler
