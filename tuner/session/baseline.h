// The model as it is before a tuning run: compiled, measured, and what that says about how its
// parts are to be measured. The same for operators and subgraphs.
#pragma once

#include <filesystem>
#include <string>

#include "compiler/compiler.h"
#include "tuner/measure/measurer.h"
#include "tuner/session/run.h"

namespace aoe::tuner {

struct Baseline {
  compiler::Compilation compilation;
  std::filesystem::path om_path;  ///< there once it was measured
  ModelTiming timing;
  WeightsIn weights_in = WeightsIn::kMemory;  ///< never kAuto
  std::string policy_text;                    ///< under which the bank stores measurements
  bank::Provenance origin;                    ///< stored with what is won, but for node and samples
  double compile_s = 0, measure_s = 0;        ///< what compiling and measuring took

  double median_ms() const;
};

/// This machine, and what compiles here.
bank::Provenance origin_here(const std::string& model, std::uint64_t seed);

/// Not measured yet.
Baseline compile_baseline(const graph::Graph& graph, const compiler::CompileOptions& compile,
                          const TuneOptions& options);

/// Tells the measurer where weights are found, too. False when the run was stopped or its time is up. Throws Error(kFailure)
/// when the model does not run.
bool measure_baseline(Baseline& baseline, const graph::Graph& graph, Measurer& measurer,
                      const TuneOptions& options);

}  // namespace aoe::tuner
