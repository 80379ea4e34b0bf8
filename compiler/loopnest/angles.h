// Angles of float and double vectors as quadrants and what is left of them. Internal to codegen.
#pragma once

#include "compiler/loopnest/vector_math.h"

namespace aoe::compiler::loopnest {

inline constexpr double kPi = 3.14159265358979323846;

/// x = quadrant * pi / 2 + rest, |rest| <= pi / 4 and a little.
struct Quadrant {
  llvm::Value*
      rest;  ///< within a unit of its last place and a quarter, however near zero; NaN of what is not finite
  llvm::Value* number;  ///< integer lanes as wide as those of x; only the lowest two bits count
};

/// Of x >= 0, or NaN.
Quadrant reduce_angle(IrBuilder& ir, llvm::Value* x);

}  // namespace aoe::compiler::loopnest
