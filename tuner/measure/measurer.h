// Measurer: how fast candidates are. The tuner asks; the answer comes from a worker process
// (worker_measurer.h) or, in tests, from a formula. A candidate that fails is an answer like any
// other: an Outcome and its cause.
//
// Every time is a difference of recorder ticks of the op's own task event: format conversions
// around it do not count.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "compiler/impl.h"
#include "compiler/task.h"
#include "tuner/deadline.h"
#include "tuner/policy.h"

namespace aoe::tuner {

enum class Outcome {
  kOk,
  kCompileError,
  kCrashed,
  kTimeout,
  kKilled,       ///< from outside: by the system short of memory, or by a person; twice in a row
  kOutOfMemory,  ///< of the worker's own limit
  kWrongResult,
  kStopped,
};
/// "ok", "compile_error", "crashed", "timeout", "killed", "out_of_memory", "wrong_result", "stopped"
std::string_view name(Outcome outcome);
std::optional<Outcome> outcome_from_name(std::string_view name);

struct Timing {
  Outcome outcome = Outcome::kOk;
  std::string cause;               ///< in words, when not ok
  std::vector<double> samples_ns;  ///< one per run
  bool dropped = false;  ///< given up early as clearly slower than the best; the few samples stand

  static Timing failure(Outcome outcome, std::string cause);
  bool ok() const { return outcome == Outcome::kOk; }
  double median_ns() const;  ///< infinity when not ok
};

/// A whole model; samples of one index belong to one run of it.
struct ModelTiming {
  std::vector<double> samples_ns;
  std::vector<std::vector<double>> steps_ns;  ///< by step of the om
  /// The index of the first sample of each load of the om, by a process of its own: what lies where differs between them.
  std::vector<std::size_t> load_begins = {};

  void append(const ModelTiming& later);  ///< of the same om
  /// What a run takes when nobody disturbs it: the least of each step, and of what is between them. A slow phase of the machine
  /// outlasts a measurement, but has moments that are not slow, and one step fits into such a moment.
  double calm_ns() const;
};

/// What measurements may take.
struct MeasureBounds {
  Deadline end;  ///< what is not measured by then counts as stopped
  /// A call of run_models() begins no further round after so long, and has at least one.
  double model_s = kUnlimited;
};

class Measurer {
 public:
  virtual ~Measurer() = default;

  /// From now on; without a call nothing is bounded. One whose answers take no time need not care.
  virtual void set_bounds(const MeasureBounds&) {}

  /// What the model at hand calls for; not kAuto. Holds for all operators measured from now on.
  virtual void set_weights_in(WeightsIn weights_in) = 0;

  /// One Timing per candidate, in order. `best_ns`: the best of the task so far (infinity: none);
  /// clearly slower ones are dropped. A verified output is the condition of kOk.
  virtual std::vector<Timing> measure(const compiler::Task& task,
                                      std::span<const compiler::Candidate> candidates,
                                      double best_ns) = 0;

  /// Interleaved: sample i of every candidate was taken in round i, so they can be compared in
  /// pairs. Candidates that fail have no samples; the others have equally many, but for those that
  /// were dropped, clearly slower than the fastest. The first is never dropped.
  virtual std::vector<Timing> race(const compiler::Task& task,
                                   std::span<const compiler::Candidate> candidates) = 0;

  /// Candidates of a subgraph, each an om; interleaved in the same way. Every output is compared
  /// with what `reference` computes, an om of reference steps. What is converted at the border, for
  /// the ND that a model's inputs and outputs are, does not count.
  virtual std::vector<Timing> race_subgraphs(const std::filesystem::path& reference,
                                             std::span<const std::filesystem::path> oms) = 0;

  /// Whole models, interleaved in the same way, in several loads. "No": one of them did not run, and why.
  virtual Result<std::vector<ModelTiming>> run_models(
      std::span<const std::filesystem::path> oms) = 0;
};

/// "a=1,b=2": the identity of a Schedule in sets and logs.
std::string to_text(const compiler::Schedule& schedule);
/// "impl/format/a=1,b=2"
std::string to_text(const compiler::Candidate& candidate);
std::string to_text(const bank::Strategy& strategy);

/// JSON has no infinity: null.
nlohmann::json finite_or_null(double value);
double number_or_infinity(const nlohmann::json& json);

nlohmann::json to_json(const Timing& timing);
Timing timing_from_json(const nlohmann::json& json);
nlohmann::json to_json(const ModelTiming& timing);
ModelTiming model_timing_from_json(const nlohmann::json& json);

}  // namespace aoe::tuner
