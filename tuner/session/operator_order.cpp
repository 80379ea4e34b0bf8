// Searches there and back.
#include "tuner/session/operator_order.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "bank/values.h"
#include "base/error.h"
#include "tuner/deadline.h"
#include "tuner/fleet/fleet_measurer.h"
#include "tuner/measure/task_json.h"
#include "tuner/session/baseline.h"
#include "tuner/session/conclusion_json.h"

namespace aoe::tuner {
using nlohmann::json;
namespace {

json records_to_json(const std::vector<bank::Record>& records) {
  json list = json::array();
  for (const bank::Record& record : records) list.push_back(bank::record_to_json(record));
  return list;
}

std::vector<bank::Record> records_from_json(const json& list) {
  std::vector<bank::Record> records;
  for (const json& each : list)
    if (auto record = bank::record_from_json(each)) records.push_back(std::move(*record));
  return records;
}

/// Of the node's own limit, and until the run's end.
double time_of(const json& message) {
  const double limit_s = message.at("limit_s");
  return std::min(limit_s > 0 ? limit_s : kUnlimited, message.value("left_s", kUnlimited));
}

OperatorTask task_of_order(const json& message, const compiler::Soc& soc) {
  OperatorTask task;
  task.task = task_from_json(message.at("task"));
  task.key = compiler::key_of(task.task, soc);
  if (message.at("description") != task.key.description)
    throw Error(ExitCode::kFailure, "the order describes another task than it has");
  const auto by_default =
      candidates_from_json(json::array({message.at("default")}), task.task, soc);
  task.default_candidate = by_default.front();
  task.heuristics = candidates_from_json(message.at("heuristics"), task.task, soc);
  task.nodes = {message.at("node").get<std::string>()};
  return task;
}

}  // namespace

json operator_order(const OperatorTuningInput& input, const OperatorTuningContext& context,
                    double limit_s) {
  const OperatorTask& task = input.task;
  json message = {{"do", "search"},
                  {"task", to_json(task.task)},
                  {"description", task.key.description},
                  {"default", candidates_to_json({&task.default_candidate, 1}).front()},
                  {"heuristics", candidates_to_json(task.heuristics)},
                  {"seeds", candidates_to_json(input.seeds)},
                  {"records", records_to_json(input.records)},
                  {"node", task.first_node()},
                  {"trials", input.limits.trials},
                  {"limit_s", limit_s},
                  {"policy", to_json(context.policy)},
                  {"policy_text", context.policy_text},
                  {"model", context.origin.model},
                  {"seed", context.seed},
                  {"peak_gflops", context.peak_gflops}};
  if (input.known) message["known"] = bank::to_json(*input.known);
  return message;
}

json run_operator_order(const json& message, const compiler::Soc& soc, Measurer& measurer,
                        CostModel& experience, std::stop_token stop) {
  const OperatorTask task = task_of_order(message, soc);
  const Policy policy = policy_from_json(message.at("policy"), "the order");
  const std::uint64_t seed = message.at("seed");
  const bank::Provenance origin = origin_here(message.at("model"), seed);
  measurer.set_bounds({});
  std::vector<bank::Record> records;
  OperatorTuningInput input{.task = task,
                            .seeds = candidates_from_json(message.at("seeds"), task.task, soc),
                            .records = records_from_json(message.at("records")),
                            .limits = {.trials = message.at("trials"),
                                       .deadline = Deadline::in(time_of(message)),
                                       .stop = std::move(stop)},
                            .keep_records =
                                [&](std::vector<bank::Record> more) {
                                  records.insert(records.end(), more.begin(), more.end());
                                },
                            .on_batch = [](const SearchResult&) {}};
  if (const auto known = message.find("known"); known != message.end())
    input.known = bank::strategy_set_from_json(*known);
  const Conclusion conclusion = tune_operator(input, measurer,
                                              {.soc = soc,
                                               .policy = policy,
                                               .policy_text = message.at("policy_text"),
                                               .origin = origin,
                                               .seed = seed,
                                               .peak_gflops = message.value("peak_gflops", 0.0),
                                               .cost_model = &experience});
  return {{"conclusion", to_json(conclusion)},
          {"race_records", records_to_json(conclusion.race_records)},
          {"records", records_to_json(records)}};
}

OperatorAnswer operator_answer(const json& message) {
  OperatorAnswer answer{.conclusion = conclusion_from_json(message.at("conclusion")),
                        .records = records_from_json(message.at("records"))};
  answer.conclusion.race_records = records_from_json(message.at("race_records"));
  if (is_win(answer.conclusion.decision) && answer.conclusion.strategies.empty())
    throw Error(ExitCode::kFailure, "a win without a strategy");
  return answer;
}

}  // namespace aoe::tuner
