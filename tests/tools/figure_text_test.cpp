// Times of small models and operators tell as much as those of large ones.
#include "tools/common/figure_text.h"

#include <gtest/gtest.h>

namespace aoe::tools {
namespace {

TEST(FigureText, HasThreeDigitsOfWhatIsSmall) {
  EXPECT_EQ(figure_text(4.281e-3, 3), "0.00428");
  EXPECT_EQ(figure_text(0.0307, 3), "0.0307");
  EXPECT_EQ(figure_text(0.1534, 1), "0.153");
  EXPECT_EQ(figure_text(1.534, 1), "1.53");
}

TEST(FigureText, KeepsItsDecimalsOfWhatIsLarge) {
  EXPECT_EQ(figure_text(429.52, 1), "429.5");
  EXPECT_EQ(figure_text(90.1, 1), "90.1");
  EXPECT_EQ(figure_text(4.7994, 3), "4.799");
  EXPECT_EQ(figure_text(0.514, 3), "0.514");
  EXPECT_EQ(figure_text(210.149, 3), "210.149");
}

TEST(FigureText, OfNothingIsZero) {
  EXPECT_EQ(figure_text(0, 1), "0.0");
  EXPECT_EQ(figure_text(1e-12, 1), "0.000000000");
}

}  // namespace
}  // namespace aoe::tools
