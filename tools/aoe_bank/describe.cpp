// Descriptions for people: of tasks (canonical JSON of compiler::key_of) and of subgraphs
// (graph/subgraphs/canonical_form.h).
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>

#include "base/json_text.h"
#include "base/tensor.h"
#include "base/words.h"
#include "compiler/impl.h"
#include "compiler/lowering/graph_strategies.h"
#include "graph/subgraphs/rewrite_plan.h"
#include "tools/aoe_bank/commands.h"

namespace aoe::tools {
using nlohmann::json;

namespace {

constexpr const char* kUnknown = "?";  ///< of a later version, or imported from who knows where

/// "2xConv2D+Relu" of a subgraph's nodes.
std::string subgraph_text(const json& nodes) {
  std::map<std::string, int> counts;
  for (const json& node : nodes) ++counts[node.at("op").at("type").get<std::string>()];
  std::string text;
  for (const auto& [type, count] : counts)
    text += (text.empty() ? "" : "+") + (count > 1 ? std::to_string(count) + "x" : "") + type;
  return text;
}

}  // namespace

std::string op_text(const bank::TaskKey& key) try {
  const json description = parse_json(key.description);
  if (description.contains("subgraph")) return subgraph_text(description["subgraph"]);
  const json& op = description.at("op");
  std::string text = op.at("type");
  for (const json& step : op.value("epilogue", json::array()))
    text += "+" + step.at("type").get<std::string>();
  return text;
} catch (const json::exception&) {
  return kUnknown;
}

std::string shape_text(const bank::TaskKey& key) try {
  const json description = parse_json(key.description);
  // A subgraph is told by what its first op reads.
  const json& reader =
      description.contains("subgraph") ? description["subgraph"].at(0) : description;
  std::string text;
  for (const json& input : reader.at("inputs")) {
    if (!input.contains("shape")) continue;
    text += (text.empty() ? "" : ", ") + to_string(input.at("shape").get<Shape>());
  }
  return text;
} catch (const json::exception&) {
  return kUnknown;
}

json description_json(const bank::TaskKey& key) {
  json parsed = json_or_discarded(key.description);
  return parsed.is_discarded() ? json(key.description) : parsed;
}

std::string schedule_text(const bank::Schedule& schedule) {
  if (schedule.empty()) return "-";
  return joined(schedule, " ",
                [](const auto& axis) { return axis.first + "=" + std::to_string(axis.second); });
}

std::string candidate_text(const bank::Strategy& strategy) {
  if (strategy.rewrite.empty()) return strategy.format + " " + strategy.impl;
  const auto plan = compiler::plan_of(strategy);
  return plan ? graph::to_text(*plan) : kUnknown;
}

std::string stale_reason(const bank::Strategy& strategy) {
  if (strategy.rewrite.empty()) {
    const auto impl = compiler::impl_of(strategy);
    return impl ? "" : impl.error();
  }
  const auto plan = compiler::plan_of(strategy);
  if (!plan) return plan.error();
  for (const graph::PlanStep& step : plan->steps)
    if (const auto rewrite = graph::rewrite_of(step); !rewrite) return rewrite.error();
  return {};
}

void say(const BankRequest& request, const json& facts, const std::string& sentence) {
  if (request.is_json()) return print_json(facts);
  std::cout << sentence << '\n';
}

void print_json(const json& value) {
  std::cout << json_text(value, 2, BadUtf8::kReplaced) << '\n';
}

}  // namespace aoe::tools
