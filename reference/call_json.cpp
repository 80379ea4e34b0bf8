// The JSON form of calls: what oms, bank keys and the worker protocol store. It knows no bodies, but a list of ops behind an
// anchor; in a chain, which has none, each op that is not elementwise begins a step.
#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "base/json_text.h"
#include "reference/fail.h"
#include "reference/op.h"

namespace aoe::reference {
namespace {

using nlohmann::json;

json plain_json(const OpCall& call) {
  return {{"type", call.type}, {"version", call.version}, {"attrs", to_json(call.attrs)}};
}

OpCall plain_call(const json& j) {
  return {
      .type = j.at("type"), .version = j.at("version"), .attrs = attrs_from_json(j.at("attrs"))};
}

int number_in(const json& j) {
  const std::int64_t number = j;
  if (number < 0 || number > kMostBodyOps) fail_model("an operand " + std::to_string(number));
  return static_cast<int>(number);
}

/// All ops as steps of one body.
Body flat_body(const json& j, bool has_anchor) {
  const json& ops = j.at("epilogue");
  if (ops.size() > static_cast<std::size_t>(kMostBodyOps))
    fail_model("more than " + std::to_string(kMostBodyOps) + " ops in one");
  Body body{.inputs = has_anchor ? number_in(j.at("anchor_inputs")) : 0};
  for (const json& op : ops)
    for (const json& operand : op.at("operands"))
      if (operand.at(0) == "input")
        body.inputs = std::max(body.inputs, number_in(operand.at(1)) + 1);
  if (has_anchor) {
    BodyStep& anchor = body.steps.emplace_back(plain_call(j));
    for (int i = 0; i < number_in(j.at("anchor_inputs")); ++i) anchor.operands.push_back(i);
  }
  const std::map<std::string, int> first = {
      {"input", 0}, {"anchor", body.inputs}, {"step", body.value_of(body.steps.size())}};
  for (const json& op : ops) {
    BodyStep& step = body.steps.emplace_back(plain_call(op));
    for (const json& operand : op.at("operands")) {
      const auto kind = first.find(operand.at(0));
      if (kind == first.end()) fail_model("unknown kind of operand " + json_text(operand.at(0)));
      step.operands.push_back(kind->second + number_in(operand.at(1)));
    }
  }
  return body;
}

Body chain_of(const Body& flat) {
  Body chain{.inputs = flat.inputs};
  std::map<int, int> made;  // values of the chain, by those of `flat`
  for (std::size_t begin = 0, end = 0; begin < flat.steps.size(); begin = end) {
    std::vector<NamedStep> ops;
    do {
      const BodyStep& op = flat.steps[end];
      ops.push_back({op.call, op.operands, flat.value_of(end)});
    } while (++end < flat.steps.size() && is_elementwise(flat.steps[end].call));
    BodyStep step;
    step.call = fused_call(ops, !is_elementwise(ops.front().call), step.operands);
    for (int& value : step.operands)
      if (value >= flat.inputs) value = made.contains(value) ? made[value] : -1;
    made[ops.back().result] = chain.value_of(chain.steps.size());
    chain.steps.push_back(std::move(step));
  }
  return chain;
}

}  // namespace

json to_json(const OpCall& call) {
  const OpCall& first = anchor(call);
  json j = plain_json(first);
  j["type"] = type_name(call);
  j["anchor_inputs"] = -1;
  if (call.body == nullptr) return j;

  std::vector<BodyStep> steps = flat_steps(call);
  const int anchors = &first == &call ? 0 : 1;
  if (anchors > 0) {
    j["anchor_inputs"] = steps.front().operands.size();
    steps.erase(steps.begin());
  }
  for (const BodyStep& step : steps) {
    json op = plain_json(step.call);
    op["operands"] = json::array();
    for (const int operand : step.operands) {
      const int made = operand - call.body->inputs;
      op["operands"].push_back(made < 0         ? json{"input", operand}
                               : made < anchors ? json{"anchor", 0}
                                                : json{"step", made - anchors});
    }
    j["epilogue"].push_back(std::move(op));
  }
  return j;
}

OpCall op_call_from_json(const json& j) {
  if (!j.contains("epilogue")) return plain_call(j);
  const bool is_chain = j.at("type") == kChainName;
  Body body = flat_body(j, !is_chain && j.at("type") != kElementwiseName);
  OpCall call = fused_call(is_chain ? chain_of(body) : std::move(body));
  if (const auto checked = check_call(call); !checked) fail_model(checked.error());
  return call;
}

}  // namespace aoe::reference
