// Widths count letters.
#include "tools/common/terminal_table.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <ostream>
#include <string_view>

#include "base/check.h"
#include "base/utf8.h"

namespace aoe::tools {
namespace {

constexpr std::size_t kGap = 2;
constexpr std::size_t kLeastTextWidth = 6;

/// Without its middle: names of ops differ at their ends.
std::string cut(const std::string& text, std::size_t width) {
  constexpr std::string_view kGone = "..";
  if (utf8_length(text) <= width) return text;
  const std::size_t kept = width - kGone.size();
  return std::string(utf8_head(text, kept / 2)) + std::string(kGone) +
         std::string(utf8_tail(text, kept - kept / 2));
}

std::string padded(const std::string& text, std::size_t width, Align align) {
  const std::string space(width - std::min(width, utf8_length(text)), ' ');
  return align == Align::kLeft ? text + space : space + text;
}

}  // namespace

std::size_t terminal_width() {
  winsize size{};
  if (::isatty(STDOUT_FILENO) == 0 || ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0) return 0;
  return size.ws_col;
}

bool takes_colours(int file) {
  const char* refused = std::getenv("NO_COLOR");
  return (refused == nullptr || *refused == '\0') && ::isatty(file) != 0;
}

TerminalTable::TerminalTable(std::string title, std::vector<TableColumn> columns)
    : title_(std::move(title)), columns_(std::move(columns)) {
}

void TerminalTable::row(std::vector<std::string> cells) {
  AOE_CHECK(cells.size() == columns_.size(), "a row of " + std::to_string(cells.size()) +
                                                 " cells for " + std::to_string(columns_.size()) +
                                                 " columns");
  for (std::string& cell : cells) cell = printable(std::move(cell));
  rows_.push_back(std::move(cells));
}

std::vector<std::size_t> TerminalTable::widths(std::size_t width) const {
  std::vector<std::size_t> widths;
  std::size_t sum = 0;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    widths.push_back(utf8_length(columns_[i].name));
    for (const auto& row : rows_) widths[i] = std::max(widths[i], utf8_length(row[i]));
    sum += widths[i] + (i == 0 ? 0 : kGap);
  }
  while (width > 0 && sum > width) {
    std::size_t widest = columns_.size();
    for (std::size_t i = 0; i < columns_.size(); ++i)
      if (columns_[i].align == Align::kLeft &&
          widths[i] > std::max(kLeastTextWidth, columns_[i].name.size()) &&
          (widest == columns_.size() || widths[i] > widths[widest]))
        widest = i;
    if (widest == columns_.size()) break;  // figures are never cut
    --widths[widest];
    --sum;
  }
  return widths;
}

std::string TerminalTable::rendered(std::size_t width, bool with_colours) const {
  const std::vector<std::size_t> wide = widths(width);
  std::string text = title_.empty() ? "" : title_ + "\n";
  const auto line = [&](const auto& cell_of) {
    std::string whole;
    for (std::size_t i = 0; i < columns_.size(); ++i)
      whole += (i == 0 ? "" : std::string(kGap, ' ')) +
               padded(cut(cell_of(i), wide[i]), wide[i], columns_[i].align);
    whole.erase(whole.find_last_not_of(' ') + 1);
    return whole;
  };
  const std::string header = line([&](std::size_t i) { return columns_[i].name; });
  text += (with_colours ? "\033[1m" + header + "\033[0m" : header) + "\n";
  for (const auto& row : rows_) text += line([&](std::size_t i) { return row[i]; }) + "\n";
  return text;
}

void TerminalTable::print(std::ostream& out) const {
  out << rendered(terminal_width(), takes_colours(STDOUT_FILENO));
}

}  // namespace aoe::tools
