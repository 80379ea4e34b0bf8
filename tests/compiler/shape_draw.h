// Shape lines that nobody wrote: those of shapes/ with other extents (ones, primes, tails of vectors and blocks), strides, dilations and groups.
#pragma once

#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "tests/compiler/shape_line.h"

namespace aoe::compiler {

class ShapeDraw {
 public:
  explicit ShapeDraw(std::uint32_t seed) : engine_(seed) {}

  std::uint32_t below(std::size_t limit) { return static_cast<std::uint32_t>(engine_() % limit); }

  /// One of `lines`, changed. Nothing where the operator refuses the shapes, the reference the values, or where it is large.
  std::optional<ShapeLine> line(const std::vector<std::string>& lines);

  /// One of the instruction sets of tests that suit the task, with one to four threads.
  Soc soc(const Task& task);

 private:
  std::string change(const std::string& line);
  std::string extent();
  std::string steps(const std::string& name, const std::string& word, std::uint32_t most);

  std::mt19937 engine_;
};

/// The lines of all files of shapes/.
std::vector<std::string> all_shape_lines();

/// What an environment variable says.
std::uint32_t number_from(const char* variable, std::uint32_t otherwise);

}  // namespace aoe::compiler
