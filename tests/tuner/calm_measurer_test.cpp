// Models that are measured again when the machine was slow.
#include "tuner/calm_measurer.h"

#include <gtest/gtest.h>

#include <deque>
#include <functional>

namespace aoe::tuner {
namespace {

/// Each call takes the next of the given times; the last one for ever.
class Machine final : public Measurer {
 public:
  explicit Machine(std::deque<double> times_ns) : times_ns_(std::move(times_ns)) {}

  void set_weights_in(WeightsIn) override {}
  std::vector<Timing> measure(const compiler::Task&, std::span<const compiler::Candidate>,
                              double) override {
    return {};
  }
  std::vector<Timing> race(const compiler::Task&, std::span<const compiler::Candidate>) override {
    return {};
  }
  std::vector<Timing> race_subgraphs(const std::filesystem::path&,
                                     std::span<const std::filesystem::path>) override {
    return {};
  }
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
  double time_ns(Machine& machine, CalmMeasurer& calm, const char* om = "untuned.om") {
    const std::filesystem::path oms[] = {om, "other.om"};
    const auto timings = calm.run_models(oms);
    return timings && machine.calls > 0 ? timings->front().samples_ns.front() : -1;
  }

  /// Waits as long as it takes.
  MeasurePolicy policy{.calm_wait_s = 1e9};
  std::stop_source stop;
  static constexpr double kPauseS = 1e-4;
};

TEST_F(Calm, MeasuresOnceWhileTheYardstickKeepsItsTime) {
  Machine machine({100, 110, 90, 100});
  CalmMeasurer calm(machine, policy, stop.get_token(), kPauseS);
  for (const double ns : {100, 110, 90, 100}) EXPECT_EQ(time_ns(machine, calm), ns);
  EXPECT_EQ(machine.calls, 4);
}

TEST_F(Calm, MeasuresAgainUntilTheMachineIsAsFastAsItWas) {
  Machine machine({100, 180, 170, 104});
  CalmMeasurer calm(machine, policy, stop.get_token(), kPauseS);
  time_ns(machine, calm);
  EXPECT_EQ(time_ns(machine, calm), 104);
  EXPECT_EQ(machine.calls, 4);
}

TEST_F(Calm, EveryYardstickHasItsOwnTime) {
  Machine machine({100, 300});
  CalmMeasurer calm(machine, policy, stop.get_token(), kPauseS);
  time_ns(machine, calm, "small.om");
  EXPECT_EQ(time_ns(machine, calm, "large.om"), 300);
  EXPECT_EQ(machine.calls, 2);
}

TEST_F(Calm, WaitsNoLongerThanItMay) {
  policy.calm_wait_s = 0;
  Machine machine({100, 180});
  CalmMeasurer calm(machine, policy, stop.get_token(), kPauseS);
  time_ns(machine, calm);
  EXPECT_EQ(time_ns(machine, calm), 180);
  EXPECT_EQ(machine.calls, 2);
}

TEST_F(Calm, TakesTheCalmestOfSeveral) {
  Machine machine({100, 180, 150, 170});
  machine.on_call = [&] {
    if (machine.calls == 4) stop.request_stop();
  };
  CalmMeasurer calm(machine, policy, stop.get_token(), kPauseS);
  time_ns(machine, calm);
  EXPECT_EQ(time_ns(machine, calm), 150);
  EXPECT_EQ(machine.calls, 4);
}

TEST_F(Calm, StopsWhenAsked) {
  Machine machine({100, 180});
  CalmMeasurer calm(machine, policy, stop.get_token(), 3600);
  time_ns(machine, calm);
  stop.request_stop();
  EXPECT_EQ(time_ns(machine, calm), 180);
}

TEST_F(Calm, AModelThatDoesNotRunIsNotRepeated) {
  Machine machine({100, 180, -1});
  CalmMeasurer calm(machine, policy, stop.get_token(), kPauseS);
  time_ns(machine, calm);
  EXPECT_EQ(time_ns(machine, calm), -1);
}

}  // namespace
}  // namespace aoe::tuner
