// Descriptions for people: of tasks (canonical JSON of compiler::key_of) and of subgraphs
// (graph/canonical_form.h).
#include <map>
#include <nlohmann/json.hpp>

#include "base/tensor.h"
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
  const json description = json::parse(key.description);
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
  const json description = json::parse(key.description);
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
  json parsed = json::parse(key.description, nullptr, false);
  return parsed.is_discarded() ? json(key.description) : parsed;
}

std::string schedule_text(const bank::Schedule& schedule) {
  std::string text;
  for (const auto& [axis, value] : schedule)
    text += (text.empty() ? "" : " ") + axis + "=" + std::to_string(value);
  return text.empty() ? "-" : text;
}

}  // namespace aoe::tools
