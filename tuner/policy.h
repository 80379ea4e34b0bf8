// Policies of tuning: how candidates are measured, how much is searched, how winners are confirmed.
// Presets in configs/tuning/*.json fill them; the fields' defaults are those of the preset
// "default".
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace aoe::tuner {

/// Where a kernel finds its weights when a sample starts. Its activations are warm, as the op
/// before has left them.
enum class WeightsIn {
  kAuto,    ///< kL3 when weights and activations of the whole model fit into the L3 cache, else
            ///< kMemory
  kL2,      ///< nothing is evicted: the operator alone, over and over
  kL3,      ///< evicted from L1 and L2, as the rest of a small model would
  kMemory,  ///< evicted from all caches, as the rest of a large model would
};

std::string_view name(WeightsIn place);  ///< "auto", "l2", "l3", "memory"

struct MeasurePolicy {
  /// Name and version; stored with every measurement. Raise the number when times of the old one
  /// are not comparable.
  std::string name = "in-model-2";
  WeightsIn weights_in = WeightsIn::kAuto;

  int warmup_runs = 1;  ///< not timed; their output is verified
  int min_samples = 4;
  int max_samples = 40;
  double min_duration_ms = 2;  ///< accumulated op time at which sampling may end
  int drop_after_samples = 2;  ///< a candidate this much into its samples ...
  double drop_ratio = 1.4;     ///< ... and this much slower than the best is given up

  int min_race_rounds = 15;  ///< paired, interleaved comparison of the finalists
  int max_race_rounds = 101;
  double race_duration_ms = 20;  ///< accumulated time of the default
  double race_drop_ratio =
      1.2;  ///< a finalist this much slower than the fastest leaves the race early

  int min_model_rounds = 9;  ///< whole model, untuned against tuned
  int max_model_rounds = 96;
  int model_loads = 6;              ///< among which the rounds are divided
  double model_duration_ms = 1500;  ///< accumulated time of the untuned model
  /// Whole models are measured again when the untuned one takes this many times what it took in its calmest minute ...
  double calm_ratio = 1.25;
  double calm_wait_s = 60;  ///< ... for at most so long in all

  double run_timeout_s = 10;      ///< from when a candidate starts to run
  double compile_timeout_s = 60;  ///< per candidate, its reference result included
  std::int64_t memory_limit_mb =
      0;  ///< of the worker, above what it starts with; 0: half of this machine's memory
};

struct SearchPolicy {
  /// Trials of a task: in proportion to its share of the model's time, within these bounds.
  double trials_per_percent = 8;
  int min_trials = 16;
  /// Of these, for a task whose kind the bank's records know from other shapes: a cost model that
  /// was taught before needs to see less.
  double familiar_share = 0.1;
  /// The same when this run has searched `teachers` tasks with each of its Impls, but no less than a batch.
  double taught_share = 0.25;
  int teachers = 4;
  int max_trials = 160;
  int batch_size = 8;  ///< compiled together, then measured one by one
  int patience = 32;   ///< proposals without a better one that end the search of a task
  /// It ends as well when a batch is expected to save less than this part of the task's time.
  double min_expected_gain = 0.01;
  double noise = 0.01;   ///< "better" means by more than this
  double explore = 0.1;  ///< part of the proposals that is any candidate, not the best expected
  int population = 192;  ///< candidates that each generation adds for the cost model to judge
  int generations = 4;   ///< between two batches
  int parents = 16;      ///< how many of the best a generation descends from
  int finalists = 3;     ///< that race against the default, beside the best of each Format
  /// Subgraph tuning: trials of Schedules, by Format, for each node that promising rewrites make; 0: none.
  int schedule_trials = 24;
  double schedule_share = 1.5;  ///< of all nodes together: for each trial of a plan at most so many
  double time_limit_s = 420;    ///< of the whole search; 0: none
};

struct ConfirmPolicy {
  int rounds = 2;           ///< compile, measure in the model, demote what lost; at most so often
  double min_gain = 0.005;  ///< a winner must be faster than the default by more than this
};

struct Policy {
  std::string preset = "default";
  MeasurePolicy measure;
  SearchPolicy search;
  ConfirmPolicy confirm;
};

/// Reads {"measure": {...}, "search": {...}, "confirm": {...}}: what is absent keeps its default.
/// Throws Error(kUsage) that names `where` and the key on unknown keys and on values of a wrong
/// type or range.
Policy policy_from_json(const nlohmann::json& json, const std::string& where);
nlohmann::json to_json(const MeasurePolicy& policy);
nlohmann::json to_json(const Policy& policy);

}  // namespace aoe::tuner
