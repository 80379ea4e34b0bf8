// Lines of --help that a terminal holds.
#pragma once

#include <string>
#include <string_view>

namespace aoe::tools {

inline constexpr std::size_t kHelpColumns = 80;

/// Lines of `text` that are longer than `columns` go on in the next, below what they say: behind the blanks at their begin, or
/// in a table ("  list       one line for each strategy") below its second column.
std::string wrapped(std::string_view text, std::size_t columns = kHelpColumns);

}  // namespace aoe::tools
