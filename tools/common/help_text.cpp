// Breaks long lines at blanks.
#include "tools/common/help_text.h"

#include <algorithm>

namespace aoe::tools {
namespace {

/// Where lines go on below `line`.
std::size_t indent_of(std::string_view line) {
  const std::size_t begin = line.find_first_not_of(' ');
  if (begin == std::string_view::npos || begin == 0) return 0;
  const std::size_t gap = line.find("  ", begin);
  return gap == std::string_view::npos ? begin : line.find_first_not_of(' ', gap);
}

void append_wrapped(std::string& text, std::string line, std::size_t columns) {
  const std::string indent(indent_of(line), ' ');
  while (line.size() > columns) {
    const std::size_t blank = line.rfind(' ', columns);
    if (blank == std::string::npos || blank <= indent.size()) break;  // one long word
    text += line.substr(0, blank) + '\n';
    line = indent + line.substr(blank + 1);
  }
  text += line;
}

}  // namespace

std::string wrapped(std::string_view text, std::size_t columns) {
  std::string all;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    append_wrapped(all, std::string(text.substr(begin, end - begin)), columns);
    if (end < text.size()) all += '\n';
    begin = end + 1;
  }
  return all;
}

}  // namespace aoe::tools
