// How a time stands in a table or a line.
#pragma once

#include <string>

namespace aoe::tools {

/// With `decimals`, and with more of them where fewer than three digits would be told: a model of 4 microseconds takes 0.00428
/// ms, not 0.004.
std::string figure_text(double value, int decimals);

}  // namespace aoe::tools
