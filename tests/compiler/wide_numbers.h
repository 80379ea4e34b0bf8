// Numbers of 32 and 64 bits that float32 does not hold, in drawn shapes (shape_draw.h): what goes through float32 on its way is seen.
#pragma once

#include <string>
#include <vector>

#include "tests/compiler/shape_line.h"
#include "tests/seeds.h"

namespace aoe::compiler {

/// The words of a line whose operator moves elements, now and then with another type than float32 for what it moves.
std::vector<std::string> with_wide_type(std::vector<std::string> words, tests::Random& random);

/// Puts such numbers wherever the operator's meaning allows: all bits where elements are moved or put in order, as many as leave
/// room for sums and products elsewhere. Places, counts and weights stay.
void widen_numbers(ShapeLine& line, tests::Random& random);

}  // namespace aoe::compiler
