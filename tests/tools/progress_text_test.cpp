// What aoe shows of a run: a clock that goes on between reports, waiting with its reason, and no surprises.
#include "tools/aoe/progress_text.h"

#include <gtest/gtest.h>

namespace aoe::tools {
namespace {

Progress search(double elapsed_s, double remaining_s, int tasks_done = 1) {
  Progress p;
  p.stage = AOE_STAGE_SEARCH;
  p.tasks_done = tasks_done;
  p.tasks_total = 4;
  p.tuning_name = "m";
  p.op_type = "Conv2D";
  p.op_name = "c1";
  p.elapsed_s = elapsed_s;
  p.remaining_s = remaining_s;
  return p;
}

Progress measured(Progress p) {
  p.default_ns = 2000;
  p.best_ns = 1500;
  return p;
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(DurationText, HasHoursOnlyWhenThereAreSome) {
  EXPECT_EQ(duration_text(65), "1:05");
  EXPECT_EQ(duration_text(720), "12:00");
  EXPECT_EQ(duration_text(3723), "1:02:03");
  EXPECT_EQ(duration_text(-1), "0:00");
}

TEST(ProgressText, TheClockGoesOnBetweenReports) {
  ProgressText text;
  Progress p = search(10, 20);
  p.limit_left_s = 50;
  text.report(p);
  EXPECT_TRUE(has(text.line(0, 200), "0:10 elapsed, 0:20 left, limit in 0:50"))
      << text.line(0, 200);
  EXPECT_TRUE(has(text.line(3, 200), "0:13 elapsed, 0:17 left, limit in 0:47"))
      << text.line(3, 200);
  EXPECT_TRUE(has(text.line(90, 200), "0:00 left, limit in 0:00")) << text.line(90, 200);
}

TEST(ProgressText, SaysSoWhenTheTimeLeftGoesUp) {
  ProgressText text;
  text.report(search(10, 20));
  text.report(search(12, 19));
  EXPECT_TRUE(has(text.line(0, 200), "0:18 left"))
      << "a wavering estimate counts down: " << text.line(0, 200);
  text.report(search(15, 40));
  EXPECT_TRUE(has(text.line(0, 200), "0:40 left, 0:25 more than thought")) << text.line(0, 200);
  EXPECT_TRUE(has(text.line(3, 200), "0:37 left, 0:25 more than thought")) << text.line(3, 200);
  EXPECT_FALSE(has(text.line(6, 200), "more than thought")) << "it was said long enough";
  text.report(search(30, 3));
  EXPECT_TRUE(has(text.line(0, 200), "0:03 left"));
}

TEST(ProgressText, SaysWhyItWaitsInEveryStage) {
  for (const int stage : {AOE_STAGE_BASELINE, AOE_STAGE_SEARCH, AOE_STAGE_CONFIRM}) {
    ProgressText text;
    Progress p = search(1, 0);
    p.stage = stage;
    text.report(p);
    p.waiting = "the machine is 1.4 times as slow as it was";
    EXPECT_TRUE(has(text.report(p), "waiting: the machine is 1.4 times as slow as it was ("));
    EXPECT_TRUE(has(text.line(2, 200), "waiting: the machine")) << text.line(2, 200);
    EXPECT_TRUE(has(text.line(2, 200), "0:03 elapsed")) << text.line(2, 200);
    p.waiting.clear();
    EXPECT_EQ(text.report(p), "");
    EXPECT_FALSE(has(text.line(0, 200), "waiting"));
  }
}

TEST(ProgressText, ALogGetsOneLineOfEachTaskThatWasMeasured) {
  ProgressText text;
  EXPECT_EQ(text.report(search(1, 0, 0)), "");
  EXPECT_EQ(text.report(measured(search(2, 0, 0))), "");
  EXPECT_EQ(text.report(measured(search(3, 0, 1))),
            "task 1/4: Conv2D c1: best 1.50 us, default 2.00 us (0:03 elapsed)\n");
  EXPECT_EQ(text.report(search(3, 0, 1)), "");
  EXPECT_EQ(text.report(search(3, 0, 2)), "") << "the bank knew it: nothing was measured";
}

TEST(ProgressText, WhatWasNotSearchedIsOneLine) {
  ProgressText text;
  text.report(search(3, 0, 1));
  Progress p = search(4, 0, 1);
  p.not_searched = 3;
  p.stage = AOE_STAGE_CONFIRM;
  EXPECT_EQ(text.report(p),
            "the search has ended: 3 of 4 tasks were not searched to the end (0:04 elapsed)\n"
            "confirming in the model (0:04 elapsed)\n");
}

TEST(ProgressText, ANewModelBeginsAnew) {
  ProgressText text;
  text.report(measured(search(3, 0, 2)));
  Progress p = search(1, 0, 0);
  p.tuning_name = "other";
  p.stage = AOE_STAGE_BASELINE;
  EXPECT_EQ(text.report(p), "model other\nmeasuring the untuned model (0:01 elapsed)\n");
}

TEST(ProgressText, FitsTheTerminal) {
  ProgressText text;
  Progress p = measured(search(10, 20));
  p.op_name = std::string(200, 'n');
  text.report(p);
  EXPECT_EQ(text.line(0, 79).size(), 79U);
}

TEST(ProgressText, TellsModelsApartThatAreAtWorkAtOnce) {
  Progress a = measured(search(1, 9));
  a.tasks_done = 0;
  a.tasks_total = 4;
  Progress b = a;
  a.tuning_name = "a";
  b.tuning_name = "b";
  a.model_index = 1;
  b.model_index = 2;
  a.model_count = b.model_count = 2;
  ProgressText text;
  text.report(a);
  text.report(b);
  a.tasks_done = b.tasks_done = 1;
  EXPECT_NE(text.report(b).find("model b (2 of 2)\ntask 1/4: "), std::string::npos);
  b.tasks_done = 2;
  EXPECT_EQ(text.report(b).find("task 2/4: "), 0U);
  EXPECT_NE(text.report(a).find("model a (1 of 2)\ntask 1/4: "), std::string::npos);
}

TEST(ProgressText, SaysWhichOfSeveralModels) {
  Progress p;
  p.tuning_name = "net";
  p.model_index = 2;
  p.model_count = 5;
  ProgressText text;
  EXPECT_EQ(text.report(p), "model net (2 of 5)\nmeasuring the untuned model (0:00 elapsed)\n");
  p.stage = AOE_STAGE_SEARCH;
  EXPECT_EQ(text.report(p), "");
  EXPECT_NE(text.line(0, 200).find("net (2 of 5)"), std::string::npos);
}

}  // namespace
}  // namespace aoe::tools
