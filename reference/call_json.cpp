// The JSON form of calls: what the om, the bank keys and the worker protocol store.
#include <nlohmann/json.hpp>

#include "reference/fail.h"
#include "reference/op.h"

namespace aoe::reference {
namespace {

constexpr std::string_view kOperandKinds[] = {"input", "anchor",
                                              "step"};  // in the order of Operand::Kind

nlohmann::json operand_to_json(const Operand& operand) {
  return {kOperandKinds[static_cast<int>(operand.kind)], operand.index};
}

Operand operand_from_json(const nlohmann::json& json) {
  const std::string kind = json.at(0);
  for (int i = 0; i < 3; ++i) {
    if (kind == kOperandKinds[i]) return {static_cast<Operand::Kind>(i), json.at(1).get<int>()};
  }
  fail_model("unknown kind of operand '" + kind + "'");
}

nlohmann::json step_to_json(const EpilogueStep& step) {
  nlohmann::json operands = nlohmann::json::array();
  for (const Operand& operand : step.operands) operands.push_back(operand_to_json(operand));
  return {{"type", step.type},
          {"version", step.version},
          {"attrs", to_json(step.attrs)},
          {"operands", operands}};
}

EpilogueStep step_from_json(const nlohmann::json& json) {
  EpilogueStep step{.type = json.at("type"),
                    .version = json.at("version"),
                    .attrs = attrs_from_json(json.at("attrs")),
                    .operands = {}};
  for (const auto& operand : json.at("operands"))
    step.operands.push_back(operand_from_json(operand));
  return step;
}

}  // namespace

nlohmann::json to_json(const OpCall& call) {
  nlohmann::json json = {{"type", call.type},
                         {"version", call.version},
                         {"attrs", to_json(call.attrs)},
                         {"anchor_inputs", call.anchor_inputs}};
  if (call.epilogue.empty()) return json;

  for (const EpilogueStep& step : call.epilogue) json["epilogue"].push_back(step_to_json(step));
  return json;
}

OpCall op_call_from_json(const nlohmann::json& json) {
  OpCall call{.type = json.at("type"),
              .version = json.at("version"),
              .attrs = attrs_from_json(json.at("attrs")),
              .epilogue = {},
              .anchor_inputs = json.value("anchor_inputs", -1)};
  if (json.contains("epilogue")) {
    for (const auto& step : json["epilogue"]) call.epilogue.push_back(step_from_json(step));
  }
  return call;
}

}  // namespace aoe::reference
