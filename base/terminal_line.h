// A line on the terminal that renews itself, such as a clock: what is logged meanwhile stands above it.
#pragma once

#include <string>

namespace aoe {

/// Shows `line` on stderr, which is a terminal, in place of the one before; empty: takes that away.
void set_terminal_line(const std::string& line);

}  // namespace aoe
