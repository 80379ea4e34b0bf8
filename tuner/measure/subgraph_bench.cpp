// Verifying and timing whole subgraphs.
#include "tuner/measure/subgraph_bench.h"

#include <algorithm>
#include <cstring>

#include "compiler/impl.h"
#include "compiler/task.h"
#include "tuner/measure/timed_model.h"

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

/// Over all ops of the subgraph.
double reduction_length_of(const runtime::Om& om) {
  double flops = 0, outputs = 0;
  for (const runtime::OmStep& step : om.steps) flops += step.flops;
  for (const int id : om.outputs)
    outputs += static_cast<double>(element_count(om.tensors[id].desc.shape));
  return compiler::reduction_length(flops, outputs);
}

Expected expected_of(const std::filesystem::path& reference, int threads) {
  TimedModel model(runtime::Om::load(reference), threads);
  model.draw_inputs(kSubgraphSeed);
  model.run();
  Expected expected{.inputs = model.inputs(), .reduction_length = reduction_length_of(model.om())};
  for (const Tensor& output : model.outputs()) {
    expected.outputs.push_back(std::make_unique<Constant>(output.desc));
    std::memcpy(expected.outputs.back()->mutable_data(), output.data, storage_bytes(output.desc));
  }
  return expected;
}

}  // namespace

SubgraphBench::SubgraphBench(std::filesystem::path reference, const MeasurePolicy& policy,
                             int threads, const CacheState& caches,
                             std::function<void()> round_ended)
    : reference_(std::move(reference)),
      expected_(expected_of(reference_, threads)),
      bench_(expected_,
             {.policy = policy,
              .caches = caches,
              .threads = threads,
              .counts = [](const runtime::Om& om,
                           const runtime::OmStep& step) { return !is_at_border(om, step); },
              .round_ended = std::move(round_ended)}) {
}

std::vector<Timing> SubgraphBench::race(const std::vector<std::filesystem::path>& oms) const {
  return bench_.race(oms.size(), [&](std::size_t i) {
    // Any Impl may have contributed to what a subgraph computes.
    return Contender{runtime::Om::load(oms[i]), compiler::kMostErrorGrowth};
  });
}

}  // namespace aoe::tuner
