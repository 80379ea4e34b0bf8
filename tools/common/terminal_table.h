// TerminalTable: a table that fits the terminal; colours only where a person looks.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

namespace aoe::tools {

enum class Align { kLeft, kRight };

struct TableColumn {
  std::string name;
  Align align = Align::kLeft;
};

/// How wide stdout is in characters; 0 (no bound) when it is no terminal.
std::size_t terminal_width();

/// Whether the file (STDOUT_FILENO) is a terminal, and its user has not refused colours by the variable NO_COLOR.
bool takes_colours(int file);

class TerminalTable {
 public:
  TerminalTable(std::string title, std::vector<TableColumn> columns);
  void row(std::vector<std::string> cells);
  bool is_empty() const { return rows_.empty(); }
  /// Cells of the widest text columns lose their middle, for "..", until a line fits `width` (0: any).
  std::string rendered(std::size_t width, bool with_colours) const;
  void print(std::ostream& out) const;  ///< for stdout

 private:
  std::vector<std::size_t> widths(std::size_t width) const;

  std::string title_;
  std::vector<TableColumn> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace aoe::tools
