// Task descriptions for people. A description is the canonical JSON of compiler::key_of.
#include <nlohmann/json.hpp>

#include "base/tensor.h"
#include "tools/aoe_bank/commands.h"

namespace aoe::tools {
using nlohmann::json;

std::string op_text(const bank::TaskKey& key) {
  const json op = json::parse(key.description).at("op");
  std::string text = op.at("type");
  for (const json& step : op.value("epilogue", json::array()))
    text += "+" + step.at("type").get<std::string>();
  return text;
}

std::string shape_text(const bank::TaskKey& key) {
  std::string text;
  for (const json& input : json::parse(key.description).at("inputs")) {
    if (!input.contains("shape")) continue;
    text += (text.empty() ? "" : ", ") + to_string(input.at("shape").get<Shape>());
  }
  return text;
}

std::string schedule_text(const bank::Schedule& schedule) {
  std::string text;
  for (const auto& [axis, value] : schedule)
    text += (text.empty() ? "" : " ") + axis + "=" + std::to_string(value);
  return text.empty() ? "-" : text;
}

}  // namespace aoe::tools
