// See shape_draw.h.
#include "tests/compiler/shape_draw.h"

#include <algorithm>
#include <cstdlib>
#include <set>

#include "base/error.h"
#include "base/words.h"
#include "tests/compiler/impl_check.h"
#include "tests/compiler/machine_code.h"

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
      shape += (shape.empty() ? "" : "x") + (each == from ? to : each);
    const auto rest = word.find(':');
    word = "in=" + shape + (rest == std::string::npos ? "" : word.substr(rest));
  }
}

std::string join(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) line += (line.empty() ? "" : " ") + word;
  return line;
}

bool is_small(const Task& task) {
  double elements = 0;
  for (const TaskInput& input : task.inputs)
    if (input.is_present()) elements += static_cast<double>(element_count(input.desc.shape));
  for (const TensorDesc& output : task.outputs)
    elements += static_cast<double>(element_count(output.shape));
  return task.is_static() && elements <= kMostElements && flops(task) <= kMostFlops;
}

}  // namespace

/// The line with one to three of its numbers changed, each wherever it stands among extents and groups: what has to be equal
/// mostly stays so.
std::string ShapeDraw::change(const std::string& line) {
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

std::string ShapeDraw::extent() {
  static constexpr int kExtents[] = {1,  2,  3,  4,  5,  7,  8,  9,  11, 13, 15, 16,
                                     17, 19, 23, 31, 32, 33, 37, 47, 48, 63, 64, 65};
  return std::to_string(kExtents[below(std::size(kExtents))]);
}

std::string ShapeDraw::steps(const std::string& name, const std::string& word, std::uint32_t most) {
  std::string list;
  for (auto left = std::count(word.begin(), word.end(), ',') + 1; left > 0; --left)
    list += (list.empty() ? "" : ",") + std::to_string(1 + below(most));
  return name + "=[" + list + "]";
}

std::optional<ShapeLine> ShapeDraw::line(const std::vector<std::string>& lines) {
  try {
    ShapeLine line = parse_shape_line(change(lines[below(lines.size())]));
    if (!is_small(line.task)) return {};
    if (line.task.op.type != "TransData") compute_reference(line);
    return line;
  } catch (const Error&) {
    return {};
  }
}

Soc ShapeDraw::soc(const Task& task) {
  const auto socs = task.anchor().type.starts_with("Quant") ? loopnest::quantised_test_socs()
                                                            : loopnest::test_socs();
  Soc soc = socs[below(socs.size())];
  soc.threads = 1 + static_cast<int>(below(4));
  return soc;
}

std::vector<std::string> all_shape_lines() {
  std::vector<std::string> lines;
  for (const auto& file : shape_files())
    for (std::string& line : read_shape_lines(file)) lines.push_back(std::move(line));
  return lines;
}

std::uint32_t number_from(const char* variable, std::uint32_t otherwise) {
  const char* const text = std::getenv(variable);
  return text == nullptr ? otherwise : static_cast<std::uint32_t>(std::atoll(text));
}

}  // namespace aoe::compiler
