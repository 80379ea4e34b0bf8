// Times whole models against each other, step by step. Runs inside the worker process.
#pragma once

#include <filesystem>
#include <functional>
#include <vector>

#include "compiler/soc.h"
#include "tuner/measure/measurer.h"
#include "tuner/policy.h"

namespace aoe::tuner {

/// Interleaved: in each round every model runs twice, and the second run counts, so that each finds
/// its own weights as it would when running alone; models that evict themselves run once. They are loaded anew several times,
/// while that takes little of the time (once, where they are very large): where an om happens to lie changes what an op takes by
/// 1 to 2% between loads, whatever the number of rounds (the same om against itself). All get the same random inputs. No round
/// begins after `limit_s`, but the first.
/// `round_ended` is called behind each. Throws Error when an om does not load or run.
std::vector<ModelTiming> bench_models(
    const std::vector<std::filesystem::path>& oms, const MeasurePolicy& policy,
    const compiler::Soc& soc, double limit_s, const std::function<void()>& round_ended = [] {});

}  // namespace aoe::tuner
