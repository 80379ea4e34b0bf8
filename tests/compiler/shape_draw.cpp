// See shape_draw.h.
#include "tests/compiler/shape_draw.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <set>

#include "base/error.h"
#include "base/words.h"
#include "graph/precision.h"
#include "reference/tensors/widen.h"
#include "tests/compiler/machine_code.h"
#include "tests/compiler/wide_numbers.h"

namespace aoe::compiler {
namespace {

/// Larger ones take long in the reference, and have no more corners.
constexpr double kMostElements = 1 << 17, kMostFlops = 1 << 23;

bool is_shape(const std::string& word) {
  return word.starts_with("in=") && word.size() > 3 && word[3] >= '0' && word[3] <= '9';
}

/// What stands between "in=" and ":": extents.
std::vector<std::string> extents_of(const std::string& word) {
  return split_words(word.substr(3, word.find(':') - 3), 'x');
}

std::set<std::string> extents(const std::vector<std::string>& words) {
  std::set<std::string> known;
  for (const std::string& word : words) {
    if (!is_shape(word)) continue;
    for (const std::string& each : extents_of(word))
      if (each != "1") known.insert(each);
  }
  return known;
}

void rename(std::vector<std::string>& words, const std::string& from, const std::string& to) {
  for (std::string& word : words) {
    if (word == "group=" + from) word = "group=" + to;
    if (!is_shape(word)) continue;
    std::string shape;
    for (const std::string& each : extents_of(word))
      shape.append(shape.empty() ? "" : "x").append(each == from ? to : each);
    const auto rest = word.find(':');
    word = "in=" + shape + (rest == std::string::npos ? "" : word.substr(rest));
  }
}

std::string join(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) line += (line.empty() ? "" : " ") + word;
  return line;
}

std::vector<std::string> all_shape_lines() {
  std::vector<std::string> lines;
  for (const auto& file : shape_files())
    for (std::string& line : read_shape_lines(file)) lines.push_back(std::move(line));
  return lines;
}

/// And with elements in all that it makes, without which the compiler asks no Impl that generates code (random models have such).
bool is_small(const Task& task) {
  double elements = 0;
  for (const TaskInput& input : task.inputs)
    if (input.is_present()) elements += static_cast<double>(element_count(input.desc.shape));
  for (const TensorDesc& output : task.outputs) {
    if (output.dtype != DataType::kUndefined && element_count(output.shape) == 0) return false;
    elements += static_cast<double>(element_count(output.shape));
  }
  return task.is_static() && elements <= kMostElements && flops(task) <= kMostFlops;
}

/// No fusion makes a body whose elementwise steps broadcast what an anchor gives: their results have its shape.
bool is_as_fused(const Task& task) {
  if (!task.op.body || reference::is_elementwise(task.anchor())) return true;
  std::vector<Tensor> inputs;
  for (const TaskInput& input : task.inputs) inputs.push_back({input.desc, nullptr});
  const int given = task.op.body->inputs;
  std::vector<Shape> made;
  bool keeps_shapes = true;
  reference::walk(*task.op.body, inputs,
                  [&](const reference::BodyStep& step, std::span<const Tensor> operands) {
                    const TensorDesc result = reference::infer(step.call, operands, 1).front();
                    if (reference::is_elementwise(step.call))
                      for (const int operand : step.operands)
                        keeps_shapes &=
                            operand < given ||
                            made.at(static_cast<std::size_t>(operand - given)) == result.shape;
                    made.push_back(result.shape);
                    return Tensor{result, nullptr};
                  });
  return keeps_shapes;
}

/// Gates of Relu are as large as what they read, and square a state with each step: what becomes of numbers beyond the range of
/// float32 on the way, which the reference has not in its float64, no bound says.
bool leaves_range(const Task& task, const std::vector<std::shared_ptr<Constant>>& outputs) {
  constexpr double kLarge = 1e15;
  if (!reference::is_kind(task.anchor().type, reference::OpKind::kRecurrence)) return false;
  return std::ranges::any_of(outputs, [](const std::shared_ptr<Constant>& output) {
    const auto values = output ? reference::to_doubles(output->view()) : std::vector<double>{};
    return !std::ranges::all_of(values, [](double each) { return std::fabs(each) < kLarge; });
  });
}

/// How many took it; ends with the first that fails.
int check_impls(const ShapeLine& line, const Soc& soc, const ImplCheckOptions& options) {
  int taken = 0;
  for (const Impl* impl : impls().all()) {
    if (!impl->supports(line.task, soc)) continue;
    ++taken;
    check_impl(*impl, line, soc, options);
    if (testing::Test::HasFailure()) break;
  }
  return taken;
}

}  // namespace

/// The line with one to three of its numbers changed, each wherever it stands among extents and groups: what has to be equal
/// mostly stays so.
std::string ShapeDraw::change(const std::string& line) {
  std::vector<std::string> words = split_words(line, ' ');
  for (std::uint32_t i = 0, changes = 1 + random_.below(3); i < changes; ++i) {
    const std::set<std::string> known = extents(words);
    if (known.empty()) break;
    rename(words, *std::next(known.begin(), random_.below(known.size())), extent());
  }
  for (std::string& word : words) {
    if (word.starts_with("strides=[") && random_.below(2) == 0) word = steps("strides", word, 3);
    if (word.starts_with("dilations=[") && random_.below(2) == 0)
      word = steps("dilations", word, 3);
  }
  return join(with_wide_type(std::move(words), wide_));
}

std::string ShapeDraw::extent() {
  static constexpr int kExtents[] = {1,  2,  3,  4,  5,  7,  8,  9,  11, 13, 15, 16,
                                     17, 19, 23, 31, 32, 33, 37, 47, 48, 63, 64, 65};
  return std::to_string(random_.pick(kExtents));
}

std::string ShapeDraw::steps(const std::string& name, const std::string& word, std::uint32_t most) {
  std::string list;
  for (auto left = std::count(word.begin(), word.end(), ',') + 1; left > 0; --left)
    list += (list.empty() ? "" : ",") + std::to_string(1 + random_.below(most));
  return name + "=[" + list + "]";
}

std::optional<ShapeLine> ShapeDraw::line(const std::vector<std::string>& lines) {
  try {
    ShapeLine line = parse_shape_line(change(random_.pick(lines)));
    if (!is_small(line.task) || !is_as_fused(line.task)) return {};
    widen_numbers(line, wide_);
    if (line.task.op.type != "TransData" && leaves_range(line.task, compute_reference(line)))
      return {};
    return line;
  } catch (const Error&) {
    return {};
  }
}

Soc ShapeDraw::soc(const Task& task) {
  const bool is_quantised = task.anchor().type.starts_with("Quant");
  std::vector<Soc> socs = loopnest::planned_socs(is_quantised);
  if (is_quantised || graph::allows_bf16(task.op)) socs.push_back(loopnest::tile_soc());
  Soc soc = random_.pick(socs);
  soc.threads = 1 + static_cast<int>(random_.below(4));
  return soc;
}

void check_drawn_shapes(const tests::Seeds& seeds, std::uint32_t shard,
                        const ImplCheckOptions& options, const PrepareLine& prepare) {
  const std::vector<std::string> lines = all_shape_lines();
  int checked = 0, kernels = 0, left_out = 0;
  for (const std::uint32_t seed : seeds.of_shard(shard)) {
    ShapeDraw draw(seed);
    const auto try_line = [&]() -> std::optional<ShapeLine> {
      std::optional<ShapeLine> drawn = draw.line(lines);
      return drawn && prepare(*drawn, draw) ? std::move(drawn) : std::nullopt;
    };
    std::optional<ShapeLine> line = try_line();
    if (!line)
      line = try_line();  // what nothing can be asked about is not half of what few seeds draw
    if (!line) {
      ++left_out;
      continue;
    }
    SCOPED_TRACE(seeds.again(seed));
    if (seeds.is_one()) std::cout << line->text << "\n";
    ImplCheckOptions seeded = options;
    seeded.seed = seed;
    kernels += check_impls(*line, draw.soc(line->task), seeded);
    ++checked;
    if (testing::Test::HasFailure()) return;
  }
  std::cout << checked << " shapes, " << kernels << " times an Impl; " << left_out
            << " were left out\n";
  if (!seeds.are_few()) {
    EXPECT_GT(checked, left_out / 2);
  }
}

}  // namespace aoe::compiler
