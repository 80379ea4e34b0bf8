// The recorder: nothing lost silently, nothing torn, order and clock right.
#include "profiler/recorder.h"

#include <gtest/gtest.h>
#include <time.h>

#include <algorithm>
#include <map>
#include <set>
#include <thread>

namespace aoe::profiler {
namespace {

/// A clean recorder for each test: it is process-wide.
class Recorder : public ::testing::Test {
 protected:
  void SetUp() override {
    stop();
    drain();
    start();
  }
  void TearDown() override {
    stop();
    drain();
  }
};

/// An event whose fields depend on each other, so that a torn one is noticed.
void record_numbered(std::uint64_t number, std::uint32_t writer) {
  record(EventKind::kCounter, writer, number * 2 + 1, number * 2 + 2, number);
}

void expect_untorn(const Event& e) {
  EXPECT_EQ(e.kind, EventKind::kCounter);
  EXPECT_EQ(e.begin_ticks, e.value * 2 + 1);
  EXPECT_EQ(e.end_ticks, e.value * 2 + 2);
}

TEST_F(Recorder, SpanRecordsKindNameValueAndTimes) {
  const std::uint32_t id = intern("conv1");
  const std::uint64_t before = now_ticks();
  { Span span(EventKind::kTask, id, 7); }
  const std::uint64_t after = now_ticks();
  const std::vector<Event> events = drain();
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].kind, EventKind::kTask);
  EXPECT_EQ(name_of(events[0].name_id), "conv1");
  EXPECT_EQ(events[0].value, 7u);
  EXPECT_LE(before, events[0].begin_ticks);
  EXPECT_LE(events[0].begin_ticks, events[0].end_ticks);
  EXPECT_LE(events[0].end_ticks, after);
}

TEST_F(Recorder, RecordsNothingWhenOff) {
  stop();
  { Span span(EventKind::kTask, intern("x")); }
  record(EventKind::kStamp, intern("x"), 1, 1);
  EXPECT_TRUE(drain().empty());
  EXPECT_EQ(lost_events(), 0u);
}

TEST_F(Recorder, InternGivesOneIdPerName) {
  const std::uint32_t a = intern("a name");
  const std::uint32_t b = intern("another name");
  EXPECT_NE(a, b);
  EXPECT_EQ(intern("a name"), a);
  EXPECT_EQ(name_of(b), "another name");
  EXPECT_EQ(name_of(0xffffffff), "");
}

TEST_F(Recorder, DrainOrdersByBeginAndEmpties) {
  for (const std::uint64_t number : {5, 1, 9, 3}) record_numbered(number, 0);
  const std::vector<Event> events = drain();
  ASSERT_EQ(events.size(), 4u);
  EXPECT_TRUE(std::is_sorted(events.begin(), events.end(), [](const Event& a, const Event& b) {
    return a.begin_ticks < b.begin_ticks;
  }));
  EXPECT_TRUE(drain().empty());
}

TEST_F(Recorder, FullRingDropsTheNewestAndCountsThem) {
  constexpr std::uint64_t kTooMany = 1000;
  for (std::uint64_t i = 0; i < kRingEvents + kTooMany; ++i) record_numbered(i, 0);
  EXPECT_EQ(lost_events(), kTooMany);
  const std::vector<Event> events = drain();
  ASSERT_EQ(events.size(), kRingEvents);
  EXPECT_EQ(events.front().value, 0u);
  EXPECT_EQ(events.back().value, kRingEvents - 1);
  record_numbered(1, 0);  // there is room again
  EXPECT_EQ(drain().size(), 1u);
  EXPECT_EQ(lost_events(), kTooMany);
  start();  // counts from anew
  EXPECT_EQ(lost_events(), 0u);
}

TEST_F(Recorder, EventsOutliveTheirThread) {
  std::thread([] { record_numbered(42, 0); }).join();
  const std::vector<Event> events = drain();
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].value, 42u);
}

TEST_F(Recorder, ThreadIndicesStayDenseOverManyShortThreads) {
  std::set<std::uint16_t> indices;
  for (std::uint64_t i = 0; i < 200; ++i) {
    std::thread([i] { record_numbered(i, 0); }).join();
    for (const Event& e : drain()) indices.insert(e.thread);
  }
  EXPECT_LE(indices.size(), 2u);  // a ring is reused once its thread has ended and it was drained
}

/// Writers run flat out while a reader that is too slow for them drains now and then: each event is
/// either seen once, whole and in order, or counted as lost.
TEST_F(Recorder, SlowReaderSeesOrCountsEveryEvent) {
  constexpr std::uint32_t kWriters = 4;
  constexpr std::uint64_t kEventsPerWriter = 3 * kRingEvents;
  std::atomic<std::uint32_t> running{kWriters};
  std::vector<std::thread> writers;
  for (std::uint32_t writer = 0; writer < kWriters; ++writer) {
    writers.emplace_back([writer, &running] {
      for (std::uint64_t i = 0; i < kEventsPerWriter; ++i) record_numbered(i, writer);
      --running;
    });
  }
  std::map<std::uint32_t, std::uint64_t> next_number;
  std::uint64_t seen = 0;
  const auto read_all = [&] {
    for (const Event& e : drain()) {
      expect_untorn(e);
      EXPECT_GE(e.value, next_number[e.name_id]);
      next_number[e.name_id] = e.value + 1;
      ++seen;
    }
  };
  while (running > 0) {
    read_all();
    std::this_thread::yield();
  }
  for (std::thread& writer : writers) writer.join();
  read_all();
  EXPECT_EQ(seen + lost_events(), kWriters * kEventsPerWriter);
  EXPECT_GE(seen, kWriters * kRingEvents);  // at least one ring full of each
}

std::int64_t monotonic_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

TEST_F(Recorder, TicksConvertToMonotonicTime) {
  to_ns(0);  // calibrates
  for (int i = 0; i < 100; ++i) {
    // Each reading is enclosed by two of the other clock, so that a preempted attempt cannot fail
    // the test.
    const std::int64_t before_ns = monotonic_ns();
    const std::uint64_t ticks = now_ticks();
    const std::int64_t after_ns = monotonic_ns();
    constexpr std::int64_t kSlackNs =
        20'000;  // some ppm of drift over the life of the test program
    EXPECT_GE(to_monotonic_ns(ticks), before_ns - kSlackNs);
    EXPECT_LE(to_monotonic_ns(ticks), after_ns + kSlackNs);
  }
}

TEST_F(Recorder, DurationsAgreeWithMonotonicTime) {
  const std::int64_t begin_outer_ns = monotonic_ns();
  const std::uint64_t begin_ticks = now_ticks();
  const std::int64_t begin_inner_ns = monotonic_ns();
  while (monotonic_ns() - begin_inner_ns < 5'000'000) {
  }
  const std::int64_t end_inner_ns = monotonic_ns();
  const std::uint64_t end_ticks = now_ticks();
  const std::int64_t end_outer_ns = monotonic_ns();
  const double ns = to_ns(end_ticks - begin_ticks);
  EXPECT_GE(ns, 0.999 * static_cast<double>(end_inner_ns - begin_inner_ns));
  EXPECT_LE(ns, 1.001 * static_cast<double>(end_outer_ns - begin_outer_ns));
}

}  // namespace
}  // namespace aoe::profiler
