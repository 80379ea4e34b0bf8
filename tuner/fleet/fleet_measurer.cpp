// Calls as orders, and orders as calls.
#include "tuner/fleet/fleet_measurer.h"

#include "base/error.h"
#include "tuner/deadline.h"
#include "tuner/measure/task_json.h"

namespace aoe::tuner {
using compiler::Candidate;
using compiler::Task;
using nlohmann::json;
namespace {

json paths_to_json(std::span<const std::filesystem::path> paths) {
  json list = json::array();
  for (const auto& path : paths) list.push_back(std::filesystem::absolute(path).string());
  return list;
}

std::vector<std::filesystem::path> paths_of(const json& message) {
  std::vector<std::filesystem::path> paths;
  for (const json& path : message.at("oms")) paths.emplace_back(path.get<std::string>());
  return paths;
}

json timings_to_json(const std::vector<Timing>& timings) {
  json list = json::array();
  for (const Timing& timing : timings) list.push_back(to_json(timing));
  return {{"timings", std::move(list)}};
}

json run_models_order(const json& message, Measurer& measurer) {
  const double limit_s = number_or_infinity(message.at("model_s"));
  measurer.set_bounds(
      {.end = Deadline::in(message.value("left_s", kUnlimited)), .model_s = limit_s});
  const auto timings = measurer.run_models(paths_of(message));
  if (!timings) return {{"no", timings.error()}};
  json models = json::array();
  for (const ModelTiming& model : *timings) models.push_back(to_json(model));
  return {{"models", std::move(models)}};
}

}  // namespace

json candidates_to_json(std::span<const Candidate> candidates) {
  json list = json::array();
  for (const Candidate& candidate : candidates)
    list.push_back(bank::to_json(compiler::strategy_of(candidate)));
  return list;
}

std::vector<Candidate> candidates_from_json(const json& strategies, const Task& task,
                                            const compiler::Soc& soc) {
  std::vector<Candidate> candidates;
  for (const json& strategy : strategies) {
    auto candidate = compiler::candidate_of(bank::strategy_from_json(strategy), task, soc);
    if (!candidate)
      throw Error(ExitCode::kFailure, "this node cannot build a candidate: " + candidate.error());
    candidates.push_back(std::move(*candidate));
  }
  return candidates;
}

// ---- the coordinator ----

std::optional<Answer> FleetMeasurer::ask(json message) {
  message["policy"] = to_json(policy_);
  return fleet_.ask({.soc_version = soc_version_,
                     .message = std::move(message),
                     .is_urgent = true,
                     .deadline = bounds_.end},
                    stop_, bounds_.end);
}

std::vector<Timing> FleetMeasurer::timings_of(const std::optional<Answer>& answer,
                                              std::size_t count) const {
  if (!answer || answer->kind == Answer::Kind::kExpired)
    return std::vector<Timing>(count, Timing::failure(Outcome::kStopped, "tuning was stopped"));
  std::vector<Timing> timings;
  std::string cause = answer->cause;
  try {
    if (answer->kind == Answer::Kind::kDone)
      for (const json& timing : answer->message.at("timings"))
        timings.push_back(timing_from_json(timing));
  } catch (const std::exception& e) {
    cause = e.what();
  }
  if (timings.size() == count) return timings;
  return std::vector<Timing>(count, Timing::failure(Outcome::kKilled, cause));
}

std::vector<Timing> FleetMeasurer::measure(const Task& task, std::span<const Candidate> candidates,
                                           double best_ns) {
  return timings_of(ask({{"do", "measure"},
                         {"task", to_json(task)},
                         {"candidates", candidates_to_json(candidates)},
                         {"best_ns", finite_or_null(best_ns)}}),
                    candidates.size());
}

std::vector<Timing> FleetMeasurer::race(const Task& task, std::span<const Candidate> candidates) {
  return timings_of(ask({{"do", "race"},
                         {"task", to_json(task)},
                         {"candidates", candidates_to_json(candidates)}}),
                    candidates.size());
}

std::vector<Timing> FleetMeasurer::race_subgraphs(const std::filesystem::path& reference,
                                                  std::span<const std::filesystem::path> oms) {
  return timings_of(ask({{"do", "subgraphs"},
                         {"reference", std::filesystem::absolute(reference).string()},
                         {"oms", paths_to_json(oms)}}),
                    oms.size());
}

Result<std::vector<ModelTiming>> FleetMeasurer::run_models(
    std::span<const std::filesystem::path> oms) {
  const auto answer = ask({{"do", "models"},
                           {"oms", paths_to_json(oms)},
                           {"model_s", finite_or_null(bounds_.model_s)}});
  if (!answer || answer->kind == Answer::Kind::kExpired) return Unexpected("tuning was stopped");
  if (answer->kind == Answer::Kind::kFailed) return Unexpected(answer->cause);
  try {
    if (const auto no = answer->message.find("no"); no != answer->message.end())
      return Unexpected(no->get<std::string>());
    std::vector<ModelTiming> timings;
    for (const json& model : answer->message.at("models"))
      timings.push_back(model_timing_from_json(model));
    if (timings.size() == oms.size()) return timings;
    return Unexpected("node " + answer->node + " has measured other models");
  } catch (const json::exception& e) {
    return Unexpected("node " + answer->node + ": " + e.what());
  }
}

// ---- the node ----

std::optional<json> measure_order(
    const json& message, const compiler::Soc& soc,
    const std::function<Measurer&(const MeasurePolicy&)>& measurer_of) {
  const std::string what = message.value("do", "");
  if (what != "measure" && what != "race" && what != "subgraphs" && what != "models")
    return std::nullopt;
  const MeasurePolicy policy =
      policy_from_json({{"measure", message.at("policy")}}, "the order").measure;
  Measurer& measurer = measurer_of(policy);
  measurer.set_bounds({.end = Deadline::in(message.value("left_s", kUnlimited))});
  if (what == "models") return run_models_order(message, measurer);
  if (what == "subgraphs")
    return timings_to_json(
        measurer.race_subgraphs(message.at("reference").get<std::string>(), paths_of(message)));
  const Task task = task_from_json(message.at("task"));
  const std::vector<Candidate> candidates =
      candidates_from_json(message.at("candidates"), task, soc);
  return timings_to_json(
      what == "race"
          ? measurer.race(task, candidates)
          : measurer.measure(task, candidates, number_or_infinity(message.at("best_ns"))));
}

}  // namespace aoe::tuner
