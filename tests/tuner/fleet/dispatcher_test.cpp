// Orders, answers and lost nodes, through files in a directory, by a clock that the test sets.
#include "tuner/fleet/dispatcher.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <memory>

#include "base/error.h"
#include "base/file.h"
#include "tests/temp_dir.h"
#include "tuner/fleet/node_link.h"

namespace aoe::tuner {
namespace {
using nlohmann::json;

constexpr const char* kKind = "x86_64-znver5-2t";

class DispatcherTest : public ::testing::Test {
 protected:
  std::unique_ptr<NodeLink> node(const std::string& name, const std::string& kind = kKind) {
    auto link = std::make_unique<NodeLink>(spool_, name, json{{"soc_version", kind}});
    pass(policy_.look_s);
    return link;
  }
  OrderId submit(const std::string& what, const std::string& kind = kKind) {
    return dispatcher_.submit({.soc_version = kind, .message = {{"what", what}}});
  }
  /// The clock goes on, and the dispatcher looks.
  void pass(double s) {
    now_ += seconds(s);
    dispatcher_.poll();
  }
  /// Everybody but `silent` gives signs of life until a silent one is lost.
  void lose_silent(const std::vector<NodeLink*>& others) {
    for (double s = 0; s <= policy_.lost_after_s + policy_.look_s; s += policy_.look_s) {
      for (NodeLink* each : others) {
        std::filesystem::last_write_time(
            spool_.about(each->name()),
            std::filesystem::file_time_type::clock::now() + std::chrono::seconds(++beats_));
      }
      pass(policy_.look_s);
    }
  }
  static std::string what(const std::optional<json>& order) {
    return order ? order->at("what").get<std::string>() : "nothing";
  }

  const tests::TempDir directory_;
  const DispatchPolicy policy_;
  TimePoint now_{};
  int beats_ = 0;
  const Spool spool_{directory_.path() / "spool"};
  Dispatcher dispatcher_{spool_, policy_, [this] { return now_; }};
};

TEST_F(DispatcherTest, AnOrderGoesToANodeOfItsKindAndIsAnsweredOnce) {
  const auto other = node("other", "x86_64-haswell-2t");
  const auto ours = node("ours");
  const OrderId id = submit("a");
  dispatcher_.poll();
  EXPECT_EQ(what(other->next_order()), "nothing");
  EXPECT_EQ(what(ours->next_order()), "a");
  EXPECT_EQ(what(ours->next_order()), "nothing") << "the same order twice";
  EXPECT_FALSE(dispatcher_.take(id));
  ours->answer({{"result", 42}});
  dispatcher_.poll();
  const auto answer = dispatcher_.take(id);
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->kind, Answer::Kind::kDone);
  EXPECT_EQ(answer->message.at("result"), 42);
  EXPECT_EQ(answer->node, "ours");
  EXPECT_FALSE(dispatcher_.take(id));
}

TEST_F(DispatcherTest, OrdersWithinOneTickOfTheFileSystemsClockAreTwo) {
  const auto only = node("only");
  submit("first");
  dispatcher_.poll();
  EXPECT_EQ(what(only->next_order()), "first");
  const auto first_written = std::filesystem::last_write_time(spool_.order("only"));
  only->answer({});
  submit("second");
  dispatcher_.poll();
  std::filesystem::last_write_time(spool_.order("only"), first_written);
  EXPECT_EQ(what(only->next_order()), "second");
}

TEST_F(DispatcherTest, ANodeHasOneOrderAtATimeAndUrgentOnesComeFirst) {
  const auto only = node("only");
  submit("first");
  submit("second");
  dispatcher_.submit({.soc_version = kKind, .message = {{"what", "urgent"}}, .is_urgent = true});
  dispatcher_.poll();
  for (const char* expected : {"urgent", "first", "second"}) {
    dispatcher_.poll();
    EXPECT_EQ(what(only->next_order()), expected);
    only->answer({});
    dispatcher_.poll();
  }
}

TEST_F(DispatcherTest, WhatALostNodeHadIsMeasuredElsewhereAndCountedOnce) {
  const auto lost = node("lost");
  const OrderId id = submit("a");
  dispatcher_.poll();
  EXPECT_EQ(what(lost->next_order()), "a");
  const auto other = node("other");
  lose_silent({other.get()});
  EXPECT_EQ(dispatcher_.counts().lost_nodes, 1);
  EXPECT_EQ(what(other->next_order()), "a");
  // It was not dead but slow.
  lost->answer({{"by", "lost"}});
  dispatcher_.poll();
  EXPECT_FALSE(dispatcher_.take(id));
  EXPECT_EQ(dispatcher_.counts().stale, 1);
  other->answer({{"by", "other"}});
  dispatcher_.poll();
  const auto answer = dispatcher_.take(id);
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->message.at("by"), "other");
  EXPECT_EQ(dispatcher_.counts().answers, 1);
}

TEST_F(DispatcherTest, ANodeThatComesBackGetsWorkAgain) {
  const auto slow = node("slow");
  submit("a");
  dispatcher_.poll();
  EXPECT_EQ(what(slow->next_order()), "a");
  lose_silent({});
  EXPECT_EQ(dispatcher_.living(), 0U);
  slow->answer({});
  dispatcher_.poll();
  dispatcher_.poll();
  EXPECT_EQ(what(slow->next_order()), "a") << "there was nobody else to measure it";
}

TEST_F(DispatcherTest, AnIdleNodeThatComesBackGetsWork) {
  const auto idle = node("idle");
  lose_silent({});
  EXPECT_EQ(dispatcher_.living(), 0U);
  std::filesystem::last_write_time(
      spool_.about("idle"),
      std::filesystem::file_time_type::clock::now() + std::chrono::seconds(1000));
  submit("a");
  pass(policy_.look_s);
  EXPECT_EQ(dispatcher_.living(), 1U);
  EXPECT_EQ(what(idle->next_order()), "a");
}

TEST_F(DispatcherTest, ANodeThatEndsInOrderIsLostAtOnce) {
  auto ending = node("ending");
  submit("a");
  dispatcher_.poll();
  EXPECT_EQ(what(ending->next_order()), "a");
  ending.reset();
  const auto next = node("next");
  dispatcher_.poll();
  EXPECT_EQ(what(next->next_order()), "a");
}

TEST_F(DispatcherTest, WhatSeveralNodesFailWithFailsWithTheLastCause) {
  const auto only = node("only");
  const OrderId id = submit("a");
  for (int i = 0; i < policy_.tries; ++i) {
    dispatcher_.poll();
    EXPECT_EQ(what(only->next_order()), "a") << i;
    only->fail("cause " + std::to_string(i));
    dispatcher_.poll();
  }
  const auto answer = dispatcher_.take(id);
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->kind, Answer::Kind::kFailed);
  EXPECT_EQ(answer->cause, "cause 2");
}

TEST_F(DispatcherTest, ADamagedAnswerIsNone) {
  const auto only = node("only");
  const OrderId id = submit("a");
  const std::string damaged[] = {"\xff\xff", "", std::string(1 << 20, '\x81')};
  for (const std::string& bytes : damaged) {
    dispatcher_.poll();
    EXPECT_EQ(what(only->next_order()), "a");
    write_file_atomically(spool_.done() / "only", bytes);
    dispatcher_.poll();
  }
  const auto answer = dispatcher_.take(id);
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->kind, Answer::Kind::kFailed);
}

TEST_F(DispatcherTest, ADamagedOrderIsGivenAgain) {
  const auto only = node("only");
  submit("a");
  dispatcher_.poll();
  write_file_atomically(spool_.order("only"), "nonsense");
  EXPECT_EQ(what(only->next_order()), "nothing");
  dispatcher_.poll();
  dispatcher_.poll();
  EXPECT_EQ(what(only->next_order()), "a");
}

TEST_F(DispatcherTest, WhatIsTooLateIsNotBegun) {
  const OrderId id =
      dispatcher_.submit({.soc_version = kKind,
                          .message = {{"what", "a"}},
                          .deadline = Deadline(now_ + seconds(10), [this] { return now_; })});
  pass(11);
  const auto late = node("late");
  dispatcher_.poll();
  EXPECT_EQ(what(late->next_order()), "nothing");
  const auto answer = dispatcher_.take(id);
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->kind, Answer::Kind::kExpired);
}

TEST_F(DispatcherTest, TheTimeThatIsLeftGoesWithTheOrder) {
  const auto only = node("only");
  dispatcher_.submit({.soc_version = kKind,
                      .message = {{"what", "a"}},
                      .deadline = Deadline(now_ + seconds(10), [this] { return now_; })});
  now_ += seconds(4);
  dispatcher_.poll();
  const auto order = only->next_order();
  ASSERT_TRUE(order);
  EXPECT_DOUBLE_EQ(order->at("left_s").get<double>(), 6);
}

TEST_F(DispatcherTest, WhatIsCancelledIsNotGivenOut) {
  const OrderId id = submit("a");
  submit("b");
  dispatcher_.cancel(id);
  const auto only = node("only");
  dispatcher_.poll();
  EXPECT_EQ(what(only->next_order()), "b");
}

TEST_F(DispatcherTest, ANodeOfAnotherVersionGetsNothing) {
  const auto old = node("old");
  write_message(spool_.about("old"), {{"soc_version", kKind}, {"version", "0.0.1-1"}});
  // Met for the first time with that.
  Dispatcher another(spool_, policy_, [this] { return now_; });
  another.submit({.soc_version = kKind, .message = {{"what", "a"}}});
  another.poll();
  EXPECT_EQ(another.living(), 0U);
  EXPECT_EQ(what(old->next_order()), "nothing");
}

TEST_F(DispatcherTest, ANodeRefusesWhatIsNoSpoolOfItsOwner) {
  const json about = {{"soc_version", kKind}};
  const auto refused = [&](const Spool& spool, const std::string& name, const std::string& text) {
    try {
      NodeLink(spool, name, about);
      ADD_FAILURE() << "taken, and not: " << text;
    } catch (const Error& e) {
      EXPECT_NE(std::string(e.what()).find(text), std::string::npos) << e.what();
    }
  };
  refused({directory_.path() / "nowhere"}, "n", "no such spool");
  refused(spool_, "../n", "node's name");
  const auto taken = node("taken");
  refused(spool_, "taken", "called so already");
  write_message(spool_.fleet(), {{"version", "0.0.1-1"}});
  refused(spool_, "n", "another version");
  std::filesystem::permissions(spool_.directory, std::filesystem::perms::group_write,
                               std::filesystem::perm_options::add);
  refused(spool_, "n", "others could write");
}

}  // namespace
}  // namespace aoe::tuner
