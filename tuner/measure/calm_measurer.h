// CalmMeasurer: whole models are measured again when the machine was slower than it can be.
//
// Other tenants of a processor slow it for some seconds at a time, by up to twice, and not every op by the same factor: what
// wins then need not win when the machine is calm. The first om of each call is the yardstick: a call in which it took clearly
// longer than in its calmest call so far is repeated after a pause, until calm returns or the time for that is used up; with
// bounds, only while what must still be measured has its time.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <stop_token>
#include <string>
#include <utility>

#include "tuner/measure/measurer.h"

namespace aoe::tuner {

class CalmMeasurer final : public Measurer {
 public:
  /// Waits within measure.calm_wait_s of `policy`, all calls together; pauses of one call begin with `first_pause_s` and
  /// double. Forwards everything else to `inner`.
  CalmMeasurer(Measurer& inner, const MeasurePolicy& policy, std::stop_token stop,
               double first_pause_s = 0.5)
      : inner_(inner), policy_(policy), stop_(std::move(stop)), first_pause_s_(first_pause_s) {}

  /// Told why nothing is measured, and, with an empty text, that it goes on.
  using OnWait = std::function<void(const std::string& reason)>;
  void set_on_wait(OnWait on_wait) { on_wait_ = std::move(on_wait); }
  double waited_s() const { return waited_s_; }  ///< the repetitions included

  void set_bounds(const MeasureBounds& bounds) override {
    bounds_ = bounds;
    inner_.set_bounds(bounds);
  }
  void set_weights_in(WeightsIn weights_in) override { inner_.set_weights_in(weights_in); }
  std::vector<Timing> measure(const compiler::Task& task,
                              std::span<const compiler::Candidate> candidates,
                              double best_ns) override {
    return inner_.measure(task, candidates, best_ns);
  }
  std::vector<Timing> race(const compiler::Task& task,
                           std::span<const compiler::Candidate> candidates) override {
    return inner_.race(task, candidates);
  }
  std::vector<Timing> race_subgraphs(const std::filesystem::path& reference,
                                     std::span<const std::filesystem::path> oms) override {
    return inner_.race_subgraphs(reference, oms);
  }
  Result<std::vector<ModelTiming>> run_models(std::span<const std::filesystem::path> oms) override;

 private:
  bool may_wait(double seconds) const;
  bool pause(double seconds) const;

  Measurer& inner_;
  const MeasurePolicy& policy_;
  std::stop_token stop_;
  double first_pause_s_;
  MeasureBounds bounds_;
  OnWait on_wait_;
  std::map<std::filesystem::path, double> calmest_ns_;  ///< by yardstick
  double waited_s_ = 0;
};

}  // namespace aoe::tuner
