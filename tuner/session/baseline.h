// The model as it is before a tuning run: compiled, measured, and what that says about how its
// parts are to be measured. The same for operators and subgraphs.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "compiler/compiler.h"
#include "tuner/measure/measurer.h"
#include "tuner/session/run.h"

namespace aoe::tuner {

struct Baseline {
  compiler::Compilation compilation;
  std::filesystem::path om_path;
  ModelTiming timing;
  WeightsIn weights_in = WeightsIn::kMemory;  ///< never kAuto
  std::string policy_text;                    ///< under which the bank stores measurements

  double median_ms() const;
};

/// Tells the measurer where weights are found, too. Nothing when the run was stopped. Throws
/// Error(kFailure) when the model does not run.
std::optional<Baseline> measure_baseline(const graph::Graph& graph,
                                         const compiler::CompileOptions& compile,
                                         Measurer& measurer, const TuneOptions& options);

}  // namespace aoe::tuner
