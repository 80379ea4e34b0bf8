// Repeated calls, and the time they may take.
#include "tuner/measure/calm_measurer.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>

#include "base/log.h"
#include "base/statistics.h"

namespace aoe::tuner {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

double yardstick_ns(const std::vector<ModelTiming>& timings) {
  return median(timings.front().samples_ns);
}

}  // namespace

/// A wait that ends in no measurement is lost: there must be time for the pause, this call once more, and one like it.
bool CalmMeasurer::may_wait(double seconds) const {
  return waited_s_ < policy_.calm_wait_s && seconds < bounds_.end.left_s();
}

/// Whether the pause was not cut short.
bool CalmMeasurer::pause(double seconds) const {
  std::mutex mutex;
  std::unique_lock lock(mutex);
  std::condition_variable_any woken;
  woken.wait_for(lock, stop_, std::chrono::duration<double>(seconds), [] { return false; });
  return !stop_.stop_requested();
}

Result<std::vector<ModelTiming>> CalmMeasurer::run_models(
    std::span<const std::filesystem::path> oms) {
  const auto first = Clock::now();
  auto calmest = inner_.run_models(oms);
  const double call_s = seconds_since(first);
  if (!calmest || calmest->empty() || calmest->front().samples_ns.empty()) return calmest;
  const auto known = calmest_ns_.try_emplace(oms.front(), yardstick_ns(*calmest)).first;
  double pause_s = first_pause_s_;
  while (yardstick_ns(*calmest) > policy_.calm_ratio * known->second &&
         may_wait(pause_s + 2 * call_s)) {
    logger("tuner")->info(
        "the machine is slower than it was: untuned_ms={:.3f} calm_ms={:.3f}; "
        "measuring again in {:.1f} s",
        yardstick_ns(*calmest) / 1e6, known->second / 1e6, pause_s);
    if (on_wait_)
      on_wait_(fmt::format("the machine is {:.1f} times as slow as it was",
                           yardstick_ns(*calmest) / known->second));
    const auto begin = Clock::now();
    const bool goes_on = pause(pause_s);
    if (on_wait_) on_wait_("");
    if (!goes_on) break;
    auto again = inner_.run_models(oms);
    waited_s_ += seconds_since(begin);
    pause_s *= 2;
    if (bounds_.end.has_passed() && !again) break;  // what was measured stands
    if (!again || again->front().samples_ns.empty()) return again;
    if (yardstick_ns(*again) < yardstick_ns(*calmest)) calmest = std::move(again);
  }
  known->second = std::min(known->second, yardstick_ns(*calmest));
  return calmest;
}

}  // namespace aoe::tuner
