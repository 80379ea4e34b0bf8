// Lines that programs read: what is not known is null, and any name stays one line of JSON.
#include "tools/aoe/progress_json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/json_text.h"

namespace aoe::tools {
namespace {

AoeProgress progress() {
  AoeProgress p = {};
  p.tuning_name = p.op_name = p.op_type = p.shape = p.waiting = "";
  p.limit_left_s = -1;
  return p;
}

TEST(ProgressJson, WhatIsNotKnownIsNull) {
  const auto line = parse_json(progress_json(progress()));
  EXPECT_EQ(line.at("stage"), "baseline");
  for (const char* key : {"default_us", "best_us", "left_s", "limit_left_s"})
    EXPECT_TRUE(line.at(key).is_null()) << key;
}

TEST(ProgressJson, HasFiguresInMicroseconds) {
  AoeProgress p = progress();
  p.stage = AOE_STAGE_SEARCH;
  p.tasks_done = 3;
  p.tasks_total = 22;
  p.default_ns = 1500;
  p.best_ns = 1000;
  p.limit_left_s = 0;
  const auto line = parse_json(progress_json(p));
  EXPECT_EQ(line.at("stage"), "search");
  EXPECT_EQ(line.at("done"), 3);
  EXPECT_EQ(line.at("total"), 22);
  EXPECT_EQ(line.at("default_us"), 1.5);
  EXPECT_EQ(line.at("best_us"), 1.0);
  EXPECT_EQ(line.at("limit_left_s"), 0);
}

TEST(ProgressJson, AnyNameIsOneLine) {
  AoeProgress p = progress();
  p.op_name = "a\n\"b\"\xff";
  const std::string line = progress_json(p);
  EXPECT_EQ(line.find('\n'), std::string::npos);
  EXPECT_EQ(parse_json(line).at("op").get<std::string>().substr(0, 5), "a\n\"b\"");
}

}  // namespace
}  // namespace aoe::tools
