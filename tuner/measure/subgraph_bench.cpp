// Verifying and timing whole subgraphs.
#include "tuner/measure/subgraph_bench.h"

#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "tuner/measure/racing.h"
#include "tuner/measure/timed_model.h"
#include "tuner/measure/verify.h"

namespace aoe::tuner {
namespace {

constexpr std::uint64_t kSubgraphSeed = 20;

/// A conversion to or from the ND of the caller's buffers; inside the model another op's Format
/// would be there.
bool is_at_border(const runtime::Om& om, const runtime::OmStep& step) {
  const auto is_in = [](const std::vector<int>& list, int id) {
    return std::ranges::find(list, id) != list.end();
  };
  return is_conversion(step) && step.inputs.size() == 1 && step.outputs.size() == 1 &&
         (is_in(om.inputs, step.inputs[0]) || is_in(om.outputs, step.outputs[0]));
}

/// Products summed up on the way to an output element, over all ops of the subgraph.
double reduction_length_of(const runtime::Om& om) {
  double flops = 0, outputs = 0;
  for (const runtime::OmStep& step : om.steps) flops += step.flops;
  for (const int id : om.outputs)
    outputs += static_cast<double>(element_count(om.tensors[id].desc.shape));
  return outputs > 0 ? std::max(1.0, flops / (2 * outputs)) : 1.0;
}

}  // namespace

class SubgraphBench::Racer {
 public:
  Racer(const std::filesystem::path& om, const SubgraphBench& bench)
      : bench_(bench), model_(runtime::Om::load(om), bench.threads_) {
    model_.set_inputs(bench.inputs_);
    for (const runtime::OmStep& step : model_.om().steps)
      counts_.push_back(!is_at_border(model_.om(), step));
  }

  /// One sample; a run that others disturbed is repeated a few times, and the quickest counts.
  double run_ns() {
    constexpr int kMostRepeats = 3;
    double least_ns = run_once_ns();
    for (int i = 0; model_.was_disturbed() && i < kMostRepeats; ++i)
      least_ns = std::min(least_ns, run_once_ns());
    return least_ns;
  }

  Result<void> warm_up_and_verify() {
    for (int i = 0; i < std::max(1, bench_.policy_.warmup_runs); ++i) run_once_ns();
    AOE_CHECK(model_.outputs().size() == bench_.expected_.size(), "outputs of the om");
    for (std::size_t i = 0; i < bench_.expected_.size(); ++i) {
      auto same =
          compare(bench_.expected_[i]->view(), model_.outputs()[i], bench_.reduction_length_);
      if (!same) return Unexpected("output " + std::to_string(i) + ": " + same.error());
    }
    return {};
  }

 private:
  double run_once_ns() {
    const std::string_view weights = model_.om().weights_view;
    bench_.caches_.evict_weights(weights.data(), weights.size());
    for (const ConstantPtr& input : model_.inputs())
      CacheState::touch(input->data(), input->size_bytes());
    model_.run();
    double sum_ns = 0;
    for (std::size_t i = 0; i < counts_.size(); ++i)
      if (counts_[i]) sum_ns += model_.step_ns()[i];
    return sum_ns;
  }

  const SubgraphBench& bench_;
  TimedModel model_;
  std::vector<bool> counts_;  ///< by step
};

SubgraphBench::SubgraphBench(std::filesystem::path reference, const MeasurePolicy& policy,
                             int threads, const CacheState& caches)
    : reference_(std::move(reference)), policy_(policy), threads_(threads), caches_(caches) {
  TimedModel model(runtime::Om::load(reference_), threads);
  model.draw_inputs(kSubgraphSeed);
  model.run();
  inputs_ = model.inputs();
  reduction_length_ = reduction_length_of(model.om());
  for (const Tensor& output : model.outputs()) {
    expected_.push_back(std::make_unique<Constant>(output.desc));
    std::memcpy(expected_.back()->mutable_data(), output.data, storage_bytes(output.desc));
  }
}

SubgraphBench::~SubgraphBench() = default;

std::vector<Timing> SubgraphBench::race(const std::vector<std::filesystem::path>& oms) {
  return tuner::race(oms.size(), policy_,
                     [&](std::size_t i) { return std::make_unique<Racer>(oms[i], *this); });
}

}  // namespace aoe::tuner
