// Times whole models against each other, step by step. Runs inside the worker process.
#pragma once

#include <filesystem>
#include <functional>
#include <vector>

#include "compiler/soc.h"
#include "tuner/measure/measurer.h"
#include "tuner/policy.h"

namespace aoe::tuner {

/// How a measurement is dealt out. Each load of the oms is that of a process of its own: where an om and its threads happen to lie
/// changes what it takes by up to 8% from process to process, whatever the number of rounds.
struct RoundPlan {
  int loads = 1;
  int rounds_each = 1;
};

struct ModelBench {
  std::vector<ModelTiming> timings;  ///< by om
  RoundPlan plan;                    ///< that this load is the first of
};

/// Of one load. Interleaved: in each round every model runs twice, and the second run counts, so that each finds
/// its own weights as it would when running alone; models that evict themselves run once. All get the same random inputs.
/// `rounds`: how many; 0: the first load of a plan, which comes of what its first round takes. Several loads, while these take
/// little of the time (one, where models are very large). No round begins after `limit_s`, but the first.
/// `round_ended` is called behind each. Throws Error when an om does not load or run.
ModelBench bench_models(
    const std::vector<std::filesystem::path>& oms, const MeasurePolicy& policy,
    const compiler::Soc& soc, int rounds, double limit_s,
    const std::function<void()>& round_ended = [] {});

}  // namespace aoe::tuner
