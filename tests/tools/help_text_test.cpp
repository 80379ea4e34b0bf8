// Help keeps to a terminal of 80 columns.
#include "tools/common/help_text.h"

#include <gtest/gtest.h>

namespace aoe::tools {
namespace {

TEST(HelpText, BreaksProseAtBlanks) {
  EXPECT_EQ(wrapped("one two three\nfour\n", 8), "one two\nthree\nfour\n");
  EXPECT_EQ(wrapped("averylongword", 8), "averylongword");
  EXPECT_EQ(wrapped("", 8), "");
}

TEST(HelpText, GoesOnBelowWhatALineSays) {
  EXPECT_EQ(wrapped("  rm KEY  removes tasks", 17), "  rm KEY  removes\n          tasks");
  EXPECT_EQ(wrapped("  a b c d", 6), "  a b\n  c d");
}

}  // namespace
}  // namespace aoe::tools
