// Shape lines that nobody wrote: those of shapes/ with other extents (ones, primes, tails of vectors and blocks), strides, dilations and groups.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tests/compiler/impl_check.h"
#include "tests/compiler/shape_line.h"
#include "tests/seeds.h"

namespace aoe::compiler {

class ShapeDraw {
 public:
  explicit ShapeDraw(std::uint32_t seed) : random_(seed), wide_(~seed) {}

  tests::Random& random() { return random_; }

  /// One of `lines`, changed. Nothing where the operator refuses the shapes, the reference the values, or where it is large.
  std::optional<ShapeLine> line(const std::vector<std::string>& lines);

  /// One of the instruction sets of tests that suit the task, with one to four threads.
  Soc soc(const Task& task);

 private:
  std::string change(const std::string& line);
  std::string extent();
  std::string steps(const std::string& name, const std::string& word, std::uint32_t most);

  tests::Random random_;
  tests::Random wide_;  ///< types and numbers alone, so that what else a seed means stays
};

/// What is done to a drawn line before Impls are checked on it. False: it is left out.
using PrepareLine = std::function<bool(ShapeLine& line, ShapeDraw& draw)>;

/// Draws a line for each seed of the shard and checks every Impl that takes it; says how many there were. Ends behind the first
/// seed that fails.
void check_drawn_shapes(const tests::Seeds& seeds, std::uint32_t shard,
                        const ImplCheckOptions& options, const PrepareLine& prepare);

}  // namespace aoe::compiler
