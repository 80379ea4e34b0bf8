// Shape lines: one line of text is one task, so that a new corner of an operator is a new line in
// shapes/<op>.txt.
//
//   TYPE[@VERSION] in=... attribute=JSON ... [outputs=N [unread=OUTPUT]...]
//       [-> STEP[@VERSION] operand... attribute=JSON ...]...
//
//   in=2x64x7x7          float32 activation, uniform in [-2, 2)
//   in=64x1x1:const      constant of the compile, same values
//   in=8:pos             values in [0.1, 3)
//   in=scalar:value=2    constant of one value
//   in=3x5:int64:below=9 integers in [-9, 9)
//   in=[0,-1]            int64 constant with these values
//   in=-                 absent
//
// Inputs behind `anchor_inputs=N` belong to the epilogue's steps. Operands of a step: anchor, in2,
// step0. Without an anchor the type is FusedElementwise or FusedChain. `#` begins a comment.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "compiler/task.h"

namespace aoe::compiler {

struct ShapeLine {
  std::string text;
  Task task;
  std::vector<std::shared_ptr<Constant>> inputs;  ///< values of all inputs; null where absent
};

/// Values depend on `seed` and the line alone. Throws Error(kData) that names the line on nonsense.
ShapeLine parse_shape_line(const std::string& text, unsigned seed = 1);

/// All lines of a file, without comments and empty ones.
std::vector<std::string> read_shape_lines(const std::filesystem::path& file);

}  // namespace aoe::compiler
