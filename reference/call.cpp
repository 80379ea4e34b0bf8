// Calls with bodies: what they are made of, and whether they are sound.
#include <algorithm>
#include <map>
#include <numeric>

#include "base/check.h"
#include "reference/op.h"

namespace aoe::reference {
namespace {

bool is_elementwise_step(const BodyStep& step) {
  return is_elementwise(step.call);
}

/// The place of the anchor in a body; nullptr where there is none.
const BodyStep* anchor_step(const Body& body) {
  const BodyStep& first = body.steps.front();
  if (first.call.body != nullptr || is_elementwise(first.call)) return nullptr;
  for (std::size_t i = 0; i < first.operands.size(); ++i)
    if (first.operands[i] != static_cast<int>(i)) return nullptr;
  return std::all_of(body.steps.begin() + 1, body.steps.end(), is_elementwise_step) ? &first
                                                                                    : nullptr;
}

/// Appends the ops of `body`, whose inputs are `values`; returns the value that the last one makes.
int flatten(const Body& body, std::vector<int> values, int inputs, std::vector<BodyStep>& flat) {
  for (const BodyStep& step : body.steps) {
    std::vector<int> operands;
    for (const int operand : step.operands)
      operands.push_back(values.at(static_cast<std::size_t>(operand)));
    if (step.call.body != nullptr) {
      values.push_back(flatten(*step.call.body, std::move(operands), inputs, flat));
    } else {
      flat.push_back({step.call, std::move(operands)});
      values.push_back(inputs + static_cast<int>(flat.size()) - 1);
    }
  }
  return values.back();
}

}  // namespace

bool OpCall::operator==(const OpCall& other) const {
  const bool are_bodies_equal =
      body == other.body || (body != nullptr && other.body != nullptr && *body == *other.body);
  return type == other.type && version == other.version && attrs == other.attrs && are_bodies_equal;
}

OpCall fused_call(Body body) {
  return {.type = kFused, .body = std::make_shared<const Body>(std::move(body))};
}

OpCall fused_call(const std::vector<NamedStep>& steps, bool has_anchor, std::vector<int>& reads) {
  Body body;
  std::map<int, int> known;  // inputs by name, and ~s for what step s makes
  for (const NamedStep& step : steps) {
    BodyStep& added = body.steps.emplace_back(step.call);
    for (const int name : step.operands) {
      const bool is_kept = has_anchor && &step == &steps.front();
      const int next = static_cast<int>(reads.size());
      added.operands.push_back(is_kept ? next : known.try_emplace(name, next).first->second);
      if (added.operands.back() == next) reads.push_back(name);
    }
    known[step.result] = ~static_cast<int>(body.steps.size() - 1);
  }
  if (has_anchor && steps.size() == 1) return steps.front().call;
  body.inputs = static_cast<int>(reads.size());
  for (BodyStep& step : body.steps)
    for (int& operand : step.operands)
      if (operand < 0) operand = body.value_of(static_cast<std::size_t>(~operand));
  return fused_call(std::move(body));
}

void walk(const Body& body, std::span<const Tensor> inputs,
          const std::function<Tensor(const BodyStep&, std::span<const Tensor>)>& visit) {
  AOE_CHECK(static_cast<int>(inputs.size()) == body.inputs, "a body is given other inputs");
  std::vector<Tensor> values(inputs.begin(), inputs.end()), operands;
  for (const BodyStep& step : body.steps) {
    operands.clear();
    for (const int operand : step.operands)
      operands.push_back(values.at(static_cast<std::size_t>(operand)));
    values.push_back(visit(step, operands));
  }
}

Result<void> check_call(const OpCall& call, int depth) {
  if (call.body == nullptr && ops().find(call.type) == nullptr)
    return Unexpected("operator '" + call.type + "' is unknown");
  if (call.body == nullptr) return {};
  const Body& body = *call.body;
  if (call.type != kFused) return Unexpected(call.type + " has a body");
  if (depth == 0) return Unexpected("bodies stand too deep within each other");
  if (body.steps.empty()) return Unexpected("a body has no steps");
  for (std::size_t s = 0; s < body.steps.size(); ++s) {
    const BodyStep& step = body.steps[s];
    for (const int value : step.operands)
      if (value < 0 || value >= body.value_of(s))
        return Unexpected(step.call.type + " reads value " + std::to_string(value) +
                          " of a body, which is not there yet");
    const Body* inner = step.call.body.get();
    if (inner != nullptr && inner->inputs != static_cast<int>(step.operands.size()))
      return Unexpected("a body of " + std::to_string(inner->inputs) + " inputs is given " +
                        std::to_string(step.operands.size()));
    if (auto checked = check_call(step.call, depth - 1); !checked) return checked;
  }
  return {};
}

const OpCall& anchor(const OpCall& call) {
  if (call.body == nullptr) return call;
  const BodyStep* step = anchor_step(*call.body);
  return step == nullptr ? call : step->call;
}

OpCall& edit_anchor(OpCall& call) {
  if (&anchor(call) == &call) return call;
  const auto own = std::make_shared<Body>(*call.body);
  call.body = own;
  return own->steps.front().call;
}

const OpDef* anchor_def(const OpCall& call) {
  return ops().find(anchor(call).type);
}

std::size_t anchor_inputs(const OpCall& call, std::size_t inputs) {
  const BodyStep* step = call.body == nullptr ? nullptr : anchor_step(*call.body);
  return step == nullptr ? inputs : step->operands.size();
}

std::span<const BodyStep> epilogue(const OpCall& call) {
  if (call.body == nullptr || is_chain(call)) return {};
  const std::span<const BodyStep> steps = call.body->steps;
  return is_elementwise(call) ? steps : steps.subspan(1);
}

bool is_elementwise(const OpCall& call) {
  if (call.body == nullptr) return is_kind(call.type, OpKind::kElementwise);
  return std::ranges::all_of(call.body->steps, is_elementwise_step);
}

bool is_chain(const OpCall& call) {
  return call.body != nullptr && !is_elementwise(call) && anchor_step(*call.body) == nullptr;
}

std::string type_name(const OpCall& call) {
  if (is_chain(call)) return kChainName;
  const OpCall& only = anchor(call);
  return only.body == nullptr ? only.type : kElementwiseName;
}

std::vector<BodyStep> flat_steps(const OpCall& call) {
  std::vector<BodyStep> flat;
  if (call.body == nullptr) return flat;
  std::vector<int> values(static_cast<std::size_t>(call.body->inputs));
  std::iota(values.begin(), values.end(), 0);
  flatten(*call.body, std::move(values), call.body->inputs, flat);
  return flat;
}

std::vector<std::string> op_types(const OpCall& call) {
  if (call.body == nullptr) return {call.type};
  std::vector<std::string> types;
  for (const BodyStep& step : flat_steps(call)) types.push_back(step.call.type);
  return types;
}

}  // namespace aoe::reference
