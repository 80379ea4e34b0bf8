// Windows of operators that undo others: Col2Im, MaxUnpool.
#pragma once

#include <cstdint>
#include <vector>

#include "reference/windows/window.h"

namespace aoe::reference {

/// The blocks of Col2Im over an image: a window for each column. Throws Error(kModel) when they differ in rank.
Window block_window_of(const Attrs& attrs, const Shape& image,
                       const std::vector<std::int64_t>& block);

/// Of MaxUnpool without output_shape: what MaxPool's input had without ambiguity, which indices count in.
Shape unpooled_shape(const Attrs& attrs, const Shape& x);

}  // namespace aoe::reference
