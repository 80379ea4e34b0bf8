// What a coordinator publishes is what a node learns, once; a damaged file teaches nothing.
#include "tuner/session/lessons_file.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/file.h"
#include "tests/temp_dir.h"
#include "tests/tuner/fakes.h"
#include "tuner/fleet/fleet.h"

namespace aoe::tuner {
namespace {
using nlohmann::json;
using tests::FakeImpl;

constexpr const char* kSoc = "../of any/form";

std::vector<Lesson> lessons(std::size_t count) {
  std::vector<Lesson> list;
  for (std::size_t i = 0; i < count; ++i)
    list.push_back({.impl = "fake",
                    .impl_version = 1,
                    .features = {{"axis.tile", static_cast<double>(i % 8)},
                                 {i % 2 == 0 ? "task.even" : "task.odd", 3.5}},
                    .log_ratio = 0.1 * static_cast<double>(i % 8)});
  return list;
}

class NoNodes final : public Launcher {
 public:
  void start(const Spool&) override {}
  std::size_t wanted() override { return 0; }
  std::vector<EndedNode> ended() override { return {}; }
  bool has_hope(std::string&) override { return false; }
  void stop() override {}
};

class LessonsFileTest : public testing::Test {
 protected:
  void publish(std::size_t count) {
    fleet_.publish_lessons(kSoc, count, [&] { return lessons_to_json(lessons(count)); });
  }

  aoe::tests::TempDir dir_;
  Spool spool_{dir_.path() / "spool"};
  Fleet fleet_{spool_, std::make_unique<NoNodes>()};
  LessonsReader reader_{spool_, kSoc};
  CostModel experience_;
  const FakeImpl impl_{"fake"};
};

TEST_F(LessonsFileTest, LessonsSurviveTheMessage) {
  const std::vector<Lesson> before = lessons(3), after = lessons_from_json(lessons_to_json(before));
  ASSERT_EQ(after.size(), before.size());
  for (std::size_t i = 0; i < before.size(); ++i) {
    EXPECT_EQ(after[i].impl, before[i].impl);
    EXPECT_EQ(after[i].impl_version, before[i].impl_version);
    EXPECT_EQ(after[i].features, before[i].features);
    EXPECT_EQ(after[i].log_ratio, before[i].log_ratio);
  }
}

TEST_F(LessonsFileTest, ANodeLearnsWhatIsPublishedOnce) {
  EXPECT_EQ(reader_.learn(experience_), std::nullopt) << "nothing is there";
  publish(100);
  EXPECT_EQ(reader_.learn(experience_), 100u);
  EXPECT_TRUE(experience_.knows(impl_));
  EXPECT_EQ(reader_.learn(experience_), std::nullopt) << "nothing is new";
}

TEST_F(LessonsFileTest, ItIsPublishedAgainWhenThereIsTwiceAsMuch) {
  publish(0);
  EXPECT_FALSE(last_touch(spool_.lessons(kSoc))) << "nothing to be learnt";
  publish(60);
  publish(119);
  EXPECT_EQ(reader_.learn(experience_), 60u);
  publish(120);
  EXPECT_EQ(reader_.learn(experience_), 120u);
}

TEST_F(LessonsFileTest, DamageTeachesNothing) {
  publish(50);
  ASSERT_EQ(reader_.learn(experience_), 50u);
  write_file_atomically(spool_.lessons(kSoc), "no message");
  EXPECT_ANY_THROW(reader_.learn(experience_));
  EXPECT_TRUE(experience_.knows(impl_));
  json cut = lessons_to_json(lessons(2));
  cut["lessons"][1][4].clear();
  EXPECT_ANY_THROW(lessons_from_json(cut));
}

}  // namespace
}  // namespace aoe::tuner
