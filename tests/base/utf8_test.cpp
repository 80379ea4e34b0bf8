// What is text and what is not.
#include "base/utf8.h"

#include <gtest/gtest.h>

namespace aoe {
namespace {

TEST(Utf8, EveryFormOfACharacterIsText) {
  for (const char* text : {"", "plain", "\xc3\xa4", "\xe2\x82\xac", "\xef\xbf\xbf", "\xed\x9f\xbf",
                           "\xee\x80\x80", "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf"})
    EXPECT_TRUE(is_utf8(text)) << text;
  EXPECT_TRUE(is_utf8(std::string_view("a\0b", 3)));
}

TEST(Utf8, OverlongCutOffStrayAndSurrogateBytesAreNot) {
  for (const char* bytes :
       {"\x80", "\xff", "\xc0\xaf", "\xc1\xbf", "\xe0\x80\xaf", "\xe0\x9f\xbf", "\xed\xa0\x80",
        "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xc3", "\xe2\x82",
        "\xf0\x90\x80", "ab\xe4z", "\xc3\xc3\xa4"})
    EXPECT_FALSE(is_utf8(bytes)) << bytes;
}

TEST(Utf8, WhatIsPrintableHoldsNothingForATerminalToObey) {
  EXPECT_EQ(printable("a\x1b[2Jb\nc\td\x7f"), "a [2Jb c d ");
  EXPECT_EQ(printable("a\xc2\x9b"
                      "2J \xc2\xa0 \xc3\xa4"),
            "a 2J \xc2\xa0 \xc3\xa4");
  EXPECT_EQ(printable("\xc2"), "\xc2");
  EXPECT_EQ(printable("\xff\n"), "\xff ");
}

}  // namespace
}  // namespace aoe
