// AoeResult as JSON.
#include "tuner/result/aoe_result.h"

#include <fmt/format.h>

#include <cmath>
#include <ctime>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/json_text.h"
#include "base/utc.h"

namespace aoe::tuner {
using nlohmann::ordered_json;
namespace {

/// Numbers are written as they are printed, so that readers find the percentages by calculating
/// them again.
double rounded(double value, double decimals_factor) {
  return std::round(value * decimals_factor) / decimals_factor;
}
double us(double value) {
  return rounded(value, 1e3);
}
double ms(double value) {
  return rounded(value, 1e6);
}

ordered_json to_json(const ModifiedOperator& op) {
  ordered_json performance = ordered_json::object();
  for (const ModeGain& gain : op.gains)
    performance[gain.mode] = {
        {"performance_before_tune(us)", us(gain.before_us)},
        {"performance_after_tune(us)", us(gain.after_us)},
        {"performance_improvement", improvement_percent(us(gain.before_us), us(gain.after_us))},
        {"update_mode", gain.is_update ? "update" : "add"}};
  ordered_json types = op.op_types;
  if (op.op_types.size() == 1) types = op.op_types.front();
  return {{"op_name", op.op_name}, {"op_type", types}, {"tune_performance", performance}};
}

ordered_json interval_json(const Interval& interval) {
  return {ms(interval.low), ms(interval.high)};
}

/// The keys that both sections begin with.
ordered_json model_performance(const SectionResult& result) {
  ordered_json section = ordered_json::object();
  if (!result.model) {
    if (result.baseline_ms) section["model_baseline_performance(ms)"] = ms(*result.baseline_ms);
    return section;
  }
  const ModelVerdict& model = *result.model;
  section["model_baseline_performance(ms)"] = ms(model.before_ms);
  section["model_result_performance(ms)"] = ms(model.after_ms());
  section["model_performance_improvement"] = model.improvement();
  section["model_baseline_interval(ms)"] = interval_json(model.before_interval_ms);
  section["model_result_interval(ms)"] = interval_json(model.after_interval_ms());
  section["model_improvement_interval"] = model.improvement_interval();
  if (const std::string reason = model.reason(); !reason.empty())
    section["model_improvement_reason"] = reason;
  if (!model.measured_utc.empty()) section["model_measured_utc"] = model.measured_utc;
  return section;
}

ordered_json to_json(const RepoSummary& s) {
  return {{"repo_add_num", s.add},
          {"repo_hit_num", s.hit()},
          {"repo_reserved_num", s.reserved},
          {"repo_unsatisfied_num", s.unsatisfied},
          {"repo_update_num", s.update},
          {"total_num", s.total()},
          {"repo_not_searched_num", s.not_searched}};
}

ordered_json opat_section(const OperatorResult& result, TuningState state) {
  ordered_json opat = model_performance(result);
  opat["opat_tuning_result"] = text(state);
  opat["repo_modified_operators"] = ordered_json::array();
  for (const ModifiedOperator& op : result.modified)
    opat["repo_modified_operators"].push_back(to_json(op));
  opat["repo_summary"] = to_json(result.summary);
  if (state == TuningState::kFailed) opat["tuning_failed_operators"] = result.failed;
  return opat;
}

ordered_json to_json(const ModifiedSubgraph& subgraph) {
  return {{"performance_before_tune(ms)", ms(subgraph.before_ms)},
          {"performance_after_tune(ms)", ms(subgraph.after_ms)},
          {"performance_improvement",
           improvement_percent(ms(subgraph.before_ms), ms(subgraph.after_ms))},
          {"repo_key", subgraph.repo_key},
          {"rewrites", subgraph.rewrites}};
}

ordered_json sgat_section(const SubgraphResult& result) {
  ordered_json sgat = model_performance(result);
  ordered_json modified = ordered_json::object();
  for (const ModifiedSubgraph& subgraph : result.modified)
    modified[subgraph.is_update ? "update_repo_subgraphs" : "add_repo_subgraphs"].push_back(
        to_json(subgraph));
  sgat["repo_modified_subgraphs"] = modified;
  sgat["repo_summary"] = to_json(result.summary);
  return sgat;
}

const ModelVerdict* verdict_of(const AoeResult& result) {
  if (result.operators && result.operators->model) return &*result.operators->model;
  if (result.subgraphs && result.subgraphs->model) return &*result.subgraphs->model;
  return nullptr;
}

}  // namespace

std::string_view name(RunEnd end) {
  constexpr std::string_view kNames[] = {"done", "time_limit", "search_limit", "trials", "stopped"};
  return kNames[static_cast<std::size_t>(end)];
}

std::string ModelVerdict::improvement() const {
  return paired.is_faster() ? improvement_percent(ms(before_ms), ms(after_ms())) : "0.00%";
}

Interval ModelVerdict::after_interval_ms() const {
  if (is_untuned()) return before_interval_ms;
  return {before_ms / paired.high, before_ms / paired.low};
}

std::string ModelVerdict::improvement_interval() const {
  return percent_text(paired.low - 1) + " to " + percent_text(paired.high - 1);
}

std::string ModelVerdict::reason() const {
  switch (paired.verdict) {
    case Verdict::kFaster:
      return "";
    case Verdict::kSlower:
      return "the tuned model is slower";
    case Verdict::kSame:
      return is_untuned() ? "the untuned model is kept"
                          : "the difference is too small to matter: " + improvement_interval();
    case Verdict::kAmbiguous:
      if (is_untuned()) return "nothing proves a gain; the untuned model is kept";
      break;
  }
  return "the interval of the paired gain decides nothing: " + improvement_interval();
}

std::string text(TuningState state) {
  switch (state) {
    case TuningState::kSuccessful:
      return "tuning successful";
    case TuningState::kFailed:
      return "tuning failed";
    case TuningState::kIncomplete:
      break;
  }
  return "tuning incomplete";
}

ordered_json to_json(const AoeResult& result) {
  ordered_json basic = {{"tuning_name", result.tuning_name}};
  if (result.tuning_time_s) basic["tuning_time(s)"] = rounded(*result.tuning_time_s, 1e3);
  basic["soc_version"] = result.soc_version;
  basic["threads"] = result.threads;
  basic["trials"] = result.trials;
  if (!result.gears.empty()) basic["gears"] = result.gears;
  if (const ModelVerdict* model = verdict_of(result))
    basic["verdict"] = name(model->paired.verdict);
  if (result.ended_by) basic["ended_by"] = name(*result.ended_by);
  if (result.error_against_fp32) basic["error_against_fp32"] = *result.error_against_fp32;
  ordered_json document = ordered_json::array();
  document.push_back({{"basic", std::move(basic)}});
  if (result.subgraphs) document.push_back({{"SGAT", sgat_section(*result.subgraphs)}});
  if (result.operators)
    document.push_back({{"OPAT", opat_section(*result.operators, result.state)}});
  return document;
}

void write_result(const AoeResult& result, const std::filesystem::path& path) {
  write_file_atomically(path, json_text(to_json(result), 4, BadUtf8::kReplaced) + "\n");
}

std::string improvement_percent(double before, double after) {
  if (after == 0) return "0.00%";
  return percent_text((before - after) / after);
}

std::string percent_text(double ratio) {
  const double hundredths = std::trunc(ratio * 100 * 100);
  return fmt::format("{:.2f}%", hundredths == 0 ? 0.0 : hundredths / 100);
}

std::string timestamp17(std::chrono::system_clock::time_point when) {
  const std::time_t seconds = std::chrono::system_clock::to_time_t(when);
  const auto since_epoch = when.time_since_epoch();
  const auto milliseconds =
      std::chrono::duration_cast<std::chrono::milliseconds>(since_epoch).count() % 1000;
  std::tm local{};
  ::localtime_r(&seconds, &local);
  char text[16];
  std::strftime(text, sizeof text, "%Y%m%d%H%M%S", &local);
  return fmt::format("{}{:03d}", text, milliseconds);
}

std::string now_utc() {
  return utc_text(std::chrono::system_clock::now());
}

std::string result_file_name(const std::string& timestamp, int pid) {
  return fmt::format("aoe_result_opat_{}_pid{}.json", timestamp, pid);
}

}  // namespace aoe::tuner
