// The result file of a tuning run, aoe_result_opat_<timestamp>_pid<pid>.json: documented names,
// counters and percentages. Written again, by rename, as the run goes on (session/tuning_session.cpp), so that it is
// valid JSON at any moment.
#pragma once

#include <chrono>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/statistics.h"

namespace aoe::tuner {

/// Units are strategies. The documented identities hold by construction: hit = update + reserved,
/// total = add + hit + unsatisfied. What was not searched is in none of them.
struct RepoSummary {
  int add = 0;          ///< not in the bank before, appended
  int update = 0;       ///< in the bank before, replaced by a better one
  int reserved = 0;     ///< in the bank before, unchanged
  int unsatisfied = 0;  ///< not in the bank before, nothing better than the default found
  int not_searched =
      0;  ///< not in the bank before, and the run ended before they were decided; an addition
  int hit() const { return update + reserved; }
  int total() const { return add + hit() + unsatisfied; }
};

/// What one tuning mode ("Format", "Schedule", "Impl") contributed.
struct ModeGain {
  std::string mode;
  double before_us = 0;
  double after_us = 0;
  bool is_update = false;  ///< update_mode: of a strategy that was in the bank, or a new one
};

struct ModifiedOperator {
  std::string op_name;
  std::vector<std::string> op_types;  ///< one, or several of a fused operator
  std::vector<ModeGain> gains;
};

/// One entry of repo_modified_subgraphs.
struct ModifiedSubgraph {
  std::string repo_key;
  double before_ms = 0;
  double after_ms = 0;
  bool is_update = false;
  std::string rewrites;  ///< in words; an addition to the documented fields
};

/// The tuned model against the untuned one, from runs in pairs.
struct ModelVerdict {
  double before_ms = 0;  ///< median of the untuned model
  Interval before_interval_ms;
  Comparison paired;
  int pairs = 0;
  /// ISO 8601. Of an earlier run of the same two oms: this one measured nothing. Empty: of this one.
  std::string measured_utc = {};

  /// By the median of the pairs' ratios, so that the figures agree with the verdict.
  double after_ms() const { return before_ms / paired.speedup; }
  Interval after_interval_ms() const;
  /// The untuned model is kept: there is nothing to compare.
  bool is_untuned() const { return paired.low == 1 && paired.high == 1; }
  /// "8.29%"; "0.00%" unless the verdict is faster: what is not proven is not claimed.
  std::string improvement() const;
  /// "-0.50% to 3.10%"
  std::string improvement_interval() const;
  /// Why nothing is claimed; empty when the verdict is faster.
  std::string reason() const;
};

/// What both sections have.
struct SectionResult {
  std::optional<double> baseline_ms;
  std::optional<ModelVerdict> model;  ///< once the tuned model was measured
  RepoSummary summary;
};

/// The section SGAT; units of the summary are subgraphs.
struct SubgraphResult : SectionResult {
  std::vector<ModifiedSubgraph> modified;
};

/// The section OPAT; units of the summary are tasks.
struct OperatorResult : SectionResult {
  std::vector<ModifiedOperator> modified;
  std::vector<std::string> failed;  ///< names of operators
};

/// kIncomplete: stopped, or a limit came before every task was searched and the model confirmed.
enum class TuningState { kSuccessful, kFailed, kIncomplete };

/// What ended the work.
enum class RunEnd { kDone, kTimeLimit, kSearchLimit, kTrials, kStopped };
std::string_view name(RunEnd end);  ///< "done", "time_limit", "search_limit", "trials", "stopped"

struct AoeResult {
  std::string tuning_name;
  std::optional<double> tuning_time_s;  ///< once the run has ended
  // Additions to the documented fields of "basic".
  std::string soc_version;
  int threads = 0;
  std::int64_t trials = 0;  ///< measurements made
  std::optional<double>
      error_against_fp32;  ///< of lower precision, as a share of the outputs' range
  /// "4" or "32,48" each; with them, times of the model are the sum of one inference in each gear.
  std::vector<std::string> gears;
  std::optional<RunEnd> ended_by;  ///< once the run has ended

  TuningState state = TuningState::kIncomplete;  ///< stands in the section OPAT

  std::optional<SubgraphResult> subgraphs;  ///< absent: none were tuned, or their tuning failed
  std::optional<OperatorResult> operators;  ///< absent: none can be tuned, as far as the run came
};

std::string text(TuningState state);  ///< "tuning successful"

nlohmann::ordered_json to_json(const AoeResult& result);

/// Throws Error(kOutput).
void write_result(const AoeResult& result, const std::filesystem::path& path);

/// "-1.25%": hundredths are cut off, not rounded.
std::string percent_text(double ratio);
/// "35.35%": (before - after) / after, cut off (not rounded) behind two decimals; "0.00%" when
/// after is 0.
std::string improvement_percent(double before, double after);

/// "20250131235959123": local time with milliseconds, as file names carry it.
std::string timestamp17(std::chrono::system_clock::time_point when);
/// "2025-01-31T23:59:59Z"
std::string now_utc();
/// "aoe_result_opat_<timestamp>_pid<pid>.json"
std::string result_file_name(const std::string& timestamp, int pid);

}  // namespace aoe::tuner
