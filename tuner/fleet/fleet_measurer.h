// Measurer by the nodes of a fleet: each call is an order for one node of the kind, and this run waits for its answer.
#pragma once

#include "tuner/fleet/fleet.h"
#include "tuner/measure/measurer.h"

namespace aoe::tuner {

class FleetMeasurer final : public Measurer {
 public:
  /// The fleet stays with the caller, who holds its turn during calls. oms must lie where all nodes see them.
  FleetMeasurer(Fleet& fleet, std::string soc_version, MeasurePolicy policy, std::stop_token stop)
      : fleet_(fleet),
        soc_version_(std::move(soc_version)),
        policy_(std::move(policy)),
        stop_(std::move(stop)) {}

  void set_bounds(const MeasureBounds& bounds) override { bounds_ = bounds; }
  void set_weights_in(WeightsIn weights_in) override { policy_.weights_in = weights_in; }
  std::vector<Timing> measure(const compiler::Task& task,
                              std::span<const compiler::Candidate> candidates,
                              double best_ns) override;
  std::vector<Timing> race(const compiler::Task& task,
                           std::span<const compiler::Candidate> candidates) override;
  std::vector<Timing> race_subgraphs(const std::filesystem::path& reference,
                                     std::span<const std::filesystem::path> oms) override;
  Result<std::vector<ModelTiming>> run_models(std::span<const std::filesystem::path> oms) override;

 private:
  std::optional<Answer> ask(nlohmann::json message);
  std::vector<Timing> timings_of(const std::optional<Answer>& answer, std::size_t count) const;

  Fleet& fleet_;
  const std::string soc_version_;
  MeasurePolicy policy_;
  const std::stop_token stop_;
  MeasureBounds bounds_;
};

/// On the node: carries an order of a FleetMeasurer out; nullopt: it is none. `measurer_of` gives one with the order's policy.
std::optional<nlohmann::json> measure_order(
    const nlohmann::json& message, const compiler::Soc& soc,
    const std::function<Measurer&(const MeasurePolicy&)>& measurer_of);

std::vector<compiler::Candidate> candidates_from_json(const nlohmann::json& strategies,
                                                      const compiler::Task& task,
                                                      const compiler::Soc& soc);
nlohmann::json candidates_to_json(std::span<const compiler::Candidate> candidates);

}  // namespace aoe::tuner
