// One paragraph and one table for each finding.
#include "tools/msprof/advice_text.h"

#include <iostream>

#include "tools/common/terminal_table.h"

namespace aoe::tools {
namespace {

void print(const profiler::Finding& finding, std::size_t number) {
  std::cout << number << ". " << finding.type << ": " << finding.subtype << "\n   "
            << finding.diagnosis.description << "\n   -> " << finding.diagnosis.suggestion << "\n";
  std::vector<TableColumn> columns;
  for (const std::string& column : finding.diagnosis.evidence.columns) columns.push_back({column});
  TerminalTable table("", std::move(columns));
  for (const auto& row : finding.diagnosis.evidence.rows) table.row(row);
  if (!table.is_empty()) table.print(std::cout);
  std::cout << '\n';
}

}  // namespace

void print_advice(const std::vector<profiler::Finding>& findings) {
  std::size_t number = 0;
  for (const profiler::Finding& finding : findings) print(finding, ++number);
  if (findings.empty()) std::cout << "No rule found anything to improve.\n";
}

}  // namespace aoe::tools
