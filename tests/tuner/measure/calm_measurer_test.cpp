// Models that are measured again when the machine was slow.
#include "tuner/measure/calm_measurer.h"

#include <gtest/gtest.h>

#include <deque>
#include <functional>

#include "tests/tuner/fakes.h"

namespace aoe::tuner {
namespace {

/// Each call takes the next of the given times; the last one for ever.
class Machine final : public tests::ModelsOnlyMeasurer {
 public:
  explicit Machine(std::deque<double> times_ns) : times_ns_(std::move(times_ns)) {}

  Result<std::vector<ModelTiming>> run_models(std::span<const std::filesystem::path> oms) override {
    ++calls;
    if (on_call) on_call();
    const double ns = times_ns_.front();
    if (times_ns_.size() > 1) times_ns_.pop_front();
    if (ns < 0) return Unexpected("it does not run");
    return std::vector<ModelTiming>(oms.size(), ModelTiming{{ns, ns, ns}, {}});
  }

  int calls = 0;
  std::function<void()> on_call;

 private:
  std::deque<double> times_ns_;
};

class Calm : public ::testing::Test {
 protected:
  /// What calls with these yardsticks, one after another, say of them; -1: that they do not run.
  std::vector<double> times_ns(Machine& machine, const std::vector<const char*>& yardsticks,
                               double first_pause_s = 1e-4) {
    CalmMeasurer calm(machine, policy, stop.get_token(), first_pause_s);
    std::vector<double> times;
    for (const char* yardstick : yardsticks) {
      const std::filesystem::path oms[] = {yardstick, "other.om"};
      const auto timings = calm.run_models(oms);
      times.push_back(timings ? timings->front().samples_ns.front() : -1);
    }
    return times;
  }
  std::vector<double> two_times_ns(Machine& machine, double first_pause_s = 1e-4) {
    return times_ns(machine, {"untuned.om", "untuned.om"}, first_pause_s);
  }

  /// Waits as long as it takes.
  MeasurePolicy policy{.calm_wait_s = 1e9};
  std::stop_source stop;
};

using Times = std::vector<double>;

TEST_F(Calm, MeasuresOnceWhileTheYardstickKeepsItsTime) {
  Machine machine({100, 110, 90, 100});
  EXPECT_EQ(times_ns(machine, {"a.om", "a.om", "a.om", "a.om"}), (Times{100, 110, 90, 100}));
  EXPECT_EQ(machine.calls, 4);
}

TEST_F(Calm, MeasuresAgainUntilTheMachineIsAsFastAsItWas) {
  Machine machine({100, 180, 170, 104});
  EXPECT_EQ(two_times_ns(machine), (Times{100, 104}));
  EXPECT_EQ(machine.calls, 4);
}

TEST_F(Calm, EveryYardstickHasItsOwnTime) {
  Machine machine({100, 300});
  EXPECT_EQ(times_ns(machine, {"small.om", "large.om"}), (Times{100, 300}));
  EXPECT_EQ(machine.calls, 2);
}

TEST_F(Calm, WaitsNoLongerThanItMay) {
  policy.calm_wait_s = 0;
  Machine machine({100, 180});
  EXPECT_EQ(two_times_ns(machine), (Times{100, 180}));
  EXPECT_EQ(machine.calls, 2);
}

TEST_F(Calm, TakesTheCalmestOfSeveral) {
  Machine machine({100, 180, 150, 170});
  machine.on_call = [&] {
    if (machine.calls == 4) stop.request_stop();
  };
  EXPECT_EQ(two_times_ns(machine), (Times{100, 150}));
  EXPECT_EQ(machine.calls, 4);
}

TEST_F(Calm, StopsWhenAsked) {
  Machine machine({100, 180});
  machine.on_call = [&] {
    if (machine.calls == 2) stop.request_stop();
  };
  EXPECT_EQ(two_times_ns(machine, 3600), (Times{100, 180}));
}

TEST_F(Calm, AModelThatDoesNotRunIsNotRepeated) {
  Machine machine({100, 180, -1});
  EXPECT_EQ(two_times_ns(machine), (Times{100, -1}));
}

}  // namespace
}  // namespace aoe::tuner
