// A Measurer that is a formula, an Impl whose Schedules it can judge, and a task they agree on: searches in milliseconds.
#pragma once

#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <random>

#include "compiler/impl.h"
#include "runtime/om/om.h"
#include "tuner/measure/measurer.h"
#include "tuner/tasks/operator_list.h"

namespace aoe::tuner::tests {

/// Takes axes and what is legal; the first values are the heuristic.
class FakePlan final : public compiler::Plan {
 public:
  using IsLegal = std::function<bool(const compiler::Schedule&)>;
  FakePlan(const compiler::Task& task, const compiler::FormatChoice& format,
           const compiler::Soc& soc, std::vector<compiler::ScheduleAxis> axes, IsLegal is_legal)
      : Plan(task, format, soc, std::move(axes)), is_legal_(std::move(is_legal)) {}

  bool is_legal(const compiler::Schedule& s) const override { return is_legal_(s); }
  compiler::Features features(const compiler::Schedule&) const override { return {}; }
  double estimate_ns(const compiler::Schedule&) const override { return 1000; }
  compiler::Kernel build(const compiler::Schedule&) const override { return {}; }

 private:
  compiler::Schedule search() const override {
    compiler::Schedule first;
    for (const compiler::ScheduleAxis& axis : axes()) first[axis.name] = axis.values.front();
    return first;
  }

  IsLegal is_legal_;
};

/// Schedules of `tile` x `unroll`; tiles above `largest_legal_tile` are illegal.
class FakeImpl : public compiler::Impl {
 public:
  explicit FakeImpl(std::string name, std::int64_t largest_legal_tile = 64)
      : name_(std::move(name)), largest_legal_tile_(largest_legal_tile) {}

  std::string_view name() const override { return name_; }
  Result<void> supports(const compiler::Task&, const compiler::Soc&) const override { return {}; }
  std::vector<compiler::FormatChoice> formats(const compiler::Task&,
                                              const compiler::Soc&) const override {
    return {format("NCHW"), format("NHWC")};
  }
  std::unique_ptr<compiler::Plan> plan(const compiler::Task& task,
                                       const compiler::FormatChoice& format,
                                       const compiler::Soc& soc) const override {
    std::vector<compiler::ScheduleAxis> axes = {{"tile", {1, 2, 4, 8, 16, 32, 64, 128}},
                                                {"unroll", {1, 2, 3, 4, 5, 6, 7, 8}}};
    return std::make_unique<FakePlan>(
        task, format, soc, std::move(axes),
        [most = largest_legal_tile_](const compiler::Schedule& s) { return s.at("tile") <= most; });
  }

  static compiler::FormatChoice format(const std::string& name) {
    return {name, {*format_from_name(name)}, {*format_from_name(name)}};
  }
  compiler::Candidate at(std::int64_t tile, std::int64_t unroll,
                         const std::string& format_name = "NCHW") const {
    return {this, format(format_name), {{"tile", tile}, {"unroll", unroll}}};
  }

 private:
  std::string name_;
  std::int64_t largest_legal_tile_;
};

/// Samples are cost(candidate) with seeded noise; a negative cost is a candidate that fails with kWrongResult.
class FakeMeasurer final : public Measurer {
 public:
  using Cost = std::function<double(const compiler::Candidate&)>;
  explicit FakeMeasurer(Cost cost, double noise = 0, std::uint64_t seed = 1)
      : cost_(std::move(cost)), noise_(noise), random_(seed) {}

  void set_weights_in(WeightsIn place) override { weights_in = place; }

  std::vector<Timing> measure(const compiler::Task&,
                              std::span<const compiler::Candidate> candidates, double) override {
    std::vector<Timing> timings;
    for (const auto& candidate : candidates) timings.push_back(sample(candidate, 5));
    measured += static_cast<int>(candidates.size());
    return timings;
  }

  std::vector<Timing> race(const compiler::Task&,
                           std::span<const compiler::Candidate> candidates) override {
    ++races;
    std::vector<Timing> timings;
    for (const auto& candidate : candidates) timings.push_back(sample(candidate, 21));
    return timings;
  }

  std::vector<Timing> race_subgraphs(const std::filesystem::path&,
                                     std::span<const std::filesystem::path> oms) override {
    return std::vector<Timing>(
        oms.size(), Timing::failure(Outcome::kCompileError, "the fake runs no subgraphs"));
  }

  Result<std::vector<ModelTiming>> run_models(std::span<const std::filesystem::path>) override {
    return Unexpected("the fake runs no models");
  }

  WeightsIn weights_in = WeightsIn::kAuto;
  int measured = 0;
  int races = 0;

 private:
  Timing sample(const compiler::Candidate& candidate, int count) {
    const double ns = cost_(candidate);
    if (ns < 0) return Timing::failure(Outcome::kWrongResult, "off by one");
    Timing timing;
    std::normal_distribution<double> jitter(0, noise_);
    for (int i = 0; i < count; ++i)
      timing.samples_ns.push_back(ns * (1 + std::abs(jitter(random_))));
    return timing;
  }

  Cost cost_;
  double noise_;
  std::mt19937_64 random_;
};

/// Knows of whole models only, which those derived from it time.
class ModelsOnlyMeasurer : public Measurer {
 public:
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
};

/// Of runs without noise in which conversions take no time.
inline ModelTiming model_timing(const runtime::Om& om, const std::map<std::string, double>& node_ns,
                                std::size_t runs) {
  ModelTiming timing{.samples_ns = std::vector<double>(runs, 0)};
  for (const runtime::OmStep& step : om.steps) {
    const auto node = node_ns.find(step.name);
    const double ns = node == node_ns.end() ? 0 : node->second;
    timing.steps_ns.emplace_back(runs, ns);
    for (double& sample : timing.samples_ns) sample += ns;
  }
  return timing;
}

/// Best at tile 16, unroll 6: 100 ns; 20 ns more per step (by ratio) away from it.
inline double bowl(const compiler::Candidate& c) {
  const double tile = std::abs(std::log2(static_cast<double>(c.schedule.at("tile"))) - 4);
  const double unroll = std::abs(static_cast<double>(c.schedule.at("unroll")) - 6);
  return 100 + 20 * tile + 5 * unroll;
}

inline compiler::Soc fake_soc() {
  compiler::Soc soc;
  soc.version = "x86_64-test-2t";
  soc.threads = 2;
  return soc;
}

inline compiler::Task fake_task(std::int64_t channels = 64) {
  const TensorDesc desc{DataType::kFloat, {1, channels, 8, 8}, Format::kND, 0};
  compiler::Task task;
  task.op.type = "Relu";
  task.inputs = {{desc, nullptr}};
  task.outputs = {desc};
  return task;
}

}  // namespace aoe::tuner::tests
