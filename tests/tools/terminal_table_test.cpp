// Terminal tables: aligned, cut where they are too wide, coloured only when asked.
#include "tools/common/terminal_table.h"

#include <gtest/gtest.h>

namespace aoe::tools {
namespace {

TerminalTable table() {
  TerminalTable table("Ops", {{"Name"}, {"Time(us)", Align::kRight}});
  table.row({"a_rather_long_name_of_an_op", "1.500"});
  table.row({"b", "12.250"});
  return table;
}

TEST(TerminalTable, AlignsFiguresToTheRight) {
  EXPECT_EQ(table().rendered(0, false),
            "Ops\n"
            "Name                         Time(us)\n"
            "a_rather_long_name_of_an_op     1.500\n"
            "b                              12.250\n");
}

TEST(TerminalTable, NamesEndNoLineAndTellTheTerminalNothing) {
  TerminalTable table("", {{"Name"}});
  table.row({"a\nb\033[31mc"});
  EXPECT_EQ(table.rendered(0, true), "\033[1mName\033[0m\na b [31mc\n");
}

TEST(TerminalTable, CutsTextsButNoFigures) {
  EXPECT_EQ(table().rendered(22, false),
            "Ops\n"
            "Name          Time(us)\n"
            "a_rat..an_op     1.500\n"
            "b               12.250\n");
  EXPECT_EQ(table().rendered(1, false),
            "Ops\n"
            "Name    Time(us)\n"
            "a_..op     1.500\n"
            "b         12.250\n");
}

TEST(TerminalTable, CountsLettersAndCutsBetweenThem) {
  TerminalTable table("", {{"Name"}, {"N"}});
  table.row({"\u00e4\u00f6\u00fc\u00df\u00e4\u00f6\u00fc\u00df", "1"});
  table.row({"abcdefgh", "2"});
  EXPECT_EQ(table.rendered(0, false),
            "Name      N\n\u00e4\u00f6\u00fc\u00df\u00e4\u00f6\u00fc\u00df  1\nabcdefgh  2\n");
  EXPECT_EQ(table.rendered(9, false), "Name    N\n\u00e4\u00f6..\u00fc\u00df  1\nab..gh  2\n");
}

TEST(TerminalTable, ColoursTheHeaderOnly) {
  const std::string text = table().rendered(0, true);
  EXPECT_EQ(text.find("\033[1mName"), 4u);
  EXPECT_EQ(text.find('\033', text.find("\033[0m") + 1), std::string::npos);
}

}  // namespace
}  // namespace aoe::tools
